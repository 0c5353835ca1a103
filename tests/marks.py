"""Which tests may start programs: the mark `real`, by which they are chosen or left out.

Most are marked by their fixtures or by the files they are in; the others by hand. That a test without the mark
starts nothing is not left to care: it fails if it does.
"""

from __future__ import annotations

import pytest

# By the folder or file: all of its tests, or those that take one of these fixtures.
EVERY = None
STARTING: dict[str, set[str] | None] = {
    "tests/": {"tool", "here", "launcher"},
    "tests/docs/test_site.py": EVERY,
    "tests/harness/test_counting.py": EVERY,
    "tests/harness/test_driven.py": EVERY,
    "tests/harness/test_examples.py": EVERY,
    "tests/harness/test_imports.py": EVERY,
    "tests/harness/test_interactive.py": EVERY,
    "tests/harness/test_pytest_plugin.py": EVERY,
    "tests/measure/": {"counter", "programs", "timed", "valgrind", "watched"},
    "tests/measure/test_launch_server.py": EVERY,
    "tests/measure/test_preload.py": EVERY,
    "tests/packaging/": EVERY,
    "tests/report/page/": {"browser"},
    "tests/sdk/": EVERY,
    "tests/subjects/adapters/": {"awkward", "driver", "jar", "panics", "program", "slower", "suite"},
}
STARTING_TESTS = {
    "tests/cli/test_requests.py::test_help_imports_nothing_that_measures",
    "tests/design/calibration/test_measuring.py::test_real_probes_under_a_real_valgrind",
    "tests/model/test_writing.py::test_a_failing_write_leaves_the_old_file_and_nothing_beside_it",
    "tests/model/test_files.py::test_a_pipe_is_read",
    "tests/model/test_schema.py::test_the_module_prints_the_schema",
    "tests/test_second_try.py::test_those_that_hang_on_the_machine_are_tried_again",
    "tests/test_second_try.py::test_others_are_not_and_are_named",
}


# What has to be compiled for these takes longest: where several workers share the tests, nobody shall wait for it last.
FIRST = (
    "tests/subjects/adapters/test_criterion.py",
    "tests/subjects/adapters/test_divan.py",
    "tests/subjects/adapters/test_jmh.py",
    "tests/subjects/adapters/test_catch2.py",
    "tests/sdk/",
)


def order(items: list[pytest.Item]) -> None:
    """Have those tests begin."""
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))


def mark(item: pytest.Item) -> None:
    """Give a test the marks that follow from where it is and what it takes."""
    name = item.nodeid.partition("[")[0]
    fixtures = set(getattr(item, "fixturenames", ()))
    starts = name in STARTING_TESTS or any(
        name.startswith(place) and (wanted is EVERY or wanted & fixtures) for place, wanted in STARTING.items()
    )
    if starts:
        item.add_marker(pytest.mark.real)
