"""A busy machine beside an idle one: what the clock on the wall says, and what is active time."""
