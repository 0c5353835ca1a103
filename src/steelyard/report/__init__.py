"""Records for a reader: one module a format. Nothing here measures, judges or opens a file."""
