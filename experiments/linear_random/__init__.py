"""Linear and random walks: the same instructions, and very different times."""
