"""The action and the example workflows: complete, and no more trusting than they say."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard.cli.app import command_line
from tests.repositories import Repo

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
EXAMPLES = sorted((ROOT / "examples/ci").glob("*.yml"))
WORKFLOWS = [path for path in EXAMPLES if path.name.startswith("github")]


def read(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    if path == ACTION:
        found: list[dict[str, Any]] = read(path)["runs"]["steps"]
        return found
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


def named(path: Path, name: str) -> dict[str, Any]:
    (found,) = [step for step in steps(path) if step.get("name") == name]
    return found


@pytest.mark.parametrize("path", [ACTION, *EXAMPLES], ids=lambda path: path.name)
def test_each_is_yaml(path: Path) -> None:
    assert read(path)


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_nothing_from_outside_stands_in_a_script(path: Path) -> None:
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []


def test_no_python_of_the_action_looks_for_modules_where_it_runs() -> None:
    assert [step["name"] for step in steps(ACTION) if re.search(r"python3 (?!-I )", step.get("run", ""))] == []


def test_the_action_s_inputs_and_outputs_are_those_that_its_steps_know() -> None:
    action, text = read(ACTION), ACTION.read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(action["inputs"])
    known = {match for value in action["outputs"].values() for match in re.findall(r"outputs\.(\w+)", value["value"])}
    assert known == set(action["outputs"])
    from steelyard.cli import gate_forge

    written = set(re.findall(r'^        "(\w+)": ', Path(gate_forge.__file__).read_text(), re.M))
    assert known == written
    assert all(step.get("shell") == "bash" for step in steps(ACTION) if "run" in step)


def test_only_the_gate_has_the_token() -> None:
    with_token = [step["name"] for step in steps(ACTION) if "token" in json.dumps(step)]
    assert with_token == ["Gate"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_do_no_more_than_they_need(path: Path) -> None:
    workflow = read(path)
    granted = workflow["permissions"]
    runs_a_stranger_s = "pull_request" in str(workflow[True])  # `on:`, as YAML 1.1 reads it
    if path.name == "github-fork-measure.yml":
        assert granted == {"contents": "read"}
        (weighs,) = [step for step in steps(path) if "steelyard@" in step.get("uses", "")]
        assert weighs["with"]["token"] == ""
    assert "pull_request_target" not in path.read_text()
    checkouts = [step for step in steps(path) if step.get("uses", "").startswith("actions/checkout")]
    assert bool(checkouts) == (runs_a_stranger_s and "workflow_run" not in workflow[True])
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
    assert set(granted.values()) <= {"read", "write"}
    assert [name for name, right in granted.items() if right == "write"] in ([], ["pull-requests"])


@pytest.mark.parametrize("path", [ACTION, *EXAMPLES], ids=lambda path: path.name)
def test_the_options_that_they_give_are_there(path: Path) -> None:
    known = {
        name: {spelling for each in command_line().commands[name].params for spelling in each.opts}
        for name in ("compare", "gate")
    }
    text = re.sub(r"^ *#.*", "", path.read_text(), flags=re.M)
    given = re.findall(r"(?:steelyard |^ +)(compare|gate):? (.*)", text, re.M)
    given = [(name, words) for name, words in given if "--" in words]
    assert given or path == ACTION
    for name, words in given:
        options = {word for word in shlex.split(words.partition("||")[0]) if word.startswith("--")}
        assert options <= known[name], (name, options - known[name])


WORDS = "--name 'a b' $(touch stolen) `touch stolen`; touch stolen & \"--x=y\""


def merged(folder: Path, pull: str = "pull") -> Repo:
    """Make a repository at the merge of a branch into `main`, which others have changed in the meantime."""
    repo = Repo.made(folder, state="old")
    repo.git("checkout", "--quiet", "-b", pull)
    repo.write("change", "")
    repo.commit("theirs")
    repo.git("checkout", "--quiet", "main")
    repo.write("state", "changed by others")
    repo.commit("others")
    repo.git("checkout", "--quiet", "--detach")
    repo.git("merge", "--quiet", "--no-edit", pull)
    return repo


def old_of(script: str, folder: Path, **variables: str) -> Path:
    """Run the line of an example that makes the old version; return its folder."""
    environment = {"PATH": os.environ["PATH"], **variables}
    subprocess.run(["bash", "-ec", script], cwd=folder, env=environment, capture_output=True, check=True)
    return folder / "old"


@pytest.mark.real
@pytest.mark.parametrize("name", ["github.yml", "github-fork-measure.yml"])
def test_what_others_changed_meanwhile_is_in_both_versions_on_github(tmp_path: Path, name: str) -> None:
    merged(tmp_path / "new")
    (script,) = [step["run"] for step in steps(ROOT / "examples/ci" / name) if "HEAD^1" in step.get("run", "")]
    old = old_of(script, tmp_path)
    assert (old / "state").read_text() == "changed by others"
    assert not (old / "change").exists()
    (checkout,) = [step["with"] for step in steps(ROOT / "examples/ci" / name) if "path" in step.get("with", {})]
    assert (checkout["path"], checkout["fetch-depth"]) == ("new", 2)


@pytest.mark.real
@pytest.mark.parametrize(("is_merged", "state"), [(True, "changed by others"), (False, "old")])
def test_what_others_changed_meanwhile_is_in_both_versions_on_gitlab(
    tmp_path: Path, is_merged: bool, state: str
) -> None:
    repo = merged(tmp_path)
    script = read(ROOT / "examples/ci/gitlab-ci.yml")["benchmarks"]["script"]
    (line,) = [line for line in script if "worktree" in line]
    known = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": repo.git("merge-base", "main", "pull")}
    if is_merged:
        known["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] = repo.git("rev-parse", "main")
    assert (old_of(line, tmp_path, **known) / "state").read_text() == state
    # As a runner cleans a folder that it keeps for the next job.
    repo.git("clean", "-ffdx", "--quiet")
    assert (old_of(line, tmp_path, **known) / "state").read_text() == state


def run_as_the_runner(folder: Path, step: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action in a folder, with a steelyard that prints its arguments and fails."""
    command = folder / "steelyard/bin/steelyard"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\nsys.exit(1)\n")
    command.chmod(0o755)
    given = {"COMPARE": WORDS, "GATE": WORDS, "RECORD": "a b.json", "TITLE": "$(touch stolen)", "FOLDER": "."}
    given |= variables
    of_runner = {"RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(folder / "outputs")}
    environment = {"PATH": os.environ["PATH"], **of_runner, **given}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", named(ACTION, step)["run"]]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def lists_of(folder: Path) -> dict[str, list[str]]:
    """Return the outputs of a step that have several lines, each between marks that only it can know."""
    text = (folder / "outputs").read_text()
    return {name: lines.split("\n")[:-1] for name, _, lines in re.findall(r"(\w+)<<(\w{32})\n(.*?)\2\n", text, re.S)}


@pytest.mark.real
@pytest.mark.parametrize(
    ("step", "expected"),
    [
        # First, as after `--` among the words it would be a command.
        ("Weigh", ["compare", "--json", "a b.json", *shlex.split(WORDS)]),
        ("Gate", ["gate", "--github", "--title", "$(touch stolen)", *shlex.split(WORDS), "--", "a b.json"]),
    ],
)
def test_no_shell_reads_the_words_of_the_action(tmp_path: Path, step: str, expected: list[str]) -> None:
    done = run_as_the_runner(tmp_path, step)
    assert json.loads(done.stdout) == expected
    assert not (tmp_path / "stolen").exists()
    # Only the gate fails if something is slower.
    assert done.returncode == (1 if step == "Gate" else 0)


@pytest.mark.real
@pytest.mark.parametrize("step", ["Weigh", "Find the records", "Gate"])
def test_no_module_of_the_folder_is_imported_by_the_action(tmp_path: Path, step: str) -> None:
    # A pull request could put any file there, and the gate has the token.
    for name in ("glob", "gzip", "json", "os", "pathlib", "shlex", "sys"):
        (tmp_path / f"{name}.py").write_text(f"open('stolen', 'w').write({name!r})\nfrom posix import *\n")
    done = run_as_the_runner(tmp_path, step, STATUS="", BEGUN="")
    expected = {"Weigh": "compare", "Gate": "gate"}.get(step)
    assert (json.loads(done.stdout)[0] if expected else None) == expected, done.stderr
    assert done.returncode == (step == "Gate")
    assert not (tmp_path / "stolen").exists()


@pytest.mark.real
@pytest.mark.parametrize(
    ("there", "variables", "expected"),
    [
        (["weighing.json.gz", "weighing-sort.json.gz"], {}, ["weighing.json.gz"]),
        (["weighing-sort.json.gz", "weighing-b.c.json.gz", "other.json.gz"], {}, ["-b.c", "-sort"]),
        ([], {}, ["weighing.json.gz"]),
        # A weighing that could not even begin has left no record, and must not pass.
        (["weighing-sort.json.gz"], {"STATUS": "3"}, ["-sort", "weighing.json.gz"]),
        (["weighing-sort.json.gz"], {"STATUS": "1", "BEGUN": "32503680000"}, ["weighing.json.gz"]),
        (["weighing-x\n.json.gz"], {}, ["weighing.json.gz"]),
        (["a.json"], {"RECORD": "a.json\nb.json\nin/c.json"}, ["a.json", "b.json", "in/c.json"]),
        # An empty line would name the folder, and all of it would be uploaded.
        (["a.json"], {"RECORD": "a.json\n\n  b.json \n"}, ["a.json", "b.json"]),
    ],
    ids=["one", "several", "none", "one that failed", "those of an earlier job", "no name", "a line each", "spaced"],
)
def test_all_records_of_a_project_are_found(
    tmp_path: Path, there: list[str], variables: dict[str, str], expected: list[str]
) -> None:
    for name in there:
        (tmp_path / name).touch()
    given = {"RECORD": "weighing.json.gz", "STATUS": "", "BEGUN": "", "FOLDER": "a part", **variables}
    done = run_as_the_runner(tmp_path, "Find the records", **given)
    assert done.returncode == 0, done.stderr
    names = [f"weighing{one}.json.gz" if one.startswith("-") else one for one in expected]
    assert lists_of(tmp_path) == {"paths": names, "uploads": [f"a part/{one}" for one in names]}


@pytest.mark.real
@pytest.mark.parametrize(
    ("fields", "packed", "is_named"),
    [
        ({"stop": ["decided", "failed"], "findings": []}, gzip.compress, False),
        ({"stop": [], "findings": [{"code": "failed"}]}, bytes, False),
        ({"stop": ["decided"], "findings": [{"code": "tandem"}]}, gzip.compress, True),
        ({"stop": None}, bytes, True),
        ([], gzip.compress, True),
    ],
    ids=["a benchmark", "before it began", "none", "damaged", "no record"],
)
def test_a_record_that_tells_the_failure_is_all_that_the_gate_needs(
    tmp_path: Path, fields: object, packed: Callable[[bytes], bytes], is_named: bool
) -> None:
    (tmp_path / "w-fine.json").write_bytes(packed(json.dumps({"stop": ["decided"], "findings": []}).encode()))
    (tmp_path / "w-sort.json").write_bytes(packed(json.dumps(fields).encode()))
    done = run_as_the_runner(tmp_path, "Find the records", RECORD="w.json", STATUS="3", BEGUN="")
    assert done.returncode == 0, done.stderr
    assert lists_of(tmp_path)["paths"] == ["w-fine.json", "w-sort.json", *(["w.json"] if is_named else [])]


@pytest.mark.real
def test_a_record_of_an_earlier_job_is_not_held_to_the_limits(tmp_path: Path) -> None:
    (tmp_path / "a b.json").touch()
    run_as_the_runner(tmp_path, "Weigh")
    assert not (tmp_path / "a b.json").exists()
    assert "status=1\n" in (tmp_path / "outputs").read_text()


def test_what_was_found_is_uploaded_and_gated() -> None:
    assert named(ACTION, "Upload the record")["with"]["path"] == "${{ steps.records.outputs.uploads }}"
    assert named(ACTION, "Gate")["env"]["RECORD"] == "${{ steps.records.outputs.paths }}"
    folders = {name: named(ACTION, name).get("working-directory") for name in ("Weigh", "Find the records", "Gate")}
    assert {*folders.values()} == {"${{ inputs.working-directory }}"}
    # It finds everything that was measured, even if something failed after that.
    assert named(ACTION, "Find the records")["if"] == "${{ !cancelled() }}"
