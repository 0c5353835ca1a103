"""Whether somebody counts the instructions of this process, and how they are told where the samples begin and end."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def counter() -> tuple[Callable[[], object], Callable[[], object]] | None:
    """What begins and ends counting, of a library that was preloaded into this process; None if there is none."""
    if "LD_PRELOAD" not in os.environ:
        return None  # ctypes takes longer to import than all of the harness
    import ctypes

    library = ctypes.PyDLL(None)  # does not let go of the interpreter's lock: fewer instructions around the body
    try:
        begin, end = library.steelyard_begin_counting, library.steelyard_end_counting
    except AttributeError:
        return None
    begin.restype = end.restype = None
    begin.argtypes = end.argtypes = []
    return begin, end
