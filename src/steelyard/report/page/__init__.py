"""A report as one page for a browser, with its charts; it needs nothing but itself."""
