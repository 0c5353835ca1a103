"""The one comment of a gate on a pull request: written once, then over itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol

from steelyard.forges.errors import ForgeError

_TRIES = 3


class Comments(Protocol):
    """The comments on one pull request, or notes on one merge request."""

    def own(self) -> Iterable[tuple[int, str]]:
        """Number and text of those that were written with this token; raises ForgeError, as all of these."""

    def update(self, number: int, text: str) -> str:
        """Write another text over a comment; where it can be seen."""

    def create(self, text: str) -> str:
        """Write a new one; where it can be seen."""


def marker(title: str) -> str:
    """What no reader sees, and no name in a record can imitate: which gate's comment it is."""
    return f"<!-- steelyard gate {hashlib.sha256(title.encode(errors='surrogateescape')).hexdigest()[:16]} -->"


def put(comments: Comments, title: str, text: str) -> str:
    """Have the gate's comment say this, and tell where it is; raises ForgeError.

    A creation that came to no answer may have been done: it is looked for before the next try, and so there is never a
    second.
    """
    hidden = marker(title)
    body = f"{hidden}\n{text}"
    for attempt in range(1, _TRIES + 1):
        try:
            number = next((number for number, found in comments.own() if found.lstrip().startswith(hidden)), None)
            return comments.create(body) if number is None else comments.update(number, body)
        except ForgeError as error:
            if not error.is_passing or attempt == _TRIES:
                raise
    raise AssertionError
