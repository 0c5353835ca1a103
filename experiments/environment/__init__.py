"""The sizes of the environment and of the arguments move a program's speed by where they put its stack."""
