"""Two kept runs or imports, whose launches stand in no pairs."""
