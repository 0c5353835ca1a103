"""What this plugin has in common with Steelyard's own harness: that package's file, wherever Steelyard is installed.

In the user's Python there need not be a Steelyard to import from.
"""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.harness.forks import Beside, forked, scheduled, threads
else:
    _UP = [os.pardir] * 4
    _FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *_UP, "harness", "forks.py")  # noqa: PTH100, PTH118, PTH120
    _spec = spec_from_file_location(__name__ + ".forks", os.path.normpath(_FILE))
    _forks = module_from_spec(_spec)
    _spec.loader.exec_module(_forks)
    Beside, forked, scheduled, threads = _forks.Beside, _forks.forked, _forks.scheduled, _forks.threads

__all__ = ["Beside", "forked", "scheduled", "threads"]
