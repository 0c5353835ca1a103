"""Time samples by the processor time of their process, for harnesses whose own times include waiting for a processor.

What a process takes besides its iterations, such as its start, is measured by a process that runs nearly none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.errors import LaunchError
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.report.figures import count


def timed_by_process(
    samples: Sequence[Sample], whole: Measured, start: Measured, start_loops: int
) -> tuple[Sample, ...]:
    """Return the samples with their shares of the processor time that `whole` took beyond `start`.

    The rest of each sample's elapsed time is its wait. Raises LaunchError if `whole` took no more than `start`.
    """
    loops = sum(sample.loops for sample in samples) - start_loops * len(samples)
    cpu_ns = whole.all_cpu_ns - start.all_cpu_ns
    if cpu_ns <= 0 or loops <= 0:
        raise LaunchError(
            f"took no more processor time for its samples than with {count(start_loops, 'iteration')} in each: do "
            "iterations do anything?"
        )
    return tuple(_with_cpu(sample, round(sample.loops * cpu_ns / loops)) for sample in samples)


def _with_cpu(sample: Sample, cpu_ns: int) -> Sample:
    return sample._replace(cpu_ns=cpu_ns, delay_ns=max(0, sample.ns - cpu_ns))
