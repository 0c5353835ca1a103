"""Steelyard weighs two versions of a program against each other on machines that nobody can keep quiet."""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.api.calls import check as check
    from steelyard.api.calls import compare as compare
    from steelyard.api.calls import compare_project as compare_project
    from steelyard.api.calls import count as count
    from steelyard.api.calls import run as run
    from steelyard.api.reading import diff as diff
    from steelyard.api.reading import import_ as import_
    from steelyard.api.reading import load as load
    from steelyard.api.reading import page as page
    from steelyard.api.record import Diff as Diff
    from steelyard.api.record import IncompleteError as IncompleteError
    from steelyard.api.record import ProjectRecord as ProjectRecord
    from steelyard.api.record import Record as Record
    from steelyard.harness import bench as bench
    from steelyard.model.derived import Summary as Summary
    from steelyard.model.derived import Verdict as Verdict
    from steelyard.model.errors import MeasurementError as MeasurementError
    from steelyard.model.errors import SteelyardError as SteelyardError
    from steelyard.model.errors import UsageError as UsageError
    from steelyard.model.foreign import ForeignResults as ForeignResults
    from steelyard.model.progress import Progress as Progress
    from steelyard.model.records import Run as Run
    from steelyard.model.records import Weighing as Weighing
    from steelyard.model.soundness import Soundness as Soundness

_PLACES = {
    "bench": "harness",
    **dict.fromkeys(("check", "compare", "compare_project", "count", "run"), "api.calls"),
    **dict.fromkeys(("diff", "import_", "load", "page"), "api.reading"),
    **dict.fromkeys(("Diff", "IncompleteError", "ProjectRecord", "Record"), "api.record"),
    **dict.fromkeys(("Summary", "Verdict"), "model.derived"),
    **dict.fromkeys(("MeasurementError", "SteelyardError", "UsageError"), "model.errors"),
    "ForeignResults": "model.foreign",
    "Progress": "model.progress",
    **dict.fromkeys(("Run", "Weighing"), "model.records"),
    "Soundness": "model.soundness",
}

__all__ = [
    "Diff",
    "ForeignResults",
    "IncompleteError",
    "MeasurementError",
    "Progress",
    "ProjectRecord",
    "Record",
    "Run",
    "Soundness",
    "SteelyardError",
    "Summary",
    "UsageError",
    "Verdict",
    "Weighing",
    "bench",
    "check",
    "compare",
    "compare_project",
    "count",
    "diff",
    "import_",
    "load",
    "page",
    "run",
]


def __getattr__(name: str) -> object:
    """Return a public name, loaded only when used: files of benchmarks import this package while being measured."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Not by importlib, which would make the harness load it into the measured program.
    found: object = getattr(__import__(f"steelyard.{_PLACES[name]}", fromlist=[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
