"""Sweeps: many trainings described by one file, computed once each, wherever there is room."""
