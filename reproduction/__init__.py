"""The reproduction of the paper's figures and statements.

A file such as `f3.py` has what a part computes and how it is analysed; `run.py` lists all parts.
"""
