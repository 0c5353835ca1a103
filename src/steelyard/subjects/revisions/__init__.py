"""Git revisions as subjects: which two, each checked out and built in a folder of its own, which is kept."""
