"""Of what a failed program printed: the line that says why."""

from __future__ import annotations

import pytest

from steelyard.design.runner.last_words import last_words

_THROWN = """/work/bench.js:1
function f() { throw new TypeError('no rows'); }
               ^

TypeError: no rows
    at f (/work/bench.js:1:22)
    at node:internal/main/run_main_module:28:49 {
  code: 'NO_ROWS'
}

Node.js v20.20.2
"""
_NOTHING_THAT_IS_AN_ERROR = """/work/bench.js:1
throw 5
^
5
(Use `node --trace-uncaught ...` to show where the exception was thrown)

Node.js v20.20.2
"""
_NO_MEMORY_LEFT = """
<--- JS stacktrace --->


#
# Fatal javascript OOM in Ineffective mark-compacts near heap limit
#

"""
_NO_HEAP_LEFT = """<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
----- Native stack trace -----

 1: 0xb8d0a3 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]
12: 0x7fc82f159ef6
"""
_OF_A_JVM = """Exception in thread "main" java.lang.IllegalStateException: no rows
\tat Bench.main(Bench.java:3)
"""
_OF_RUST = """thread 'main' panicked at src/main.rs:2:5:
no rows
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        (_THROWN, "TypeError: no rows"),
        (_NOTHING_THAT_IS_AN_ERROR, "5"),
        (_NO_MEMORY_LEFT, "# Fatal javascript OOM in Ineffective mark-compacts near heap limit"),
        (_NO_HEAP_LEFT, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"),
        (_OF_A_JVM, 'Exception in thread "main" java.lang.IllegalStateException: no rows'),
        (_OF_RUST, "no rows"),
        ("Node.js v20.20.2\n", "Node.js v20.20.2"),
        ("out of luck\n\n  no room  \n\n", "no room"),
        ("#\n", "#"),
        (" \n", ""),
        ("", ""),
        ("x" * 400, "..." + "x" * 300),
    ],
)
def test_the_line_that_says_why(stderr: str, words: str) -> None:
    assert last_words(stderr.encode()) == words
