"""The phenomena that Steelyard exists for, each reproduced by one command."""
