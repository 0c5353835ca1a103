"""The control's second side: a copy of the baseline's program, to show what lasts between two equal files, too."""

from __future__ import annotations

import shutil
import stat
import weakref
from collections.abc import Mapping
from pathlib import Path

from steelyard.design.findings import CONTROLS, control_finding
from steelyard.design.runner.draws import draw_pair
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.targets import Targets, layouts_of, longest_at_first_s, subject_of, targets_of
from steelyard.measure.elf import read_elf
from steelyard.measure.scratch import Scratch
from steelyard.model.errors import LaunchError
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject

_SETID_BITS = stat.S_ISUID | stat.S_ISGID


def with_control(
    record: Weighing | Run, targets: Targets, shared: Mapping[str, str], runner: Runner
) -> tuple[Weighing | Run, Targets]:
    """Return the record and what it launches, with a copy as the control's second side if there can be one.

    The findings say whether there is. The copy is launched once to see that it runs, and exists as long as the targets
    do; a weighing that is resumed makes a new one. Raises as a launch does, but for a failure of the copy itself.
    """
    number = next((number for number, benchmark in enumerate(record.benchmarks) if benchmark.control), None)
    if number is None or record.stop[number] == "failed":
        return record, targets
    baseline = subject_of(record, number, 0)
    try:
        why_not = _reason_not_to_copy(baseline)
        if why_not is None:
            targets = _with_copy(record, number, targets, shared, runner)
    except OSError as error:
        why_not = f"which cannot be copied here ({error.strerror})"
    except LaunchError:
        why_not = "of which a copy does not run elsewhere"
    program_name = "the shell" if baseline.shell else baseline.argv[0]
    return record.with_findings([control_finding(program_name, why_not)], replacing=CONTROLS), targets


def _with_copy(
    record: Weighing | Run, number: int, targets: Targets, shared: Mapping[str, str], runner: Runner
) -> Targets:
    """Return the targets with a copy of each layout on one benchmark's second side; one copy was launched once."""
    layouts = {layout: subject_of(record, number, 0, layout=layout) for layout in layouts_of(record.settings)}
    copies, scratch = _copy_layouts(layouts)
    copied = targets_of(record, shared, targets.hooks, {(number, 1, layout): copy for layout, copy in copies.items()})
    weakref.finalize(copied, scratch.remove)
    target = copied.of(number, 1, draw_pair(record.settings.seed, number, 0))
    runner.trial(target.within(longest_at_first_s(record)))
    return copied


def _copy_layouts(layouts: Mapping[int, Subject]) -> tuple[dict[int, str], Scratch]:
    scratch = Scratch("control")
    try:
        return {layout: _copy_program(subject, scratch, layout) for layout, subject in layouts.items()}, scratch
    except OSError:
        scratch.remove()
        raise


def _copy_program(subject: Subject, scratch: Scratch, layout: int) -> str:
    """Copy a program under its own name, which some programs go by; each of several layouts has a folder."""
    folder = scratch.path / str(layout) if layout else scratch.path
    folder.mkdir(exist_ok=True)
    return str(shutil.copy(subject.program, folder / Path(subject.program).name))


def _reason_not_to_copy(subject: Subject) -> str | None:
    """Return why a program is not copied, as a clause about it; None if it is."""
    if subject.shell or "/" not in subject.argv[0]:
        return "which was not given as the path of a program"
    program = Path(subject.program)
    if read_elf(program) is None:
        return "which is a script, and may look for what stands beside it"
    if program.stat().st_mode & _SETID_BITS:
        return "which runs with rights that a copy has not"
    return None
