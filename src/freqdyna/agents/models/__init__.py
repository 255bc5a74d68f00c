"""Models, which predict the outcome of an action in any state."""
