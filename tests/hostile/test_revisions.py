"""Builds of revisions on disks that are full, and gates that are interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable

from tests.hostile.tool import Tool
from tests.repositories import BUILD, Repo, script
from tests.tool import STEELYARD, wait_until

WORDS = ("compare", "--base", "main", "./program", "--pairs", "12", "--build")


def test_a_disk_that_is_full_in_the_middle_of_a_build(tool: Tool, mounting: Callable[..., list[str]]) -> None:
    repo = Repo.made(tool.folder / "project")
    repo.write("source", script("new"))
    (tool.folder / ".cache").mkdir()
    full = f"{BUILD} && head -c 9M /dev/zero > large"
    within = mounting(
        f"mount -t tmpfs -o size=4m none {tool.folder}/.cache",
        f"cd {repo.folder}",
        f"{STEELYARD} {' '.join(WORDS)} '{full}' && exit 99; echo \"status $?\" >&2",
    )
    done = tool(*WORDS, BUILD, within=within)  # on the same disk, which has room again
    assert done.status in (0, 1)
    assert "status 3" in done.err
    assert "does not build" in done.err
    assert "as its disk is full" in done.err
    assert "work tree" in done.out


def test_a_disk_that_is_full_before_anything_is_built(tool: Tool, mounting: Callable[..., list[str]]) -> None:
    repo = Repo.made(tool.folder / "project")
    repo.write("source", script("new"))
    cache = tool.folder / ".cache"
    cache.mkdir()
    within = mounting(f"mount -t tmpfs -o size=8k none {cache}", f"cd {repo.folder}")
    done = tool(*WORDS, BUILD, within=within)
    assert done.sentence == (
        f"nothing can be built in {cache}/steelyard/builds: No space left on device; "
        "steelyard cache --clear, or set XDG_CACHE_HOME"
    )
    assert done.status == 3


def test_ctrl_c_while_it_builds(tool: Tool) -> None:
    repo = Repo.made(tool.folder / "project")
    repo.write("source", script("new"))
    waits = f"{BUILD} && touch {tool.folder}/begun && setsid sleep 60 & sleep 60"
    process = tool.start(*WORDS, waits, within=["env", "-C", str(repo.folder)])
    wait_until((tool.folder / "begun").exists, "it builds")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    wait_until(lambda: not tool.processes(), "no process is left")
    assert [path.name for path in (tool.folder / ".cache/steelyard/builds").glob("*/*") if path.is_dir()] == []
