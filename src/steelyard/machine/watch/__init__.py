"""The watch: what goes on beside the launches while they run."""
