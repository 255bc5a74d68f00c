"""Supervised regression of f_sin, for F1 and F2."""
