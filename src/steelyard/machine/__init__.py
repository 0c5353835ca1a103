"""What this host is: facts that are stored with every record."""
