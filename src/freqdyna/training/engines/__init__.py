"""Engines, which compute tasks such as the units of a sweep or an experiment."""
