"""Hash seeds: the same program of CPython, faster or slower by how its strings are hashed."""
