"""One self-contained HTML page on runs, sweeps and the paper's stored experiments."""
