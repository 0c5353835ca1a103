"""The fake harness on a scripted machine: it gives the same answers without a process."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.fake_answers import Ends, answered
from tests.in_process import FAKE_HARNESS
from tests.tool import Done
from tests.world import ScriptedWorld, measured

_START_MS = 10.0


@dataclass
class Answering(ScriptedWorld):
    """A scripted machine on which the command lines of `suite` answer."""

    def weigh(self, *words: str | Path) -> Done:
        """Weigh the benchmarks of harnesses, by default by 10 pairs."""
        limit = () if "--pairs" in words else ("--pairs", "10")
        return self("compare", "--harness", "protocol", *words, *limit)


def answer(spec: LaunchSpec, number: int) -> Measured:  # noqa: ARG001 - as a launch of any other program
    """Return what one call of the fake harness measures."""
    words = [os.fsdecode(word) for word in spec.argv]
    try:
        call = answered(words[words.index(str(FAKE_HARNESS)) + 1 :])
    except Ends as end:
        how: dict[str, Any] = (
            {"exit_code": end.status} if end.status >= 0 else {"exit_code": None, "signal": -end.status}
        )
        return measured(_START_MS, stderr=end.words, stderr_bytes=len(end.words), results=b"", results_bytes=0, **how)
    results = call.answer()
    kept = results[-(spec.results or 0) :]
    took_ms = _START_MS + call.sleeps_s * 1e3 + call.taken_ns() / 1e6
    return measured(took_ms, results=kept, results_bytes=len(results), exit_code=call.status)
