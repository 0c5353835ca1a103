"""The options that settings are made of (`api.settings`)."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.api.asked import Asked
from steelyard.cli.command import Options
from steelyard.cli.counting import CountingOptions
from steelyard.cli.heap import HeapOptions
from steelyard.cli.options import JudgingOptions, LaunchOptions, WeighingOptions
from steelyard.cli.suite import SuiteOptions
from steelyard.cli.throughput import ThroughputOptions


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(Options, Asked):
    """What settings are made of: every command that measures has its part of these."""

    judging: JudgingOptions = JudgingOptions()
    weighing: WeighingOptions = WeighingOptions()
    suite: SuiteOptions = SuiteOptions()
    heap: HeapOptions = HeapOptions()
    launch: LaunchOptions = LaunchOptions()
    throughput: ThroughputOptions = ThroughputOptions()
    counting: CountingOptions = CountingOptions()
