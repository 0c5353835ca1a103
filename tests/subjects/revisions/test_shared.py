"""What revisions share although each should have its own, told before anything runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from steelyard.model.subject import Subject
from steelyard.subjects.revisions.builds import Built
from steelyard.subjects.revisions.git import Git, Repository
from steelyard.subjects.revisions.recipe import Recipe
from steelyard.subjects.revisions.revision import WORK_TREE, Revision
from steelyard.subjects.revisions.shared import Shared, shared_by_revisions

Look = Callable[..., list[Shared]]
_FILES = ("src/fast/__init__.py", "script.py", "tests/test_fast.py", "tools/setup.cfg")


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Return what the base and the work tree of a library share; the Python of `ve` has it as an editable install."""
    tops = [tmp_path / "work", tmp_path / "cache/base", tmp_path / "cache/tree"]
    for top in tops:
        for name in _FILES:
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    python = tmp_path / "ve/bin/python"
    site = tmp_path / "ve/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (tmp_path / "ve/pyvenv.cfg").touch()
    python.parent.mkdir()
    python.touch(mode=0o755)
    (site / "fast.pth").write_text(f"{tops[0]}/src\n")

    def shared(
        command: str,
        *names: str,
        folder: str = ".",
        program: Path = python,
        spans: Sequence[tuple[float, float]] = ((0.0, 0.0),) * 2,
        **environment: str,
    ) -> list[Shared]:
        command = command.replace("PYTHON", str(python)).replace("WORK", str(tops[0]))
        git = Git("git", tops[0], {})
        repository = Repository(git, tops[0], tops[0], is_bare=False, is_shallow=False, directory=Path(folder))
        sides, subjects = [], []
        for name, top, span in zip(names or ("main", WORK_TREE), tops[1:], spans, strict=False):
            sides.append([Built(Revision(name, name, name), Recipe("make"), top / folder, top, top / "log", (), span)])
            subjects.append(Subject(name=name, command=command, argv=command.split(), program=str(program)))
        return shared_by_revisions(repository, sides, subjects, environment)

    return shared


def test_an_editable_install_is_the_work_tree_s_for_both(look: Look, tmp_path: Path) -> None:
    (found,) = look("PYTHON script.py")
    assert found.message.startswith(
        f"{tmp_path}/ve/bin/python has what is in {tmp_path}/work/src installed in editable"
    )
    assert found.remedy.startswith("--env PYTHONPATH=src has each import its own code")
    (below,) = look("PYTHON ../script.py", folder="tools")
    assert "PYTHONPATH=../src" in below.remedy
    assert look("PYTHON script.py", "main"), "and for one that is measured alone"
    assert not look("PYTHON script.py", WORK_TREE), "whose own it is"


@pytest.mark.parametrize(
    "command",
    ["PYTHON src/script.py", "PYTHON -m pytest src/fast/test_it.py", "PYTHON -m steelyard.harness src"],
)
def test_what_stands_before_it_is_each_side_s_own(look: Look, tmp_path: Path, command: str) -> None:
    for name in ("base", "tree"):
        (tmp_path / f"cache/{name}/src/script.py").touch()
        (tmp_path / f"cache/{name}/src/fast/test_it.py").touch()
    assert not look(command)


def test_so_are_the_folder_of_a_module_and_a_relative_search_path(look: Look, tmp_path: Path) -> None:
    site = tmp_path / "ve/lib/python3.11/site-packages"
    assert not look("PYTHON script.py", PYTHONPATH="build/lib:/elsewhere")
    assert look("PYTHON script.py", PYTHONPATH="/elsewhere")
    assert not look("PYTHON -m fast", folder="src")
    (site / "fast.pth").write_text(f"{tmp_path}/work\n")  # for a package at the top of the tree
    assert not look("PYTHON script.py")
    assert not look("PYTHON -m pytest tests")
    assert not look("PYTHON -X dev -m pytest tests")
    assert look("PYTHON tests/test_fast.py")
    assert look("PYTHON tests/test_fast.py -m slow"), "an option of the script"
    assert look("PYTHON tests/test_fast.py ."), "and what it reads"
    assert not look("uv run PYTHON tests/test_fast.py"), "of which it is not known what it starts"
    assert look("PYTHON tests/test_fast.py a\0b")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = [\n    "src", "."\n]\n'),
        ("pytest.ini", "[pytest]\npythonpath = . src\n"),
        ("src/conftest.py", ""),
        ("src/tests/test_more.py", ""),
    ],
)
def test_and_what_pytest_puts_first(look: Look, tmp_path: Path, name: str, content: str) -> None:
    tests = "src/tests" if name.startswith("src") else "tests"
    assert look("PYTHON -m pytest tests")
    for side in ("base", "tree"):
        for path in (tmp_path / f"cache/{side}" / each for each in (name, "src/tests/__init__.py")):
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
    assert not look(f"PYTHON -m pytest {tests}")


