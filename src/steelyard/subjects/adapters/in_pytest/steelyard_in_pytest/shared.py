"""What this plugin shares with Steelyard's own harness, loaded from the files of that package.

The user's Python may have no Steelyard to import it from.
"""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.harness.choosing import Choosing
    from steelyard.harness.forks import Beside, forked, let_threads_rest, scheduled, threads_that_run
    from steelyard.harness.partner import FIRST, Partner
else:
    _UP = [os.pardir] * 4
    _HARNESS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *_UP, "harness"))  # noqa: PTH100, PTH118, PTH120

    def _module(name):
        spec = spec_from_file_location(f"{__name__}.{name}", os.path.join(_HARNESS, f"{name}.py"))  # noqa: PTH118
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    Choosing, _forks, _partner = _module("choosing").Choosing, _module("forks"), _module("partner")
    Beside, forked, scheduled = _forks.Beside, _forks.forked, _forks.scheduled
    let_threads_rest, threads_that_run = _forks.let_threads_rest, _forks.threads_that_run
    FIRST, Partner = _partner.FIRST, _partner.Partner

__all__ = ["FIRST", "Beside", "Choosing", "Partner", "forked", "let_threads_rest", "scheduled", "threads_that_run"]
