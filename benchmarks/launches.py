"""Launch specs for benchmarks that use the launch server alone, without a weighing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from steelyard.model.launches import LaunchSpec


def spec_of(words: Sequence[str], env: Sequence[bytes] = (), cpus: tuple[int, ...] | None = None) -> LaunchSpec:
    """A command line, its program looked up as a shell does; with no other environment than this one."""
    program = shutil.which(words[0]) or words[0]
    return LaunchSpec(program=os.fsencode(program), argv=tuple(map(os.fsencode, words)), env=tuple(env), cpus=cpus)
