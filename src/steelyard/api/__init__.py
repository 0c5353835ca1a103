"""What Steelyard does, for programs: the command line does it through the same functions."""
