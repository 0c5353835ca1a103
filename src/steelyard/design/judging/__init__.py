"""Records to verdicts."""
