"""What a forge refuses, as one sentence. It changes nothing of a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class ForgeError(Exception):
    """A forge that cannot be reached or does not do what it is asked; the message names what is missing.

    `status` is that of its answer, if it gave one that says what is missing; what `is_passing` may have been done all
    the same.
    """

    def __init__(self, message: str, *, status: int | None = None, is_passing: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_passing = is_passing


class NothingToCommentError(ForgeError):
    """A job that is about no pull request, where none is missed unless a comment was asked for."""


@contextmanager
def explained(missing: Mapping[int, str]) -> Iterator[None]:
    """Say what is missing, by the status of the answer, where the forge refuses."""
    try:
        yield
    except ForgeError as error:
        if (what := missing.get(error.status or 0)) is None:
            raise
        raise ForgeError(f"{error}: {what}", status=error.status) from None
