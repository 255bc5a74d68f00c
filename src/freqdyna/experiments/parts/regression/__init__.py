"""Supervised regression on f_sin, which F1 and F2 share."""
