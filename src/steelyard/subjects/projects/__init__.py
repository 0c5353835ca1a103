"""Find what could be weighed in a folder, to write the first version of a project's file."""
