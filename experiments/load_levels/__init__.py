"""One to four processes on a processor: what of minimum, median and mean stands it."""
