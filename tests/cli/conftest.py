from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.refusing import Refuses
from tests.in_process import InProcess


@pytest.fixture
def refuses(asked: InProcess) -> Refuses:
    """Run one command line that has to be refused before anything is kept; the sentence that it says."""

    def try_out(*words: str | Path) -> str:
        sentence = asked.refuses(*words)
        assert sentence.isprintable()
        assert not asked.kept()
        return sentence

    return try_out
