"""Git revisions as subjects: which two are weighed; each is checked out and built in its own folder, which is kept."""
