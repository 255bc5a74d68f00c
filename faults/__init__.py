"""The fault suite: `make faults` disturbs runs, sweeps and stored files at random."""
