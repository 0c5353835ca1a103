"""Steelyard weighs two versions of a program against each other on machines that nobody can keep quiet."""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from steelyard.harness import bench as bench


def __getattr__(name: str) -> object:
    """`steelyard.bench`, which is loaded only where it is used: in files of benchmarks."""
    if name == "bench":
        from steelyard.harness import bench

        return bench
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
