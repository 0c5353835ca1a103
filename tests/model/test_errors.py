"""The errors that belong to the user."""

from __future__ import annotations

import pickle

from steelyard.model.errors import SkippedError


def test_one_that_has_more_than_its_message_reaches_another_process() -> None:
    error = SkippedError("says: it skipped itself", "no network")
    error.lines = ("its last line",)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.reason, copy.lines) == (
        SkippedError,
        "says: it skipped itself",
        "no network",
        ("its last line",),
    )
