"""Targets with builds of their own: only those that are weighed are built, and one that fails costs no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.subjects.revisions.checkout import NotBuiltError
from steelyard.subjects.revisions.recipe import Recipe, TargetBuild
from tests.repositories import script
from tests.subjects.revisions.test_builds import Builder

SHARED = "echo shared >> ../../built"


def of(**commands: str) -> Recipe:
    """Return a recipe with targets of these names and commands."""
    return Recipe(SHARED, targets=tuple(TargetBuild(name, command) for name, command in commands.items()))


def made_by(name: str) -> str:
    return f"echo {name} >> ../../built && echo {name} > {name}"


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    builder = Builder(tmp_path)
    builder.repo.write("source", script("new"))
    return builder


def steps(build: Builder) -> list[str]:
    """Return what was built since the last call, in order."""
    path = build.cache.folder / "built"
    done = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return done


@pytest.mark.real
def test_each_side_is_built_by_what_all_share_and_then_by_the_targets(build: Builder) -> None:
    with build(recipes=[of(sort=made_by("sort"), parse=made_by("parse"))]) as sides:
        assert all((side.folder / "sort").exists() and (side.folder / "parse").exists() for side in sides)
        assert [one.error for side in sides for one in side.targets.values()] == [None] * 4
        assert len({len(str(side.folder)) for side in sides}) == 1
    assert steps(build) == ["shared"] * 2 + ["sort"] * 2 + ["parse"] * 2
    said = [one.allowance for one in build.seen if one.allowance]
    assert said[1] == f"building work tree: {SHARED}, and then 2 targets"
    assert "building parse" in [one.benchmark for one in build.seen]


@pytest.mark.real
def test_a_kept_build_of_more_targets_serves_for_fewer(build: Builder) -> None:
    sort, parse = made_by("sort"), made_by("parse")
    with build(recipes=[of(sort=sort)]):
        assert steps(build) == ["shared"] * 2 + ["sort"] * 2
    with build(recipes=[of(sort=sort, parse=parse)]) as both:
        assert len(steps(build)) == 6
    for recipe in (of(parse=parse), of(parse=parse, sort=sort), of(other=sort), Recipe(SHARED, targets=())):
        with build(recipes=[recipe]) as sides:
            assert steps(build) == []
            assert recipe == of(other=sort) or recipe.targets == () or sides[0].folder == both[0].folder
    with build(recipes=[of(parse=f"{parse} ")]):
        assert len(steps(build)) == 4


@pytest.mark.real
def test_one_that_fails_costs_no_other_and_is_tried_again(build: Builder) -> None:
    late = "sleep 0.1; " + made_by("late")
    recipe = of(sort=f"grep -q old source || {{ echo 'not today' >&2; exit 4; }}; {late}", parse=made_by("parse"))
    with build(recipes=[recipe]) as (base, candidate):
        assert steps(build) == ["shared", "shared", "late", "parse", "parse"]
        error = candidate.targets["sort"].error
        assert isinstance(error, NotBuiltError)
        assert str(error).startswith("target sort of work tree does not build: grep -q old source || ")
        assert f"failed with exit status 4; its log is {candidate.targets['sort'].log}" in str(error)
        assert error.log == ("not today",)
        assert (base.targets["sort"].error, candidate.targets["parse"].error) == (None, None)
    with build(recipes=[of(parse=made_by("parse"))]):
        assert steps(build) == []
    with build(recipes=[recipe]):
        assert steps(build) == ["shared", "parse"]


@pytest.mark.real
def test_one_that_the_revision_may_not_have_yet_is_not_tried_again(build: Builder) -> None:
    recipe = of(sort="grep -q new source && " + made_by("sort"))
    base = recipe.where_known({"parse"})
    for expected in (["shared", "shared", "sort"], []):
        with build(recipes=[base, recipe]) as sides:
            assert steps(build) == expected
            assert [(one.targets["sort"].error is None, one.targets["sort"].may_be_new) for one in sides] == [
                (False, True),
                (True, False),
            ]
    assert recipe.where_known({"sort"}) == recipe.where_known(None) == recipe


@pytest.mark.real
def test_what_all_share_may_be_nothing_and_fails_for_all(build: Builder) -> None:
    with build(recipes=[Recipe(targets=(TargetBuild("sort", made_by("sort")),))]):
        assert steps(build) == ["sort"] * 2
    refused = build.refusal(recipes=[Recipe("exit 3", targets=(TargetBuild("sort", made_by("sort")),))])
    assert " does not build: exit 3 failed with exit status 3; " in str(refused)
    assert steps(build) == []


@pytest.mark.real
def test_one_that_takes_too_long_ends_the_builds(build: Builder) -> None:
    targets = TargetBuild("sort", "sleep 60"), TargetBuild("parse", made_by("parse"))
    refused = build.refusal(recipes=[Recipe(targets=targets, timeout_s=0.2)])
    assert str(refused).startswith("target sort of ")
    assert "sleep 60 did not end within 0.2 s; allow more with --build-timeout" in str(refused)
    assert steps(build) == []


@pytest.mark.real
def test_layouts_have_their_number_in_the_builds_of_targets_too(build: Builder) -> None:
    one, other = "echo {layout} > sort", "echo {layout} > parse"
    several = Recipe(targets=(TargetBuild("sort", one), TargetBuild("parse", other)), layout=2)
    assert several.has_layouts
    for recipe in (several, several.of_one("sort")):
        with build(recipes=[recipe]) as sides:
            assert [(side.folder / "sort").read_text() for side in sides] == ["2\n"] * 2
            assert all(side.top.parent.name.endswith("-2") for side in sides)
            assert len(build.made()) == (2 if recipe is several else 0)
