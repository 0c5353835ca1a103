"""Calm a machine and restore it: the operations, the hand that writes, and the earlier state on disk."""
