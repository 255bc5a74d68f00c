"""The paper's figures and statements, reproduced: a folder for each, and the frame they share.

A folder holds `sweep.py` (what to compute) and `analysis.py` (what it shows). `registry.py` names
everything that the paper contains.
"""
