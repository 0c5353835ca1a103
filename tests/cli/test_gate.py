"""`steelyard gate` on weighings of a scripted machine: the limits that they have to keep, and where it says what."""

from __future__ import annotations

import gzip
import html
import json
import re
from xml.etree import ElementTree

import pytest

from steelyard.model.files import load
from tests.cli.gate_job import Job, accepts, changed, renamed
from tests.loaded import weighing_in
from tests.world import measured, program_of, steady

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
        (["same.json", "--fail-above", "instructions=never"], 0),
        (["none.json"], 3),
        (["same.json", "none.json"], 3),
    ],
)
def test_the_status_is_what_the_limits_say(job: Job, words: list[str], status: int) -> None:
    assert job("gate", *words).status == status


def test_a_weighing_counts_once_whatever_it_is_named(job: Job) -> None:
    alone = job("gate", "slower.json").text
    assert "above" in alone
    (job.folder / "copy.json").write_bytes((job.folder / "slower.json").read_bytes())
    (job.folder / "copy.json.gz").write_bytes(gzip.compress((job.folder / "slower.json").read_bytes()))
    copies = " ".join(job("gate", "slower.json", "copy.json", "copy.json.gz", "same.json").text.split())
    assert "1 of 2 verdicts" in copies
    for name in ("copy.json", "copy.json.gz"):
        assert f"{name} holds the same weighing as slower.json, and counts once" in copies
    twice = " ".join(job("gate", "slower.json", "./slower.json").text.split())
    assert "slower.json is named twice, and counts once" in twice
    missing = " ".join(job("gate", "none.json", "none.json").text.split())
    assert "more problem" not in missing


