"""Records as data: a table per record, for data frames and spreadsheets, and the files of other tools."""
