"""The one comment of a gate on a pull request: created once, then updated."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol

from steelyard.forges.errors import ForgeError

_TRIES = 3


class Comments(Protocol):
    """The comments on one pull request, or notes on one merge request."""

    def own(self) -> Iterable[tuple[int, str]]:
        """Return the number and the text of those written with this token; raises ForgeError, as the others do."""

    def update(self, number: int, text: str) -> str:
        """Replace the text of a comment; return where it can be seen."""

    def create(self, text: str) -> str:
        """Write a new one; return where it can be seen."""


def marker(title: str) -> str:
    """Return a mark that tells which gate a comment is of, invisible to readers; no name in a record can imitate it."""
    return f"<!-- steelyard gate {hashlib.sha256(title.encode(errors='surrogateescape')).hexdigest()[:16]} -->"


def put(comments: Comments, title: str, text: str) -> str:
    """Make the gate's comment say this, and return where it is; raises ForgeError.

    A comment whose creation got no answer may exist all the same, so it is looked for before the next try; there is
    never a second one.
    """
    mark = marker(title)
    body = f"{mark}\n{text}"
    for attempt in range(1, _TRIES + 1):
        try:
            number = next((number for number, old_text in comments.own() if old_text.lstrip().startswith(mark)), None)
            return comments.create(body) if number is None else comments.update(number, body)
        except ForgeError as error:
            if not error.is_passing or attempt == _TRIES:
                raise
    raise AssertionError