def test_a_weighing_that_was_carried_on_counts_as_what_it_came_to(job: Job) -> None:
    job.script = lambda spec, number: measured(12.0 + 0.5 * (program_of(spec) == "same") * (-1) ** (number // 2))
    assert job("compare", "--resume", "open.json", "--pairs", "20", "-o", "more.json").status == 0
    names = ["open.json", "more.json"]
    for given in (names, names[::-1]):
        told = " ".join(job("gate", *given, "--json", "answer.json").text.split())
        assert "1 of 1 verdict stayed open" in told
        assert "open.json was carried on as more.json, and counts once" in told
        assert {one["record"] for one in json.loads(job.file("answer.json"))["judged"]} == {"more.json"}


def test_two_weighings_that_went_on_from_one_both_count(job: Job) -> None:
    job.script = lambda spec, _number: measured(18.0 if program_of(spec) == "same" else 12.0)
    assert job("compare", "--resume", "open.json", "--pairs", "30", "-o", "worse.json").status == 1
    job.script = lambda spec, number: measured(12.0 + 0.5 * (program_of(spec) == "same") * (-1) ** (number // 2))
    assert job("compare", "--resume", "open.json", "--pairs", "60", "-o", "other.json").status == 0
    for given in (["worse.json", "other.json"], ["other.json", "open.json", "worse.json"]):
        done = job("gate", *given)
        told = " ".join(done.text.split())
        assert done.status == 1
        assert "1 of 2 verdicts" in told
        assert "worse.json was carried on" not in told


def test_what_stayed_undecided_fails_a_strict_one(job: Job) -> None:
    assert job("gate", "open.json").status == 0
    assert job("gate", "open.json", "--strict").status == 4
    strict = job("gate", "open.json", "--strict", "--markdown", "page.md")
    assert "but 1 of 1 verdict stayed open, which fails a strict gate" in " ".join(strict.text.split())
    assert job.file("page.md").startswith(
        "### Steelyard: undecided, which fails\n\nnothing was found above its limit, but 1 of"
    )
    assert "exit " not in strict.text
    last = " ".join(job("gate", "open.json").text.split())
    # A change that is slower but within its limit was found, too, so it does not say that nothing was found slower.
    said = "status 0, as nothing was found above its limit; with --strict it is 4, as the result is undecided"
    assert last.endswith(f"exit {said}")


def test_a_record_may_come_by_standard_input_or_by_its_kept_name(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [path.name.removesuffix(".json.gz") for path in job.kept()]
    assert [job("gate", name).status for name in names] == [1, 0, 0, 3, 0]
    monkeypatch.setattr("steelyard.cli.inputs._STDIN_PATH", job.folder / "slower.json")
    assert job("gate", "-").status == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty, and no record"),
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


def test_a_record_that_cannot_be_looked_for_is_no_pass(job: Job) -> None:
    done = job("gate", "same.json", "x" * 300, "--json", "answer.json")
    assert done.status == 3
    (problem,) = json.loads(job.file("answer.json"))["problems"]
    assert problem.endswith("x: File name too long; check the path and its permissions")


def test_a_run_has_no_baseline(job: Job) -> None:
    done = job("gate", "run.json")
    assert done.status == 3
    assert "without a baseline" in done.text


def test_one_that_failed_is_no_pass(job: Job) -> None:
    name = changed(job, "same", stop=["failed"])
    done = job("gate", name)
    assert (done.status, "a launch failed" in done.text) == (3, True)


def test_one_in_which_nothing_was_measured_is_no_pass(job: Job) -> None:
    record = weighing_in(job.folder / "same.json")
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
        (["--title", " "], "--title '' is empty: give the page a heading, or leave it out"),
        (["--require", " "], "--require '' names no benchmark: give a name or a pattern, or leave it out"),
        (["--fail-above", ":foo=5%"], "':foo=5%': the metric 'foo' is not known: choose from active"),
        (["--fail-above", "1001%"], "out of range"),
        (["--fail-above", "nan%"], "is no limit"),
        (["--markdown", "same.json"], "would be overwritten"),
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
    assert lines[2].endswith(" (weighed as 1 slower, 1 faster, 1 same)")
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
    assert page.splitlines()[2].startswith("nothing was found above its limit, and 1 of 1 verdict stayed open")
    assert "**What could not be decided**" in page
    assert "the limit on pairs was reached" in page


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


def test_the_times_of_junit_s_cases_add_up_to_what_was_launched(job: Job) -> None:
    job.script = steady({"old": 12.0, "same": 12.0})
    words = ("compare", "./old {n}", "./same {n}", "-L", "n", "1,2,3", "--pairs", "12")
    job(*words, "--metric", "active", "--metric", "max_rss", "-o", "three.json")
    job("gate", "three.json", "--fail-above", "max_rss=5%", "--junit", "junit.xml")
    cases = list(ElementTree.fromstring(job.file("junit.xml")).iter("testcase"))
    assert [case.get("name") for case in cases] == ["active", "max_rss"] * 3
    launches = load(job.folder / "three.json").launches
    assert sum(float(case.get("time", "0")) for case in cases) == pytest.approx(
        launches.taken_ns().sum() / 1e9, abs=0.01
    )


def test_a_script_reads_the_answer_as_json(job: Job) -> None:
    done = job("gate", "slower.json", "same.json", "none.json", "--fail-above", "4%", "--json", "-")
    told = json.loads(done.out)
    assert (told["verdict"], told["status"], done.status) == ("failed", 3, 3)
    assert told["problems"] == [told["headline"]]
    held = [{name: one[name] for name in ("record", "limit", "standing", "deciding")} for one in told["judged"]]
    assert held == [
        {"record": "slower.json", "limit": 0.04, "standing": "above", "deciding": True},
        {"record": "same.json", "limit": 0.04, "standing": "within", "deciding": True},
    ]
    assert told["judged"][0]["change"] == pytest.approx(0.05, abs=1e-3)
    job("gate", "open.json", "--strict", "--fail-above", "*=never", "--fail-above", "active=4%", "-o", "answer.json")
    told = json.loads(job.file("answer.json"))
    assert (told["verdict"], told["status"]) == ("undecided", 4)


def test_a_metric_without_a_limit_is_shown_without_one(job: Job) -> None:
    mib = {"old": 2, "same": 4}
    job.script = lambda spec, number: measured(12.0 + number * 1e-5, max_rss_bytes=mib[program_of(spec)] << 20)
    job("compare", "./old", "./same", "--pairs", "20", "--metric", "active,max_rss", "-o", "two.json")
    done = job("gate", "two.json", "--markdown", "page.md", "--metrics", "metrics.txt", "--json", "answer.json")
    assert done.status == 0
    assert "max_rss +100 % [+100 %, +100 %], limit none" in done.text
    page = job.file("page.md")
    assert page.startswith("### Steelyard: nothing above its limit\n")
    assert "**Changed, without a limit**" in page
    assert "| +100 % [+100 %, +100 %] | none |" in page
    assert 'steelyard_above_limit{benchmark="./same",metric="max_rss"} 0' in job.file("metrics.txt")
    held = json.loads(job.file("answer.json"))["judged"][1]
    assert (held["limit"], held["standing"], held["deciding"]) == (None, "within", False)
    assert job("gate", "two.json", "--fail-above", "max_rss=50%").status == 1


def test_the_page_does_not_call_nothing_slower_what_is_within_a_greater_limit(job: Job) -> None:
    assert job("gate", "slower.json", "--fail-above", "10%", "--markdown", "page.md").status == 0
    page = job.file("page.md")
    assert page.startswith("### Steelyard: nothing above its limit\n")
    assert "**Changed within the limit**" in page
    job("gate", "same.json", "--markdown", "page.md")
    assert job.file("page.md").startswith("### Steelyard: nothing slower\n")


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
    # As many lines, cells and elements as with a plain name: every part of the name is plain text.
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


def test_a_slowdown_that_the_project_s_file_accepts_passes_and_is_shown_with_its_reason(job: Job) -> None:
    accepts(job, "10%")
    files = ("--markdown", "page.md", "--junit", "junit.xml", "--metrics", "metrics.txt", "--json", "answer.json")
    done = job("gate", "slower.json", "same.json", *files)
    assert done.status == 0
    assert done.text.startswith(
        "passed     1 slower and accepted, and nothing else was found above its limit, 2 verdicts"
    )
    shown = "accepted up to 10 % (validates its input)"
    assert shown in " ".join(done.text.split())
    page = job.file("page.md")
    assert page.startswith("### Steelyard: 1 slower and accepted\n")
    assert re.search(
        rf"^\*\*Slower, and accepted\*\*\n\n.*\n.*\n\| <code>./slower.*\| {re.escape(shown)} \|", page, re.M
    )
    case = next(ElementTree.fromstring(job.file("junit.xml")).iter("testcase"))
    assert [child.tag for child in case] == ["system-out"]
    assert (case[0].text or "").endswith(f"is above the limit of 0.5 %, {shown}")
    assert 'steelyard_above_limit{benchmark="./slower",metric="active",record="slower.json"} 0' in job.file(
        "metrics.txt"
    )
    held = json.loads(job.file("answer.json"))["judged"]
    assert [(one["standing"], one["limit"], one["accepted"], one["reason"]) for one in held] == [
        ("accepted", 0.005, 0.1, "validates its input"),
        ("within", 0.005, None, None),
    ]
    assert job("gate", "slower.json", "--fail-above", "1%").status == 0


def test_a_slowdown_of_more_than_is_accepted_fails(job: Job) -> None:
    accepts(job, "2%")
    done = job("gate", "slower.json", "--markdown", "page.md", "--junit", "junit.xml")
    assert done.status == 1
    shown = "more than the accepted 2 % (validates its input)"
    assert shown in " ".join(done.text.split())
    assert f"| {shown} |" in job.file("page.md")
    assert f"above the limit of 0.5 %, {shown}" in job.file("junit.xml")


@pytest.mark.parametrize("reason", [one for one in HOSTILE if len(one) <= 200], ids=lambda one: one[:9])
def test_a_reason_is_text_wherever_it_stands(job: Job, reason: str) -> None:
    told = []
    for text in (reason.replace("\n", " ").encode("utf-8", "replace").decode(), "plain"):
        accepts(job, "10%", text)
        job.variables = {name: str(job.folder / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        done = job("gate", "slower.json", "--github", "--junit", "junit.xml")
        assert done.status == 0
        ElementTree.fromstring(job.file("junit.xml"))
        page = job.file("GITHUB_STEP_SUMMARY")
        (job.folder / "GITHUB_STEP_SUMMARY").unlink()
        assert not [line for line in page.splitlines() if line.startswith(("/", "::"))]
        commands = [line.partition("::")[2].partition("::")[0] for line in done.text.splitlines() if line[:2] == "::"]
        told.append((*map(page.count, ("\n", "|", "<", ">", "**", "`", "_")), len(commands), commands[-1]))
    assert told[0] == told[1]
    assert told[0][-1] == "notice title=Steelyard"


def test_the_limits_of_the_project_s_file_hold_where_the_command_line_names_none(job: Job) -> None:
    (job.folder / "steelyard.toml").write_text('[gate]\nmax-slower = "20%"\n')
    assert job("gate", "slower.json").status == 0
    assert job("gate", "slower.json", "--fail-above", "2%").status == 1
    (job.folder / "steelyard.toml").write_text("[gate]\nstrict = true\n")
    assert job("gate", "open.json").status == 4
    (job.folder / "steelyard.toml").write_text('[gate]\nrequire = ["a", ""]\n')
    said = "steelyard.toml:2: [gate] require '' names no benchmark: give a name or a pattern, or leave it out"
    assert job.refuses("gate", "slower.json") == said
    (job.folder / "steelyard.toml").write_text('[gate]\nmax-slower = "much"\n')
    assert job.refuses("gate", "slower.json").startswith("steelyard.toml:2: [gate] max-slower 'much' is no limit")
