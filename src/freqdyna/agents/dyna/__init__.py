"""The Dyna agent (the paper's Algorithm 1): its step, state, queue and simulated transitions."""
