"""The Dyna agent: the paper's Algorithm 1, its state, its queue and its simulated transitions."""
