"""Hash seeds: the same program in CPython is faster or slower depending on how its strings are hashed."""
