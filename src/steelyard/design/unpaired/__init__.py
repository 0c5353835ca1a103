"""Two kept runs or imports, whose launches were not made in pairs."""
