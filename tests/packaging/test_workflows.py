"""The workflows of the repository: what they name exists, and they may do no more than they need."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builds import ROOT

_FOLDER = ROOT / ".github/workflows"
# Our files in a command; the jobs make nothing in these places themselves.
_OURS = re.compile(r"(?<![\w./-])(?:\.ci|docs|examples|native|release|sdk|src|tests)/[\w./-]+|(?<![\w./-])[A-Z]+\.md\b")

if not _FOLDER.is_dir():
    pytest.skip("no checkout: the workflows are not shipped", allow_module_level=True)

WORKFLOWS = sorted(_FOLDER.glob("*.yml"))


def _jobs(workflow: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    return jobs


def _steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in _jobs(workflow).values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_every_action_has_a_version(workflow: Path) -> None:
    used = [step["uses"] for step in _steps(workflow) if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@(v\d+(\.\d+)*|stable)", name)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_every_command_names_files_and_targets_that_are_there(workflow: Path) -> None:
    commands = [step["run"] for step in _steps(workflow) if "run" in step]
    named = {name for command in commands for name in _OURS.findall(command)}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    targets = {target for command in commands for target in re.findall(r"\bmake (\S+)", command)}
    makefile = (ROOT / "Makefile").read_text().replace("$(INSTALLED):", ".venv/.installed:")
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_tools_from_the_index_have_a_version(workflow: Path) -> None:
    commands = "\n".join(step["run"] for step in _steps(workflow) if "run" in step)
    tools = [word for words in re.findall(r"^(?:pip|cargo) install (.+)", commands, re.M) for word in words.split()]
    named = [word for word in tools if re.match(r"[a-z]", word) and word not in ("dist", "steelyard")]
    assert [word for word in named if not re.search(r"(==|@)\d", word)] == []


def test_only_a_tag_publishes_and_only_after_all_else() -> None:
    jobs = _jobs(_FOLDER / "release.yml")
    publishing = {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})}
    assert publishing == {"publish"}
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    assert set(jobs["publish"]["needs"]) == set(jobs) - {"publish"}
    assert not re.search(r"\bsecrets\.", (_FOLDER / "release.yml").read_text())


def test_the_crate_goes_last_as_its_first_version_goes_by_hand() -> None:
    steps = _jobs(_FOLDER / "release.yml")["publish"]["steps"]
    assert steps[-1]["run"].startswith("cargo publish")
    assert steps[-2]["id"] == "crates"


def test_all_native_parts_are_in_the_list_of_what_they_are_made_of() -> None:
    modules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools-rust"]["ext-modules"]
    crates = {Path(module["path"]).parent.name for module in modules}
    listed = re.search(r"for crate in ([\w ]+);", (_FOLDER / "release.yml").read_text())
    assert listed
    assert set(listed[1].split()) == crates


def test_the_lists_of_all_crates_that_need_others_are_attested() -> None:
    manifests = {path.parent.name: tomllib.loads(path.read_text()) for path in (ROOT / "native").glob("*/Cargo.toml")}
    needing = {name for name, manifest in manifests.items() if manifest.get("dependencies")}
    attested = re.findall(r"sbom-path: .*/steelyard-(\w+)\.cdx", (_FOLDER / "release.yml").read_text())
    assert {*attested} == needing


def test_the_notes_of_a_release_are_the_newest_of_the_changes(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 0.2.0\n- New.\n\n## 0.1.0\n- Old.\n")
    lines = [line for step in _steps(_FOLDER / "release.yml") for line in step.get("run", "").split("\n")]
    (made,) = [line for line in lines if line.endswith("> notes.md")]
    subprocess.run(["sh", "-c", made], cwd=tmp_path, check=True)
    assert (tmp_path / "notes.md").read_text() == "## 0.2.0\n- New.\n\n"


@pytest.mark.parametrize(("user", "before"), [("0", ""), ("1001", "sudo ")], ids=["root", "a runner"])
def test_what_lacks_is_installed_by_whoever_runs_the_checks(tmp_path: Path, user: str, before: str) -> None:
    for name, does in {"id": f"echo {user}", "apt-get": ":", "sudo": ":", "make": ":", "dirname": "echo .ci"}.items():
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/called\n{does}\n')
        (tmp_path / name).chmod(0o755)
    subprocess.run(["/bin/bash", ".ci/run"], cwd=ROOT, env={"PATH": str(tmp_path)}, check=True)
    called = [line for line in (tmp_path / "called").read_text().splitlines() if not line.startswith(("id", "dirname"))]
    assert called[0] == f"{before}apt-get update -qq"
    assert called[1].startswith(f"{before}apt-get install -y -qq --no-install-recommends gcc")
    assert called[2:] == ["make test"]


def test_issue_templates_ask_for_something() -> None:
    for file in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        template = yaml.safe_load(file.read_text())
        assert template["name"]
        assert template["description"]
        assert len({field["id"] for field in template["body"]}) == len(template["body"])


def test_actionlint_has_nothing_to_complain_of() -> None:
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("actionlint is not installed: the workflows were not checked by it")
    done = subprocess.run([actionlint, *WORKFLOWS], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
