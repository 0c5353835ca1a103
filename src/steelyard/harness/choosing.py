"""Choose the tests that pytest loads and runs: those that take a fixture, and of these the named ones.

The plugin for pytest-benchmark loads this too, in a Python that may be 3.9, so nothing of ours is imported here.
"""

from __future__ import annotations

import os
from functools import cached_property

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


class Choosing:
    """The hooks that choose the tests; without names they leave all that the user's arguments select."""

    def __init__(self, config: pytest.Config, fixture: str) -> None:
        self._config, self._fixture = config, fixture

    @property
    def _names(self) -> list[str]:
        """The node ids of the tests to run; none if tests are to be listed."""
        raise NotImplementedError

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Ignore all other test files: importing them would cost time and memory in each launch."""
        if not self._names or collection_path.name == "__init__.py" or not collection_path.is_file():
            return None
        return str(collection_path) not in self._files or None

    @cached_property
    def _files(self) -> set[str]:
        """The files of the tests to run; cached, as they are asked for at each of the user's files."""
        return {os.path.normpath(self._config.rootpath / name.partition("::")[0]) for name in self._names}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose the tests among those that the user's own arguments select."""
        if not self._names:
            return
        names, chosen, others = set(self._names), list[pytest.Item](), list[pytest.Item]()
        for item in items:
            (chosen if item.nodeid in names and self._is_benchmark(item) else others).append(item)
        items[:] = chosen
        self._config.hook.pytest_deselected(items=others)

    def _listed(self, session: pytest.Session) -> list[pytest.Item]:
        """Return all benchmarks, in an order that stays the same even if a plugin shuffles the tests."""
        return [item for item in sorted(session.items, key=_place) if self._is_benchmark(item)]

    def _is_benchmark(self, item: pytest.Item) -> bool:
        """Return whether a test takes the fixture, and is not certain to be skipped."""
        marks = item.iter_markers("skipif")
        conditions = (one for mark in marks for one in [*mark.args, mark.kwargs.get("condition", False)])
        # A condition that is a text is code, which pytest evaluates when it is the test's turn.
        skipped = item.get_closest_marker("skip") is not None or any(one and type(one) is not str for one in conditions)
        return self._fixture in getattr(item, "fixturenames", ()) and not skipped


def _place(item: pytest.Item) -> tuple[str, int, tuple[int, ...], str]:
    file, line, _ = item.location
    return file, line or 0, tuple(getattr(getattr(item, "callspec", None), "indices", {}).values()), item.nodeid
