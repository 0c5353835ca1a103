"""What identifies the build of a target, and which kept builds serve."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from steelyard.subjects.revisions.cache import Facts, TargetFacts
from steelyard.subjects.revisions.keys import digest_of, has_targets, mark_of
from steelyard.subjects.revisions.recipe import TargetBuild


def test_what_identifies_a_build_is_its_command_and_the_programs_that_it_names(tmp_path: Path) -> None:
    tool = tmp_path / "cc-13"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)

    def mark(command: str, wanted: Mapping[str, str]) -> str:
        return mark_of(TargetBuild("x", command), {"PATH": f"{tmp_path}:/bin"}, wanted)

    before = mark("cc-13 x.c", {})
    assert mark("cc-13 x.c", {}) == before != mark("cc-13 y.c", {})
    os.utime(tool, (1, 1))
    assert mark("cc-13 x.c", {}) != before
    assert mark("cc-13 x.c", {"PATH": "/bin"}) not in (before, mark("cc-13 x.c", {}))
    assert digest_of(["a", "b"]) == digest_of(["b", "a", "b"]) != digest_of(["a"])


def test_a_build_serves_if_it_has_all_that_is_wanted() -> None:
    facts = Facts(
        repository="", revision="", commit=None, tree="", command=None, made_s=0, size_bytes=0, notes=[],
        targets=[
            TargetFacts(mark="a", command="", failure=None),
            TargetFacts(mark="b", command="", failure="failed with exit status 2"),
        ],
    )  # fmt: skip
    known, new = TargetBuild("x", ""), TargetBuild("x", "", may_be_new=True)
    assert has_targets(facts, [])
    assert has_targets(facts, [("a", known), ("b", new)])
    assert not has_targets(facts, [("b", known)])
    assert not has_targets(facts, [("b", new), ("b", known)])
    assert not has_targets(facts, [("c", new)])
    assert not has_targets(None, [])
