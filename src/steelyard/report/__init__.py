"""Records for people and other programs, one module per format. Nothing here measures, judges or opens a file."""
