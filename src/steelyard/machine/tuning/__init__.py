"""Calming a machine, and putting back what was: operations, the hand that writes, and the state before on disk."""
