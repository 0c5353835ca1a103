"""The working directory, and what a program is called, as sources of noise."""
