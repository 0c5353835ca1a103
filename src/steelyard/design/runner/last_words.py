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
            # psql; bash, which repeats the line that it does not understand
            r"LINE \d+: .*|(?:HINT|DETAIL|CONTEXT|QUERY):  .*|PL/pgSQL function .*|\tIs the server running .*",
            r".*: line \d+: `.*",
        )
    )
)
# What an old Google Benchmark says of a variable by which it is asked for its version.
_OF_OUR_QUESTION = re.compile(r"Environment variable BENCHMARK_\w+ is expected to be a double, .*\"1x\"\.")
# Perl lists all folders that it searched for a module.
_PERL_SEARCH_PATH = re.compile(r" \(@INC [^)]*\)")
# By how the last line looks, how the reason does. Of Ruby, between them are perhaps the source line and carets, and the
# stack; of sqlite3 the statement; of a sanitizer the memory.
_REASONS = {
    re.compile(r"\tfrom .*:\d+:in .*|\s*\^+|Did you mean\?.*"): re.compile(r"\S.*:\d+:in [`'].*': .*"),
    re.compile(r"\s*(?:\^--- )?error here(?: ---\^)?"): re.compile(r"(?:Error|Parse error|Runtime error)\b.*"),
    re.compile(r"==\d+==ABORTING"): re.compile(r"SUMMARY: .*"),
}
_TCL_LAST_LINE = re.compile(r'    \(file ".*" line \d+\)')
_TCL_AFTER_THE_REASON = "    while executing"
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
    finders = _node_reason, _reason_above, _tcl_reason, _go_reason
    last = next(filter(None, (find(lines) for find in finders)), None) or _last_telling_line(lines)
    last = _PERL_SEARCH_PATH.sub("", last).strip()
    return f"...{last[-_MOST_CHARACTERS_SHOWN:]}" if len(last) > _MOST_CHARACTERS_SHOWN else last


def _node_reason(lines: list[str]) -> str | None:
    """Find the reason of an uncaught exception in Node.js; above it are its place and carets, below the stack."""
    if not _NODE_LAST_LINE.fullmatch(lines[-1]):
        return None
    after = (below for above, below in zip(lines[-2::-1], lines[:0:-1], strict=True) if _CARETS_ONLY.fullmatch(above))
    return next(after, lines[-2] if len(lines) > 1 else None)


def _reason_above(lines: list[str]) -> str | None:
    """Find the reason where the last line tells that one stands somewhere above."""
    reason = next((reason for last, reason in _REASONS.items() if last.fullmatch(lines[-1])), None)
    return None if reason is None else next(filter(reason.fullmatch, reversed(lines)), None)


def _tcl_reason(lines: list[str]) -> str | None:
    """Find the reason of an error in Tcl; below it is what was executed, as it was written."""
    if not _TCL_LAST_LINE.fullmatch(lines[-1]) or _TCL_AFTER_THE_REASON not in lines[1:]:
        return None
    return lines[-lines[::-1].index(_TCL_AFTER_THE_REASON) - 2]


def _go_reason(lines: list[str]) -> str | None:
    """Find the reason of a panic in Go, which prints it, and below it the stack of each goroutine."""
    if not _GO_LAST_LINE.fullmatch(lines[-1]):
        return None
    return next((line for line in lines if _GO_REASON.fullmatch(line)), None)


def _last_telling_line(lines: list[str]) -> str:
    return next((line for line in reversed(lines) if not _AFTER_THE_REASON.fullmatch(line)), lines[-1])
