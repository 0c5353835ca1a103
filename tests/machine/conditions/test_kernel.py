from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.machine.conditions.kernel import randomisation
from steelyard.machine.facts import ASLR
from tests.machine.trees import made


@pytest.mark.parametrize(
    ("level", "told"),
    [(0, "off: launches for which none are drawn"), (1, "in part: each launch has its heap"), (2, "on, as it")],
)
def test_only_addresses_that_nobody_draws_are_the_same(tmp_path: Path, level: int, told: str) -> None:
    assert randomisation(made(tmp_path, {str(ASLR): f"{level}\n"})).evidence.startswith(told)
