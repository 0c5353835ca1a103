"""How noisy this machine is, measured: identical programs weighed, and what follows for others (docs/doctor.md)."""
