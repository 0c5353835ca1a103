"""Which of many commits made a benchmark slower."""
