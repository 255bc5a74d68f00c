"""Sweeps: many trainings described by one file, each computed once, on one or more machines."""
