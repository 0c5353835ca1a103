"""What can be weighed, and how each kind of subject becomes launch specs."""
