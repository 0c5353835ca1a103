"""The weights of the counted cost, fitted to a machine."""
