"""Chromium without a window, started once for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.report.page.browsing import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("not tested without a browser: apt-get install chromium")
    # Imported here, because otherwise each worker that collects these tests would load it.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, and where /dev/shm is small, it starts only with these options. It shows nothing but our page.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield started
        started.close()
