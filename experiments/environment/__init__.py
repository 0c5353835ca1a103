"""The sizes of the environment and of the arguments change a program's speed, because they move its stack."""
