"""A report as one self-contained page for a browser, with its charts."""
