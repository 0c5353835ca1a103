"""The exit statuses that are not an error's own (`model.errors` has those). Imports nothing: `main` reads it first."""

SLOWER = 1
FOUND = 1
FAILED = 3
UNDECIDED = 4
INTERRUPTED = 130
BROKEN_PIPE = 141
