"""Control groups for what is measured, made for one weighing and removed after it."""
