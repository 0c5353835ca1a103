from __future__ import annotations

import gc

import pytest

from steelyard.model.collector import without_collection


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_goes_on_as_before(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with without_collection():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
