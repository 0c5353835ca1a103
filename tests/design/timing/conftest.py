"""The fixture that the tests of pairing share."""

from __future__ import annotations

import pytest

from tests.design.timing.tandem_machine import Machine
from tests.world import ScriptedWorld


@pytest.fixture
def machine(scripted: ScriptedWorld) -> Machine:
    return Machine(scripted)
