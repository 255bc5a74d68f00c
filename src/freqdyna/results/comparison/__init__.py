"""Comparisons of any trainings: statistics, tables and figures."""
