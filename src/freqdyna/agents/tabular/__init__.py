"""Tabular Dyna-Q: a table of action values and a count model."""
