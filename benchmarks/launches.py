"""Launch specs for benchmarks that use the launch server alone, without a weighing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from steelyard.model.launch_spec import LaunchSpec


def spec_of(words: Sequence[str], env: Sequence[bytes] = (), cpus: tuple[int, ...] | None = None) -> LaunchSpec:
    """The spec of a command line, with its program looked up as by a shell, and with only this environment."""
    program = shutil.which(words[0]) or words[0]
    return LaunchSpec(program=os.fsencode(program), argv=tuple(map(os.fsencode, words)), env=tuple(env), cpus=cpus)
