"""Read what other tools measured, for `steelyard import`: one module per file format (docs/import.md)."""
