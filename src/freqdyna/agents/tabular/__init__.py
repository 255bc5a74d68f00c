"""Tabular Dyna-Q: a table of action values and a model that counts."""
