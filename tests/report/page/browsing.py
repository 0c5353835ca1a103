"""Helpers of the tests in a browser, to show a page and to look at it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Records what is written on each canvas: the text, whether it is rotated, and its left and right end on the canvas.
WRITTEN = """window.written = new Map();
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const place = new DOMPoint(x, y).matrixTransform(this.getTransform()), turned = this.getTransform().b !== 0;
        const width = turned ? 12 : this.measureText(text).width;
        const before = this.textAlign === "right" ? 1 : this.textAlign === "center" || turned ? 0.5 : 0;
        const left = place.x - width * before;
        if (!written.has(this.canvas)) written.set(this.canvas, []);
        written.get(this.canvas).push([text, turned, left, left + width]);
        return write.apply(this, arguments);
    };"""


def resize(page: Page, width: int, height: int) -> None:
    """Resize the window, and wait until the page was drawn in that size, which takes a while on a busy machine."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("width => innerWidth === width", arg=width)
    # Charts are told of their new size at the end of a frame.
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))")


def show(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html.ready")


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('tbody th button[aria-expanded=false]').forEach(one => one.click())")
