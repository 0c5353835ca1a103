"""What a forge refuses, as one sentence. It never changes a verdict."""

from __future__ import annotations


class ForgeError(Exception):
    """A forge cannot be reached or does not do what it is asked; the message names what is missing.

    `status` is that of its answer, if that tells what is missing. If it `is_passing`, the request may have been carried
    out all the same.
    """

    def __init__(self, message: str, *, status: int | None = None, is_passing: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_passing = is_passing


class NothingToCommentError(ForgeError):
    """The job is about no pull request; that is fine unless a comment was asked for."""
