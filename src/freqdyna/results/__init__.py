"""What a run leaves behind: storing, reading, statistics, tables and pictures."""
