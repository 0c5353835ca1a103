"""Records as data: one table a record, for data frames and spreadsheets; and what other tools' readers take."""
