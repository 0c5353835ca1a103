"""`steelyard gate`: what weighings on a scripted machine have to keep to, and what is said of it where."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from steelyard.cli.app import run
from steelyard.model.files import load, save
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.records import Weighing
from tests.forges.fake import BOT, TOKEN, Forge, Reply, served
from tests.tool import Done
from tests.world import ScriptedWorld, in_place, measured, program_of, steady

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Job(ScriptedWorld):
    """A machine that is a job's, with what is in its environment."""

    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.variables}

    def status_of(self, arguments: list[str]) -> int:  # type: ignore[override]
        self.launched, self.at_once = [], 1
        return run(arguments, replace(self.outside(), environment=self.environment))

    def file(self, name: str) -> str:
        return (self.folder / name).read_text()


def _alternating(spec: LaunchSpec, number: int) -> Measured:
    """Launches of the candidate that is slower in one pair and faster in the next."""
    return measured(12.0 + (0.5 if program_of(spec) == "same" else -0.5) * (-1) ** (number // 2))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weighings of a slower, an equal and a faster candidate, and of one that is open: slower.json, same.json ..."""
    folder = tmp_path_factory.mktemp("kept")
    world = Job(folder, steady({"old": 12.0, "slower": 12.6, "same": 12.0, "faster": 11.0}))
    with pytest.MonkeyPatch.context() as patch:
        in_place(world, patch)
        for name in ("old", "slower", "same", "faster"):
            world.executable(name)
        for name in ("slower", "same", "faster"):
            world("compare", "./old", f"./{name}", "--pairs", "20", "--json", f"{name}.json")
        world("run", "./old", "--pairs", "3", "--json", "run.json")
        world.script = _alternating
        world("compare", "./old", "./same", "--pairs", "20", "--json", "open.json")
    return folder


@pytest.fixture
def job(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job in a folder with those records."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    world = Job(tmp_path, steady({}))
    in_place(world, monkeypatch)
    monkeypatch.setenv("no_proxy", "*")
    return world


@pytest.fixture
def forge() -> Iterator[Forge]:
    with served(Forge()) as fake:
        yield fake


def changed(job: Job, name: str, **changes: object) -> str:
    record = load(job.folder / f"{name}.json")
    save(record.model_copy(update=changes), job.folder / "changed.json")
    return "changed.json"


def renamed(job: Job, name: str, source: str = "slower") -> str:
    """The record with a benchmark of another name, as somebody else may have written it."""
    fields = json.loads((job.folder / f"{source}.json").read_text())
    fields["benchmarks"][0]["name"] = name
    for subject in fields["subjects"]:
        subject["name"] = name
    (job.folder / "renamed.json").write_text(json.dumps(fields))
    return "renamed.json"


def err(done: Done) -> str:
    """What was said beside the report."""
    return done.err.decode()


# --- the exit status


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["slower.json"], 1),
        (["same.json", "faster.json"], 0),
        (["same.json", "slower.json"], 1),
        (["slower.json", "--fail-above", "10%"], 0),
        (["slower.json", "--fail-above", "4%"], 1),
        (["slower.json", "--fail-above", "never"], 0),
        (["slower.json", "--fail-above", "10%", "--fail-above", "active=4%"], 1),
        (["slower.json", "--fail-above", "*slower=10%", "--fail-above", "4%"], 0),
        (["slower.json", "--fail-above", "*other=10%", "--fail-above", "4%"], 1),
        (["same.json", "--require", "*same"], 0),
        (["same.json", "--require", "*slower"], 3),
        (["same.json", "--fail-above", "instructions=1%"], 3),
        (["none.json"], 3),
        (["same.json", "none.json"], 3),
    ],
)
def test_the_status_is_what_the_limits_say(job: Job, words: list[str], status: int) -> None:
    assert job("gate", *words).status == status


def test_what_stayed_undecided_fails_a_strict_one(job: Job) -> None:
    assert job("gate", "open.json").status == 0
    assert job("gate", "open.json", "--strict").status == 4
    assert "stayed open" in job("gate", "open.json", "--strict").text


