"""Gymnasium environments: their spaces, stepping them in Python, and rendering them."""
