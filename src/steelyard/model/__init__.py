"""What a weighing is: typed records, units, the file format and its versions."""
