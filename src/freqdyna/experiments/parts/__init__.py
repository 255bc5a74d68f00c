"""A folder for each figure or question: `units.py` computes, `analysis.py` says what it shows."""
