"""Value learners: act, and update from a mini-batch."""
