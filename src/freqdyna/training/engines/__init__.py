"""Engines: where the units of a sweep execute."""
