"""The scripts and styles in a page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from steelyard.report.page import assets
from steelyard.report.page.elements import element

FOLDER = Path(assets.__file__).parent


def test_what_is_vendored_is_what_its_manifest_says() -> None:
    manifest = json.loads((FOLDER / "vendor/manifest.json").read_text())
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    names = {Path(file).name for file in manifest["files"]}
    assert names == {path.name for path in (FOLDER / "vendor").iterdir()} - {"manifest.json"}
    for file, digest in manifest["files"].items():
        assert hashlib.sha256((FOLDER / "vendor" / Path(file).name).read_bytes()).hexdigest() == digest
    assert manifest["version"] in (FOLDER / "vendor/uPlot.iife.min.js").read_text()
    assert "Permission is hereby granted" in (FOLDER / "vendor/LICENSE").read_text()


def test_a_page_carries_the_licence_of_what_is_vendored() -> None:
    licence, _, script = assets.assets().library.removeprefix("/*!\n").partition("\n*/\n")
    assert licence == (FOLDER / "vendor/LICENSE").read_text().strip()
    assert script == (FOLDER / "vendor/uPlot.iife.min.js").read_text().strip()


def test_every_script_and_style_is_on_the_page() -> None:
    assert {path.name for path in (FOLDER / "script").iterdir()} == {*assets.SCRIPTS, "first.js"}
    assert {path.name for path in (FOLDER / "style").iterdir()} == {*assets.STYLES}


def test_joined_modules_import_nothing_and_share_no_name() -> None:
    script = assets.assets().last
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, re.MULTILINE)
    assert len(names) == len(set(names))
    imported = [name for path in (FOLDER / "script").iterdir() for name in _imported(path.read_text())]
    assert set(imported) <= set(names)


def _imported(module: str) -> list[str]:
    return [
        name.strip() for found in re.findall(r"^import \{([^}]*)\}", module, re.MULTILINE) for name in found.split(",")
    ]


def test_the_policy_names_what_may_run_and_nothing_else() -> None:
    shipped = assets.assets()
    policy = shipped.policy()
    for text in (shipped.first, shipped.library, shipped.last, shipped.styles):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
        assert "</" + "script" not in text.lower()
        assert "</" + "style" not in text.lower()
        assert "\r" not in text
    assert "unsafe" not in policy
    assert "http" not in policy
    assert policy.startswith("default-src 'none'")


def test_styles_and_scripts_fetch_nothing() -> None:
    shipped = assets.assets()
    assert not re.search(r"@import|url\(", shipped.styles)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon|eval|Function)\s*\(", shipped.last)
    assert "innerHTML" not in shipped.last


def test_attributes_and_contents_are_escaped() -> None:
    made = element("a", '<b>"', class_='x" onclick="y', hidden=True, lang=None)
    assert made == '<a class="x&quot; onclick=&quot;y" hidden>&lt;b&gt;&quot;</a>'
