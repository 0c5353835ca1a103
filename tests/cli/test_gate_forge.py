"""`steelyard gate` where code is reviewed: what it sends to GitHub and GitLab, whatever they answer."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.gate_job import Job, accepts, err, pull_request, renamed, repeated
from tests.forges.fake import BOT, TOKEN, Forge, Reply

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_comment_is_never_longer_than_github_takes(job: Job, forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    pull_request(job, forge)
    names = repeated(job, "slower", 110)
    monkeypatch.setattr("steelyard.report.gate_markdown.COMMENT_BYTES", 16_384)
    assert job("gate", *names, "--comment").status == 1
    (comment,) = forge.comments
    assert 10_000 < len(comment["body"].encode()) <= 16_384
    rows = comment["body"].count("| **slower** |")
    assert f"_{110 - rows} more verdicts left out here" in comment["body"]


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


def test_a_slowdown_that_is_accepted_is_a_notice(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    accepts(job, "10%")
    done = job("gate", "slower.json", "--github")
    assert done.status == 0
    said = r"above the limit of 0.5 %25, accepted up to 10 %25 \(validates its input\)$"
    assert re.search(rf"^::notice title=Steelyard::./slower: active \+5.00 %25 .*{said}", done.text, re.M)
    assert "::error" not in done.text
    assert re.search(r"accepted<<(steelyard_\w{32})\n1\n\1\n", job.file("outputs"))
    assert "### Steelyard: 1 slower and accepted" in forge.comments[0]["body"]


def test_a_file_that_cannot_be_written_takes_no_verdict_with_it(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    words = ("--junit", "/dev/full", "--metrics", "/dev/full", "--markdown", "page.md")
    done = job("gate", "slower.json", "--github", *words)
    assert done.status == 3
    assert "1 of 1 verdict is above its limit" in " ".join(done.text.split())
    assert "::error title=Steelyard::./slower" in done.text
    assert err(done).count("steelyard: cannot write /dev/full: No space left on device") == 2
    assert "### Steelyard: slower" in job.file("page.md")
    assert "### Steelyard: slower" in job.file("summary.md")
    assert re.search(r"verdict<<(steelyard_\w{32})\nslower\n\1\n", job.file("outputs"))
    assert re.search(r"status<<(steelyard_\w{32})\n3\n\1\n", job.file("outputs"))
    assert len(forge.comments) == 1


def test_a_summary_that_cannot_be_looked_at_takes_no_verdict_with_it(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    job.variables["GITHUB_STEP_SUMMARY"] = str(job.folder / ("x" * 300))
    done = job("gate", "slower.json", "--github")
    assert done.status == 1
    assert "x: File name too long\n" in err(done)
    assert "verdict<<" in job.file("outputs")
    assert len(forge.comments) == 1


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


@pytest.mark.parametrize(("field", "said"), [("benchmarks", "has 10,003 benchmarks"), ("metrics", "has 200 metrics")])
def test_what_takes_far_longer_to_judge_than_to_write_is_refused(job: Job, forge: Forge, field: str, said: str) -> None:
    pull_request(job, forge)
    fields = json.loads(job.file("same.json"))
    if field == "benchmarks":
        fields["benchmarks"] *= 10_003
        fields["stop"] *= 10_003
    else:
        fields["settings"]["metrics"] *= 200
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


@pytest.mark.parametrize("words", [["--comment"], []])
def test_no_name_is_a_command_of_the_runner_in_any_of_its_jobs(job: Job, forge: Forge, words: list[str]) -> None:
    pull_request(job, forge)
    lines = job("gate", renamed(job, "##[set-output name=verdict]passed"), *words).text.splitlines()
    stop, token = lines[0].rsplit("::", 1)
    assert (stop, lines[-1]) == ("::stop-commands", f"::{token}::")


def test_what_stayed_open_is_annotated_by_what_it_does(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    assert "::warning title=Steelyard::" in job("gate", "open.json", "--github").text
    strict = job("gate", "open.json", "--github", "--strict").text
    assert "::error title=Steelyard::" in strict
    assert "::warning" not in strict


def test_many_annotations_are_few(job: Job, forge: Forge) -> None:
    pull_request(job, forge)
    names = repeated(job, "slower", 30)
    done = job("gate", *names, "--github")
    lines = [line for line in done.text.splitlines() if line.startswith("::error")]
    assert len(lines) == 10
    assert lines[-1].endswith("and 21 more: the summary has them")
