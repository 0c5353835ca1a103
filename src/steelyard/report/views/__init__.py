"""What `show` draws of the raw launches, one file a view: histogram, pairs, launches."""