def test_a_record_may_come_by_standard_input_or_by_its_kept_name(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [path.name.removesuffix(".json.gz") for path in job.kept()]
    assert [job("gate", name).status for name in names] == [1, 0, 0, 3, 0]
    monkeypatch.setattr("steelyard.cli.inputs._STDIN", job.folder / "slower.json")
    assert job("gate", "-").status == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"[1]", "no weighing"),
        (b'{"format": "steelyard", "version": 99}', "upgrade"),
        (b'{"format": "steelyard", "version": 2, "kind": "weighing"}', "damaged"),
        (b"\x1f\x8b\x08", "gzip"),
    ],
)
def test_a_damaged_record_is_no_pass(job: Job, data: bytes, said: str) -> None:
    (job.folder / "bad.json").write_bytes(data)
    done = job("gate", "bad.json", "same.json", "--markdown", "page.md")
    assert done.status == 3
    assert "no answer" in done.text
    assert said in job.file("page.md")


def test_a_run_has_no_baseline(job: Job) -> None:
    done = job("gate", "run.json")
    assert done.status == 3
    assert "without a baseline" in done.text


def test_one_that_failed_is_no_pass(job: Job) -> None:
    name = changed(job, "same", stop=["failed"])
    done = job("gate", name)
    assert (done.status, "a launch failed" in done.text) == (3, True)


def test_one_in_which_nothing_was_measured_is_no_pass(job: Job) -> None:
    record = load(job.folder / "same.json")
    assert isinstance(record, Weighing)
    empty = record.launches.by_benchmark(2)[1]
    done = job("gate", changed(job, "same", launches=empty, stop=["interrupted"]))
    assert done.status == 3
    assert "no answer" in done.text


def test_one_that_was_interrupted_before_it_was_decided_is_no_pass(job: Job) -> None:
    done = job("gate", changed(job, "open", stop=["interrupted"]))
    assert done.status == 3
    assert "changed.json was interrupted with 1 benchmark open" in " ".join(done.text.split())
    assert job("gate", changed(job, "same", stop=["interrupted"])).status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fail-above", "x"], "'x' is no limit: write for example 5%"),
        (["--fail-above", "a=b=-1%"], "is no limit"),
        (["--fail-above", "1001%"], "out of range"),
        (["--fail-above", "nan%"], "is no limit"),
        (["--markdown", "same.json"], "would overwrite a record"),
        (["--markdown", "-", "--junit", "-"], "two outputs"),
    ],
)
def test_wrong_usage_is_refused(job: Job, words: list[str], said: str) -> None:
    assert said in job.refuses("gate", "same.json", *words)


# --- the files


def test_the_page_begins_with_the_verdict_and_folds_what_did_not_change(job: Job) -> None:
    job("gate", "slower.json", "same.json", "faster.json", "--markdown", "page.md", "--title", "linux")
    lines = job.file("page.md").splitlines()
    assert lines[0] == "### linux: slower"
    assert lines[2].startswith("1 of 3 verdicts is above its limit&#58; ./slower, +5.00 % &#91;+5.00 %")
    assert lines[2].endswith(" (1 slower, 1 faster, 1 same)")
    page = "\n".join(lines)
    before, folded = page.split("<details>", 1)
    assert "<code>./slower</code> | active | **slower** | +5.00 %" in before
    assert "<code>./faster</code> | active | **faster**" in before
    assert "./same</code> | active" not in before
    assert "./same</code> | active | **same**" in folded
    for said in ("machine: A processor, 1 core", "alpha 0.01", "a change of", "seed 20260101", "the gate fails"):
        assert said in html.unescape(folded)
    assert page.count("<details>") == page.count("</details>")


def test_what_could_not_be_decided_is_said_with_why(job: Job) -> None:
    job("gate", "open.json", "--markdown", "page.md")
    page = job.file("page.md")
    assert page.splitlines()[0] == "### Steelyard: undecided"
    assert page.splitlines()[2].startswith("nothing is above its limit, and 1 of 1 verdict stayed open")
    assert "**What could not be decided**" in page
    assert "the limit of pairs was reached" in page


