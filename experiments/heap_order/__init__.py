"""The heap trap: a benchmark of a container, first and last in a process, and in a process of its own."""