def test_an_install_of_another_place_says_nothing(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "ve/lib/python3.11/site-packages/fast.pth"
    for place in ("/elsewhere/src", f"{tmp_path}/work/build/cp311", f"{tmp_path}/worker/src", "beside"):
        path.write_text(f"{place}\n")
        assert not look("PYTHON script.py"), place


def test_a_release_of_the_project_from_an_index(look: Look, tmp_path: Path) -> None:
    site = tmp_path / "ve/lib/python3.11/site-packages"
    (site / "fast.pth").unlink()
    release = site / "Fast_Py-1.2.dist-info"
    release.mkdir()
    for side in ("base", "tree"):
        (tmp_path / f"cache/{side}/pyproject.toml").write_text(
            '[build-system]\nname = "no"\n[project]\nname = "fast.py"\n'
        )
    (found,) = look("PYTHON script.py")
    assert "has fast.py 1.2 installed, and imports that whichever revision is measured" in found.message
    assert found.remedy.startswith("--env PYTHONPATH=src ")
    assert not look("PYTHON script.py", PYTHONPATH="src")
    assert not look("PYTHON -m steelyard.harness src")
    (release / "direct_url.json").write_text('{"url": "file:///elsewhere", "dir_info": {}}')
    assert not look("PYTHON script.py"), "of which its sources tell"
    release.rename(site / "faster_py-1.2.dist-info")
    assert not look("PYTHON script.py")


def test_an_install_of_another_side_s_build(look: Look, tmp_path: Path) -> None:
    path = tmp_path / "ve/lib/python3.11/site-packages/fast.pth"
    path.write_text(f"{tmp_path}/cache/base/src\n")
    (found,) = look("PYTHON script.py")
    assert f"{tmp_path}/cache/base/src" in found.message


def test_a_finder_that_goes_before_any_folder(look: Look, tmp_path: Path) -> None:
    site = tmp_path / "ve/lib/python3.11/site-packages"
    (site / "fast.pth").write_text("import _fast\n")
    (site / "_fast.py").write_text(f"build = '{tmp_path}/work/build/cp311'\nsys.meta_path.insert(0, F(build))\n")
    (found,) = look("PYTHON script.py", PYTHONPATH="src")
    assert "PYTHONPATH" not in found.remedy


def test_the_interpreter_of_a_script_and_one_behind_another_command(look: Look, tmp_path: Path) -> None:
    script = tmp_path / "ve/bin/bench"
    script.write_text(f"#!{tmp_path}/ve/bin/python -s\n")
    assert look("bench", program=script)
    script.write_text("#!/usr/bin/env python\n")
    assert look("bench", program=script, PATH=f"{tmp_path}/ve/bin")
    assert not look("bench", program=script, PATH="/nowhere")
    assert look("taskset 1 PYTHON script.py", program=Path("/usr/bin/taskset"))
    script.write_text(f"#!{tmp_path}/ve/bin/python\n")
    assert look("./script.py", program=script)
    for name in ("base", "tree"):
        (tmp_path / f"cache/{name}/src/script.py").touch()
    assert not look("src/script.py", program=script), "beside which its own code lies"


def test_the_interpreter_behind_a_version_manager_s_script(
    look: Look, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = tmp_path / ".pyenv/shims/python"
    shim.parent.mkdir(parents=True)
    shim.touch(0o755)
    asked: list[Path] = []

    def told(program: Path, folder: Path, _: object) -> Path:
        asked.append(folder)
        return program.parents[2] / "ve/bin/python"

    monkeypatch.setattr("steelyard.subjects.revisions.shared.program_behind", told)
    assert look("python script.py", program=shim, PATH=str(shim.parent))
    assert set(asked) == {tmp_path / "cache/base", tmp_path / "cache/tree"}


def test_words_of_the_work_tree(look: Look, tmp_path: Path) -> None:
    (found,) = look("cat WORK/tests/test_fast.py", program=Path("/bin/cat"))
    assert (
        found.message
        == f"{tmp_path}/work/tests/test_fast.py is a file of the work tree, whichever revision is measured"
    )
    assert found.remedy == "give its path from here, tests/test_fast.py, and each runs its own"
    (tmp_path / "work/new.py").touch()
    (tmp_path / "work/data.bin").touch()
    assert not look("cat WORK/data.bin tests/test_fast.py /etc/passwd", program=Path("/bin/cat"))
    (new,) = look("cat WORK/new.py::it", program=Path("/bin/cat"))
    assert "is new in the work tree" in new.message


@pytest.mark.parametrize(
    "script", ["cd WORK/src/fast&& ./it", "cat tests/test_fast.py; (ls WORK/src/fast)", "F=WORK/src/fast ./it"]
)
def test_words_of_a_script_for_a_shell_are_looked_at_each(look: Look, tmp_path: Path, script: str) -> None:
    (found,) = look(f"sh -c '{script}'", program=Path("/bin/sh"))
    assert found.message == f"{tmp_path}/work/src/fast is a folder of the work tree, whichever revision is measured"


def test_a_file_that_one_side_lacks_has_no_path_from_there(look: Look, tmp_path: Path) -> None:
    for tree in ("work", "cache/tree"):
        (tmp_path / tree / "input.bin").touch()
        (tmp_path / tree / "new.py").touch()
    assert not look("cat WORK/input.bin", "good", "bad", program=Path("/bin/cat"))
    (new,) = look("cat WORK/new.py", "good", "bad", program=Path("/bin/cat"))
    assert new.remedy.startswith("see that each imports its own code")


def test_what_a_build_wrote_elsewhere_is_that_of_the_last_one(look: Look, tmp_path: Path) -> None:
    program, data = tmp_path / "bin/tool", tmp_path / "data"
    program.parent.mkdir()
    for path, time in ((program, 1500), (data, 2500)):
        path.touch()
        os.utime(path, (time, time))
    both = ((1000.0, 1200.0), (1400.0, 1600.0))
    (found,) = look(f"{program} --input={data} /etc/passwd {tmp_path}", program=program, spans=both)
    assert found.message == (
        f"{program} was written by a build, and is in no checkout: the one that was built last runs for each revision"
    )
    (found,) = look(f"cat {data}", program=Path("/bin/cat"), spans=((2400.0, 2600.0), (0.0, 0.0)))
    assert found.message.startswith(f"{data} was written by a build")
    assert not look(f"{program} {data} {tmp_path}/gone", program=program, spans=((1000.0, 1499.0), (1501.0, 2499.0)))
    assert not look(f"{program}", "main", program=program, spans=both[1:]), "of one that is measured alone"
    own = tmp_path / "cache/tree/script.py"
    os.utime(own, (1500, 1500))
    assert not look("./script.py", program=own, spans=both)


def test_a_new_file_that_imports_each_side_s_own_code(look: Look, tmp_path: Path) -> None:
    (tmp_path / "work/tests/test_new.py").touch()
    command = "PYTHON -m pytest WORK/tests/test_new.py"
    assert look(command)
    assert not look(command, PYTHONPATH="src")
    (tmp_path / "work/pytest.ini").write_text("[pytest]\npythonpath = src\n")  # takes precedence over all of that
    assert look(command, PYTHONPATH="src")
    assert not look(command.replace("pytest ", "pytest -c pytest.ini "), PYTHONPATH="src")


@pytest.mark.parametrize(
    ("name", "text", "beside"),
    [
        ("new.py", "import sys\nfrom script import f\n", "script"),
        ("src/new.py", "import fast\n", "fast"),
        ("new.py", "import tools\n", None),
        ("tests/new.py", "import test_fast\n", "test_fast"),
        ("new.py", "import other\n", None),
        ("new.js", "const a = require('node:fs'), b = require('./lib')\n", "./lib"),
        ("src/new.mjs", "import { it } from '../lib.js'\n", "../lib.js"),
        ("new.cjs", "require('lib')\n", None),
        ("data.txt", "import script\n", None),
    ],
)
def test_what_a_new_script_loads_from_beside_it_is_the_work_tree_s(
    look: Look, tmp_path: Path, name: str, text: str, beside: str | None
) -> None:
    for top in ("work", "cache/base", "cache/tree"):
        (tmp_path / top / "lib.js").touch()
    new = tmp_path / "work" / name
    new.write_text(text)
    found = look(f"run {new}", program=Path("/bin/run"), PYTHONPATH="src")
    assert [one.message.partition(", and loads ")[2] for one in found] == [f"{beside} from beside it"] * bool(beside)
    assert [one.remedy for one in found] == [f"--setup 'cp {new} {name}' copies it there, to be run as {name}"] * bool(
        beside
    )


def test_a_search_path_of_the_work_tree(look: Look, tmp_path: Path) -> None:
    (found,) = look("PYTHON script.py", PYTHONPATH=f"{tmp_path}/work/src")
    assert (
        found.message == f"PYTHONPATH has {tmp_path}/work/src, which is the work tree's whichever revision is measured"
    )


def test_a_program_of_the_work_tree_on_the_path(look: Look, tmp_path: Path) -> None:
    (found,) = look("tool", program=tmp_path / "work/bin/tool")
    assert "is within the work tree and runs on both sides" in found.message
