"""Files of other tools: what they measured, read for `steelyard import`. One file a format (docs/import.md)."""