def test_junit_has_a_case_for_each_verdict(job: Job) -> None:
    job("gate", "slower.json", "same.json", "open.json", "none.json", "--junit", "junit.xml")
    root = ElementTree.fromstring(job.file("junit.xml"))
    outcomes = [[child.tag for child in case] for case in root.iter("testcase")]
    assert outcomes == [["failure"], [], ["skipped"], ["error"]]
    sums = {name: sum(int(suite.get(name, "0")) for suite in root) for name in ("tests", "failures", "errors")}
    assert sums == {"tests": 4, "failures": 1, "errors": 1}
    job("gate", "open.json", "--strict", "--junit", "junit.xml")
    assert [child.tag for case in ElementTree.fromstring(job.file("junit.xml")).iter("testcase") for child in case] == [
        "failure"
    ]


def test_metrics_are_openmetrics(job: Job) -> None:
    job("gate", "slower.json", "same.json", "--metrics", "metrics.txt")
    lines = job.file("metrics.txt").splitlines()
    assert lines[-1] == "# EOF"
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(
        samples['steelyard_change_ratio{benchmark="./slower",metric="active",record="slower.json"}']
    ) == pytest.approx(0.05, abs=1e-4)
    assert samples['steelyard_above_limit{benchmark="./slower",metric="active",record="slower.json"}'] == "1"
    assert all(
        re.fullmatch(r'[a-z_]+\{([a-z]+="(\\.|[^"\\])*",?)+\} [-+.e\d]+', line) for line in lines if line[0] != "#"
    )


# --- names from anywhere

HOSTILE = [
    "$(rm -rf /)`id`;x|y&z",
    "**bold** [link](javascript:x) <img src=x onerror=y> </details>",
    "@everyone #1 GH-1 !2 a/b#3 https://example.com",
    "\u202egnp.exe\u2066 \x1b[31m \x07",
    "a\n::error title=x::y\n::set-output name=verdict::passed",
    "##[error]x",
    "/close\n/merge",
    "<!-- steelyard gate 0123456789abcdef -->",
    "\"&'<>]]> \ud800 \ufffe",
    "a" * 10_000,
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_text_wherever_it_stands(job: Job, name: str) -> None:
    record = renamed(job, name)
    summary, outputs = job.folder / "summary.md", job.folder / "outputs"
    job.variables = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs)}
    done = job("gate", record, "--github", "--junit", "junit.xml", "--metrics", "metrics.txt", "--title", name)
    assert done.status == 1
    plain = renamed(job, "plain")
    page, log = summary.read_text(), done.text
    assert len(page) < 65_536
    summary.unlink()
    expected = job("gate", plain, "--github", "--title", "plain")
    # As many lines, cells and elements as with a plain name: nothing of it is anything but text.
    for count in ("\n", "|", "<", ">", "**", "`", "_"):
        assert page.count(count) == summary.read_text().count(count), count
    assert not [line for line in page.splitlines() if line.startswith(("/", "::"))]
    assert not re.search(r"@(?=\w)|[#!](?=\d)", re.sub(r"&#\d+;", "", page))
    commands = [line for line in log.splitlines() if line.startswith("::")]
    assert len(commands) == len([line for line in expected.text.splitlines() if line.startswith("::")]) == 3
    token = commands[0].removeprefix("::stop-commands::")
    assert commands[1] == f"::{token}::"
    assert commands[2].startswith("::error title=")
    ElementTree.fromstring(job.file("junit.xml"))
    assert job.file("metrics.txt").endswith("# EOF\n")


