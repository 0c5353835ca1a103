"""One to four processes on a processor: which of minimum, median and mean withstand that."""
