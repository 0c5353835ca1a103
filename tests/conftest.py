"""Settings of the whole test suite."""

from __future__ import annotations

import os

from hypothesis import settings

# In CI the same examples every time: a change shall fail for what it changed. At a desk, new ones in each run.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")
