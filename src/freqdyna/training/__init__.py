"""Training: runs of many seeds at once, with checkpoints and progress."""
