"""The native artefacts that the wheel carries; no Python code lives here."""
