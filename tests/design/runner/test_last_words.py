"""From what a failed program printed, the line that says why."""

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
_A_CAUSE_OF_A_JVM = """Exception in thread "main" java.lang.IllegalStateException: no table
\tat Bench.main(Bench.java:3)
Caused by: java.io.IOException: no rows
\tat Bench.read(Bench.java:9)
\t... 1 more
"""
_OF_RUST = """thread 'main' panicked at src/main.rs:2:5:
no rows
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
_OF_GO = """panic: no rows

goroutine 1 [running]:
main.f(...)
\t/build/w.go:4
main.main()
\t/build/w.go:6 +0x15
"""
_A_DEADLOCK_OF_GO = """fatal error: all goroutines are asleep - deadlock!

goroutine 1 [chan receive]:
main.main()
\t/build/w.go:3 +0x25
"""
_OF_RUBY = """w.rb:1:in `b': no rows (RuntimeError)
\tfrom w.rb:2:in `each'
\tfrom w.rb:3:in `<main>'
"""
_A_NAME_OF_RUBY = """w.rb:1:in '<main>': undefined method 'prnt' for main:Object (NoMethodError)

prnt 1
^^^^
Did you mean?  print
"""
_RESCUED_IN_RUBY = """w.rb:1:in `b': no rows (RuntimeError)
\tfrom w.rb:3:in `<main>'
giving up
"""
_OF_LUA = """lua5.4: w.lua:1: no rows
stack traceback:
\t[C]: in function 'error'
\tw.lua:1: in upvalue 'a'
\t...\t(skipping 200000 levels)
\t(...tail calls...)
\t(command line):3: in main chunk
\t[C]: in ?
"""
_OF_LUAJIT = """luajit: w.lua:1: no rows
stack traceback:
\tw.lua:3: in main chunk
\t[C]: at 0x557591ff72c0
"""
_OF_PHP = """PHP Fatal error:  Uncaught RuntimeException: no rows in /build/w.php:1
Stack trace:
#0 /build/w.php(1): a()
#1 {main}
  thrown in /build/w.php on line 1
"""
_CONFESSED_BY_PERL = """no rows at w.pl line 1.
\tmain::a(1) called at w.pl line 1
\tmain::b(2) called at w.pl line 1
"""
_SYNTAX_OF_PERL = """syntax error at w.pl line 1, at EOF
Execution of w.pl aborted due to compilation errors.
"""
_OF_TCL = """no rows
and no hope
    while executing
"error "no rows
and no hope""
    (procedure "f" line 1)
    invoked from within
"f"
    (file "w.tcl" line 2)
"""
_OF_SQLITE = """Parse error near line 1: no such column: rows
  select rows from it;
         ^--- error here
"""
_LATE_IN_SQLITE = """Error: in prepare, near "selct": syntax error
  select 1 from a_long_name; selct
               error here ---^
"""
_OF_PSQL = """psql:w.sql:3: ERROR:  function rows(integer) does not exist
LINE 2:  rows(1);
         ^
HINT:  No function matches the given name and argument types.
"""
_NO_SERVER = """psql: error: connection to server on socket "/run/.s.PGSQL.5432" failed: No such file or directory
\tIs the server running locally and accepting connections on that socket?
"""
_OF_BASH = """w.sh: line 1: syntax error near unexpected token `od'
w.sh: line 1: `for i in 1 2; od'
"""
_SANITIZED = """==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55e9 bp 0x7ffe
SUMMARY: AddressSanitizer: heap-buffer-overflow w.c:2 in main
Shadow bytes around the buggy address:
  ASan internal:           fe
==7==ABORTING
"""
_FOLDERS = "/etc/perl " * 40
_A_MODULE_OF_PERL = f"""Can't locate No/Rows.pm in @INC (you may want it) (@INC contains: {_FOLDERS}) at w.pl line 1.
BEGIN failed--compilation aborted at w.pl line 1.
"""


@pytest.mark.parametrize(
    ("stderr", "words"),
    [
        (_THROWN, "TypeError: no rows"),
        (_NOTHING_THAT_IS_AN_ERROR, "5"),
        (_NO_MEMORY_LEFT, "# Fatal javascript OOM in Ineffective mark-compacts near heap limit"),
        (_NO_HEAP_LEFT, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"),
        (_OF_A_JVM, 'Exception in thread "main" java.lang.IllegalStateException: no rows'),
        (_A_CAUSE_OF_A_JVM, "Caused by: java.io.IOException: no rows"),
        (_OF_RUST, "no rows"),
        (_OF_GO, "panic: no rows"),
        (_A_DEADLOCK_OF_GO, "fatal error: all goroutines are asleep - deadlock!"),
        ("\t/build/w.go:6 +0x15\n", "/build/w.go:6 +0x15"),
        (_OF_RUBY, "w.rb:1:in `b': no rows (RuntimeError)"),
        (_A_NAME_OF_RUBY, "w.rb:1:in '<main>': undefined method 'prnt' for main:Object (NoMethodError)"),
        (_RESCUED_IN_RUBY, "giving up"),
        (_OF_LUA, "lua5.4: w.lua:1: no rows"),
        (_OF_LUAJIT, "luajit: w.lua:1: no rows"),
        (_OF_PHP, "PHP Fatal error:  Uncaught RuntimeException: no rows in /build/w.php:1"),
        (_CONFESSED_BY_PERL, "no rows at w.pl line 1."),
        (_SYNTAX_OF_PERL, "syntax error at w.pl line 1, at EOF"),
        (_A_MODULE_OF_PERL, "Can't locate No/Rows.pm in @INC (you may want it) at w.pl line 1."),
        (_OF_TCL, "and no hope"),
        ('    (file "w.tcl" line 2)\n', '(file "w.tcl" line 2)'),
        (_OF_SQLITE, "Parse error near line 1: no such column: rows"),
        (_LATE_IN_SQLITE, 'Error: in prepare, near "selct": syntax error'),
        (_OF_PSQL, "psql:w.sql:3: ERROR:  function rows(integer) does not exist"),
        (_NO_SERVER, _NO_SERVER.splitlines()[0]),
        (_OF_BASH, "w.sh: line 1: syntax error near unexpected token `od'"),
        (
            "w.sh: line 2: syntax error near `$'do\\r''\nw.sh: line 2: `do\r'\n",
            "w.sh: line 2: syntax error near `$'do\\r''",
        ),
        (_SANITIZED, "SUMMARY: AddressSanitizer: heap-buffer-overflow w.c:2 in main"),
        ("\tfrom w.rb:3:in `<main>'\n", "from w.rb:3:in `<main>'"),
        ("Node.js v20.20.2\n", "Node.js v20.20.2"),
        ("no room\nNode.js v20.20.2\n", "no room"),
        (f"at work\n{_OF_GO}", "panic: no rows"),
        ("panic: no rows\nrecovered, and gave up\n", "recovered, and gave up"),
        (f"w.rb:9:in `c': retried (IOError)\n{_OF_RUBY}", "w.rb:1:in `b': no rows (RuntimeError)"),
        ("out of luck\n\n  no room  \n\n", "no room"),
        ("#\n", "#"),
        (" \n", ""),
        ("", ""),
        ("x" * 300, "x" * 300),
        ("x" * 400, "..." + "x" * 300),
    ],
)
def test_the_line_that_says_why(stderr: str, words: str) -> None:
    assert last_words(stderr.encode()) == words


def test_words_in_another_encoding_are_words_too() -> None:
    assert last_words("plus de mémoire\n".encode("latin-1")) == "plus de m\ufffdmoire"


def test_what_is_said_of_our_own_question_is_no_reason() -> None:
    complaint = b'Environment variable BENCHMARK_MIN_TIME is expected to be a double, but actually has value "1x".\n'
    assert last_words(b"no corpus\n" + complaint) == "no corpus"
    assert last_words(complaint) == ""
