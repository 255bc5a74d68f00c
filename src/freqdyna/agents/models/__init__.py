"""Models: what a state and an action lead to."""
