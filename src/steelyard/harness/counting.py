"""Whether the instructions of this process are counted, and how to tell the counter where samples begin and end."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def counter() -> tuple[Callable[[], object], Callable[[], object]] | None:
    """Return the functions of a preloaded library that begin and end counting; None if there is no such library."""
    if "LD_PRELOAD" not in os.environ:
        return None  # importing ctypes takes longer than importing the whole harness
    import ctypes

    library = ctypes.PyDLL(None)  # keeps the interpreter's lock, so that fewer instructions surround the body
    try:
        begin, end = library.steelyard_begin_counting, library.steelyard_end_counting
    except AttributeError:
        return None
    begin.restype = end.restype = None
    begin.argtypes = end.argtypes = []
    return begin, end
