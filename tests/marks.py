"""The mark `real` of tests that may start programs, by which they are chosen or left out.

Most get it from their fixtures or their files, as listed here, the others by hand. A test without the mark that starts
a program fails.
"""

from __future__ import annotations

import pytest

# By folder or file: every test in it, or those that use one of these fixtures.
EVERY = None
STARTING: dict[str, set[str] | None] = {
    "tests/": {"tool", "here", "launcher"},
    "tests/docs/test_site.py": EVERY,
    "tests/harness/test_counting.py": EVERY,
    "tests/harness/test_protocol.py": EVERY,
    "tests/harness/test_examples.py": EVERY,
    "tests/harness/test_imports.py": EVERY,
    "tests/harness/test_interactive.py": EVERY,
    "tests/harness/test_pytest_plugin.py": EVERY,
    "tests/measure/": {"counter", "program", "timed", "valgrind", "watched"},
    "tests/measure/test_launch_server.py": EVERY,
    "tests/measure/test_preload.py": EVERY,
    "tests/packaging/": EVERY,
    "tests/report/page/": {"browser"},
    "tests/sdk/": EVERY,
    "tests/subjects/adapters/": {"awkward", "driver", "jar", "panics", "program", "slower", "suite"},
}
STARTING_TESTS = {
    "tests/design/calibration/test_measuring.py::test_real_probes_under_a_real_valgrind",
    "tests/model/test_writing.py::test_a_failing_write_leaves_the_old_file_and_nothing_beside_it",
    "tests/model/test_files.py::test_a_pipe_is_read",
    "tests/model/test_schema.py::test_the_module_prints_the_schema",
    "tests/test_second_try.py::test_those_that_depend_on_the_machine_alone_are_tried_again",
}


# What these compile takes longest. They run first, so that at the end no worker waits for another one to compile.
FIRST = (
    "tests/subjects/adapters/test_criterion.py",
    "tests/subjects/adapters/test_divan.py",
    "tests/subjects/adapters/test_jmh.py",
    "tests/subjects/adapters/test_rust.py",
    "tests/subjects/adapters/test_catch2.py",
    "tests/sdk/",
)


def order(items: list[pytest.Item]) -> None:
    """Move those tests to the beginning."""
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))


def mark(item: pytest.Item) -> None:
    """Give a test the mark that follows from its file and its fixtures."""
    name = item.nodeid.partition("[")[0]
    fixtures = set(getattr(item, "fixturenames", ()))
    starts = name in STARTING_TESTS or any(
        name.startswith(place) and (wanted is EVERY or wanted & fixtures) for place, wanted in STARTING.items()
    )
    if starts:
        item.add_marker(pytest.mark.real)
