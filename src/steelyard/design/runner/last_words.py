"""Of what a failed program printed on stderr, the line that says why."""

from __future__ import annotations

import re

# In characters: some programs print without an end.
_MOST_CHARACTERS = 300

# What runtimes print behind the reason: rules and brackets, frames of the stack, their version, how to learn more.
_BEHIND_THE_REASON = re.compile(
    "|".join(
        (
            r"\W*|\s+at .*|\s*\d+: 0x[0-9a-f]+\b.*|-+ Native stack trace -+|note: run with `RUST_BACKTRACE=.*",
            # Lua, PHP, Perl, in this order
            r"stack traceback:|\t\[C\]: (?:in|at) .*|\t.+:\d+: in .*|\t\(?\.\.\..*",
            r"Stack trace:|#\d+ .*|  thrown in .* on line \d+",
            r"\t.* called at .* line \d+|.* aborted (?:due to compilation errors\.|at .* line \d+\.)",
        )
    )
)
# Perl lists all folders in which it looked for a module.
_LOOKED_THROUGH = re.compile(r" \(@INC [^)]*\)")
_RUBY_SAYS = re.compile(r"\S.*:\d+:in [`'].*': .*")
_RUBY_ENDS = re.compile(r"\tfrom .*:\d+:in .*|\s*\^+|Did you mean\?.*")
_GO_SAYS = re.compile(r"(?:panic|fatal error): .*")
_GO_ENDS = re.compile(r"\t\S.*\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?")
_NODE_ENDS = re.compile(r"Node\.js v\d[\w.-]*")
_CARETS = re.compile(r"\s*\^+\s*")


def last_words(stderr: bytes) -> str:
    """The line, shortened from its beginning; the last one if none says more than that, "" if there is none."""
    lines = [line for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    if not lines:
        return ""
    last = _reason_of_node(lines) or _reason_of_ruby(lines) or _reason_of_go(lines) or _last_that_tells(lines)
    last = _LOOKED_THROUGH.sub("", last).strip()
    return f"...{last[-_MOST_CHARACTERS:]}" if len(last) > _MOST_CHARACTERS else last


def _reason_of_node(lines: list[str]) -> str | None:
    """What Node.js prints of an exception that nobody catches: its place, carets below that, the reason, the stack."""
    if not _NODE_ENDS.fullmatch(lines[-1]):
        return None
    after = (below for above, below in zip(lines[-2::-1], lines[:0:-1], strict=True) if _CARETS.fullmatch(above))
    return next(after, lines[-2] if len(lines) > 1 else None)


def _reason_of_ruby(lines: list[str]) -> str | None:
    """What Ruby prints of an exception: the reason, perhaps the line of the program and carets below it, the stack."""
    if not _RUBY_ENDS.fullmatch(lines[-1]):
        return None
    return next((line for line in reversed(lines) if _RUBY_SAYS.fullmatch(line)), None)


def _reason_of_go(lines: list[str]) -> str | None:
    """What Go prints of a panic: the reason, and below it what each goroutine was at."""
    if not _GO_ENDS.fullmatch(lines[-1]):
        return None
    return next((line for line in lines if _GO_SAYS.fullmatch(line)), None)


def _last_that_tells(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if not _BEHIND_THE_REASON.fullmatch(line)), lines[-1])
