"""Learning curves of other programs: readers of their files, and the folder that stores them."""
