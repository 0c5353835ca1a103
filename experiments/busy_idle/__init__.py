"""A busy machine and an idle one: what elapsed time says, and what active time says."""
