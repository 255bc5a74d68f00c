"""The reproduction of the paper's figures and statements.

Each folder in `parts` contains `units.py` (what to compute) and `analysis.py` (how to evaluate it).
`registry.py` lists every part of the paper.
"""
