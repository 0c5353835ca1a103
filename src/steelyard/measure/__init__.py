"""How one launch is measured."""
