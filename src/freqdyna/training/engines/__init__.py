"""Engines: where tasks are computed, such as the units of a sweep or an experiment."""
