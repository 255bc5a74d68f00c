"""One self-contained HTML page about runs, sweeps and the paper's stored experiments."""
