"""Two kept runs, measured apart from each other."""
