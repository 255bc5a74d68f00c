"""Gymnasium's environments: their spaces, how they are stepped in Python, and their pictures."""
