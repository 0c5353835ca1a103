"""The working directory, and the name of a program, as sources of noise."""
