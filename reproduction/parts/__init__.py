"""One folder per figure or question: `units.py` computes, `analysis.py` evaluates."""
