"""The results of a run: files, statistics, tables, plots, policies and animations."""
