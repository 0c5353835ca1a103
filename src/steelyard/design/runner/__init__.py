"""One way to launch, and what every launch needs."""
