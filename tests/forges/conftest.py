from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.forges.fake import Forge, served


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    """A forge on this machine, reached without any proxy."""
    monkeypatch.setenv("no_proxy", "*")
    with served(Forge()) as fake:
        yield fake
