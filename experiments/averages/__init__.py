"""Averages over 25 processes repeat where single processes do not."""