def test_a_comment_is_never_longer_than_github_takes(job: Job, forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request(job, forge)
    names = [shutil.copy("slower.json", f"slower-{number}.json") for number in range(110)]
    monkeypatch.setattr("steelyard.report.gate_markdown.COMMENT_BYTES", 16_384)
    assert job("gate", *names, "--comment").status == 1
    (comment,) = forge.comments
    assert 10_000 < len(comment["body"].encode()) <= 16_384
    rows = comment["body"].count("| **slower** |")
    assert f"_{110 - rows} more verdicts left out here" in comment["body"]


# --- where code is reviewed


def pull_request(job: Job, forge: Forge, event: object | None = None) -> None:
    path = job.folder / "event.json"
    path.write_text(json.dumps(event or {"pull_request": {"number": 5}}))
    job.variables = {
        **forge.github,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_STEP_SUMMARY": str(job.folder / "summary.md"),
        "GITHUB_OUTPUT": str(job.folder / "outputs"),
    }


def test_on_github_it_is_said_everywhere_it_can_be(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    (job.folder / "summary.md").write_text("before\n")
    done = job("gate", "slower.json", "--github")
    assert done.status == 1
    assert job.file("summary.md").startswith("before\n### Steelyard: slower\n\n")
    assert re.search(
        r"^::error title=Steelyard::./slower: active \+5.00 %25 .*above the limit of 0.5 %25$", done.text, re.M
    )
    outputs = job.file("outputs")
    assert re.search(r"verdict<<(steelyard_\w{32})\nslower\n\1\n", outputs)
    assert re.search(r"status<<(steelyard_\w{32})\n1\n\1\n", outputs)
    (comment,) = forge.comments
    assert "### Steelyard: slower\n\n1 of 1 verdict is above its limit" in comment["body"]
    assert job("gate", "same.json", "--github").status == 0
    (comment,) = forge.comments
    assert "### Steelyard: nothing slower" in comment["body"]
    assert TOKEN.encode() not in done.out + done.err


def test_a_gate_without_data_says_so_on_the_pull_request_too(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    assert job("gate", "same.json", "--comment").status == 0
    assert job("gate", "none.json", "--comment").status == 3
    (comment,) = forge.comments
    assert "### Steelyard: no answer\n\nthere is no record none.json" in comment["body"]


def test_without_a_token_a_job_misses_no_comment_unless_it_asked_for_one(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    del job.variables["GITHUB_TOKEN"]
    assert job("gate", "same.json", "--github").err == b""
    assert "no comment without GITHUB_TOKEN" in err(job("gate", "same.json", "--comment"))
    assert forge.asked == []


def test_a_push_has_no_pull_request(job: Job, forge: Forge) -> None:
    pull_request(job, forge, {"ref": "refs/heads/main"})
    assert job("gate", "same.json", "--github").err == b""
    assert "about no pull request" in err(job("gate", "same.json", "--comment"))


def test_a_fork_s_record_is_commented_on_where_the_event_says(job: Job, forge: Forge) -> None:
    run = {
        "event": "pull_request",
        "head_sha": COMMIT,
        "head_branch": "x",
        "head_repository": {"owner": {"login": "s"}},
    }
    pull_request(job, forge, {"workflow_run": run})
    forge.pulls = [{"number": 9, "head": {"sha": COMMIT, "label": "s:x"}}]
    done = job("gate", renamed(job, "pull request #1, number 1"), "--comment")
    assert done.status == 1
    assert ("POST", "/repos/a/b/issues/9/comments") in forge.wrote()


def test_what_a_stranger_wrote_is_read_up_to_a_size_and_by_no_link(
    job: Job, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull_request(job, forge)
    (job.folder / "link.json").symlink_to(job.folder / "same.json")
    assert "is a link" in job("gate", "link.json", "--comment").text
    monkeypatch.setattr("steelyard.cli.gate._LARGEST_IN_CI", 1000)
    done = job("gate", "same.json", "--comment")
    assert done.status == 3
    assert "larger than what is read here" in done.text
    assert job("gate", "link.json").status == job("gate", "same.json").status == 0


@pytest.mark.parametrize(("field", "said"), [("benchmarks", "has 10,003 benchmarks"), ("metrics", "has 20 metrics")])
def test_what_takes_far_longer_to_judge_than_to_write_is_refused(job: Job, forge: Forge, field: str, said: str) -> None:
    pull_request(job, forge)
    fields = json.loads(job.file("same.json"))
    if field == "benchmarks":
        fields["benchmarks"] *= 10_003
        fields["stop"] *= 10_003
    else:
        fields["settings"]["metrics"] *= 20
    (job.folder / "many.json").write_text(json.dumps(fields))
    done = job("gate", "many.json", "--comment")
    assert (done.status, said in done.text) == (3, True)
    assert "### Steelyard: no answer" in forge.comments[0]["body"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(401, {"message": "Bad credentials"}), "GITHUB_TOKEN is not valid"),
        (Reply(403, {"message": "Resource not accessible by integration"}), "`permissions: pull-requests: write`"),
        (Reply(404, {"message": "Not Found"}), "status 404"),
        (Reply(429, {"message": "later"}, {"Retry-After": "99"}), "asks to wait 99 s"),
        (Reply(200, raw=b"<html>"), "answered no JSON"),
        (Reply(422, {"message": "Body is too long"}), "Body is too long"),
    ],
)
@pytest.mark.parametrize(("record", "status"), [("slower.json", 1), ("same.json", 0)])
def test_whatever_a_forge_answers_the_status_is_the_verdict_s(
    job: Job, forge: Forge, reply: Reply, said: str, record: str, status: int
) -> None:
    pull_request(job, forge)
    forge.always = reply
    done = job("gate", record, "--comment")
    assert done.status == status
    assert said in err(done)
    assert len(err(done).splitlines()) == 1
    assert TOKEN not in err(done)


@pytest.mark.parametrize("missing", ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"])
def test_outside_of_a_job_it_is_said_what_there_is_not(job: Job, forge: Forge, missing: str) -> None:
    pull_request(job, forge)
    job.variables[missing] = ""
    done = job("gate", "slower.json", "--github")
    assert done.status == 1
    assert missing in err(done)


def test_a_summary_that_is_full_is_left(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    (job.folder / "summary.md").write_bytes(b"x" * ((1 << 20) - 5000))
    assert "summary is full" in err(job("gate", "slower.json", "--github"))
    assert (job.folder / "summary.md").stat().st_size < 1 << 20


def test_on_gitlab_it_is_a_note(job: Job, forge: Forge) -> None:
    job.variables = forge.gitlab
    for words in (["--gitlab"], ["--comment"]):
        assert job("gate", "slower.json", *words).status == 1
    (note,) = forge.comments
    assert note["author"] == BOT
    assert "**slower**" in note["body"]
    del job.variables["GITLAB_TOKEN"]
    assert job("gate", "slower.json", "--gitlab").err == b""
    assert "CI_JOB_TOKEN cannot write notes" in err(job("gate", "slower.json", "--comment"))


def test_data_on_standard_output_stand_alone(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    done = job("gate", "slower.json", "--github", "--markdown", "-")
    assert done.text == job.file("summary.md").removesuffix("\n")
    assert "\n::error title=" in err(done)


def test_many_annotations_are_few(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    names = [shutil.copy("slower.json", f"slower-{number}.json") for number in range(30)]
    done = job("gate", *names, "--github")
    lines = [line for line in done.text.splitlines() if line.startswith("::error")]
    assert len(lines) == 10
    assert lines[-1].endswith("and 21 more: the summary has them")


def test_the_limits_of_the_project_s_file_hold_where_the_command_line_names_none(job: Job) -> None:
    (job.folder / "steelyard.toml").write_text('[gate]\nmax-slower = "20%"\n')
    assert job("gate", "slower.json").status == 0
    assert job("gate", "slower.json", "--fail-above", "2%").status == 1
    (job.folder / "steelyard.toml").write_text("[gate]\nstrict = true\n")
    assert job("gate", "open.json").status == 4
    (job.folder / "steelyard.toml").write_text('[gate]\nmax-slower = "much"\n')
    assert job.refuses("gate", "slower.json").startswith("steelyard.toml:2: [gate] max-slower 'much' is no limit")
