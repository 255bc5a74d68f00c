"""One self-contained HTML page about runs and sweeps."""
