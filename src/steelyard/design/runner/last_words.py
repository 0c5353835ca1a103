"""Find the line on a failed program's stderr that says why it failed."""

from __future__ import annotations

import re

# In characters: some programs print lines without end.
_MOST_CHARACTERS_SHOWN = 300

# What runtimes print after the reason: rules and brackets, stack frames, their version, how to learn more.
_AFTER_THE_REASON = re.compile(
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
# What an old Google Benchmark says of a variable by which it is asked for its version.
_OF_OUR_QUESTION = re.compile(r"Environment variable BENCHMARK_\w+ is expected to be a double, .*\"1x\"\.")
# Perl lists all folders that it searched for a module.
_PERL_SEARCH_PATH = re.compile(r" \(@INC [^)]*\)")
_RUBY_REASON = re.compile(r"\S.*:\d+:in [`'].*': .*")
_RUBY_LAST_LINE = re.compile(r"\tfrom .*:\d+:in .*|\s*\^+|Did you mean\?.*")
_GO_REASON = re.compile(r"(?:panic|fatal error): .*")
_GO_LAST_LINE = re.compile(r"\t\S.*\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?")
_NODE_LAST_LINE = re.compile(r"Node\.js v\d[\w.-]*")
_CARETS_ONLY = re.compile(r"\s*\^+\s*")


def last_words(stderr: bytes) -> str:
    """Return that line, cut at its beginning if it is long; the last line if none says more, "" if there is none."""
    written = stderr.decode(errors="replace").splitlines()
    lines = [line for line in written if line.strip() and not _OF_OUR_QUESTION.fullmatch(line)]
    if not lines:
        return ""
    last = _node_reason(lines) or _ruby_reason(lines) or _go_reason(lines) or _last_telling_line(lines)
    last = _PERL_SEARCH_PATH.sub("", last).strip()
    return f"...{last[-_MOST_CHARACTERS_SHOWN:]}" if len(last) > _MOST_CHARACTERS_SHOWN else last


def _node_reason(lines: list[str]) -> str | None:
    """Find the reason of an uncaught exception in Node.js; above it are its place and carets, below the stack."""
    if not _NODE_LAST_LINE.fullmatch(lines[-1]):
        return None
    after = (below for above, below in zip(lines[-2::-1], lines[:0:-1], strict=True) if _CARETS_ONLY.fullmatch(above))
    return next(after, lines[-2] if len(lines) > 1 else None)


def _ruby_reason(lines: list[str]) -> str | None:
    """Find the reason of a Ruby exception; below it are perhaps the source line and carets, then the stack."""
    if not _RUBY_LAST_LINE.fullmatch(lines[-1]):
        return None
    return next((line for line in reversed(lines) if _RUBY_REASON.fullmatch(line)), None)


def _go_reason(lines: list[str]) -> str | None:
    """Find the reason of a panic in Go, which prints it, and below it the stack of each goroutine."""
    if not _GO_LAST_LINE.fullmatch(lines[-1]):
        return None
    return next((line for line in lines if _GO_REASON.fullmatch(line)), None)


def _last_telling_line(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if not _AFTER_THE_REASON.fullmatch(line)), lines[-1])
