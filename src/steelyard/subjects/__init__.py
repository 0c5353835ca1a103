"""What can be weighed; each kind of subject becomes launch specs."""
