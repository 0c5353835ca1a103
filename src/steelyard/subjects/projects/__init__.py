"""What a folder holds that could be weighed: for the first version of a project's file."""
