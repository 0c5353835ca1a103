from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.forges import github, sticky
from steelyard.forges.errors import ForgeError, NothingToCommentError
from tests.forges.fake import BOT, Forge, Reply

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def event(folder: Path, what: Any) -> str:
    path = folder / "event.json"
    path.write_text(what if isinstance(what, str) else json.dumps(what))
    return str(path)


@pytest.fixture
def job(forge: Forge, tmp_path: Path) -> dict[str, str]:
    return {**forge.github, "GITHUB_EVENT_PATH": event(tmp_path, {"pull_request": {"number": 5}})}


def put(job: Mapping[str, str], text: str, title: str = "Steelyard") -> str:
    return sticky.put(github.Comments(job, github.client(job)), title, text)


# --- the comment


def test_a_comment_is_written_once_and_then_over_itself(forge: Forge, job: dict[str, str]) -> None:
    assert put(job, "first") == "https://github.com/a/b/pull/5#issuecomment-1"
    put(job, "second")
    put(job, "of another", title="arm64")
    texts = [comment["body"].partition("\n")[2] for comment in forge.comments]
    assert texts == ["second", "of another"]
    assert forge.wrote()[:2] == [("POST", "/repos/a/b/issues/5/comments"), ("PATCH", "/repos/a/b/issues/comments/1")]


def test_it_is_found_on_a_later_page(forge: Forge, job: dict[str, str]) -> None:
    forge.per_page = 2
    for number in range(5):
        forge.comment(f"comment {number}", {"login": "somebody", "type": "User"})
    put(job, "first")
    put(job, "second")
    assert len(forge.comments) == 6
    assert forge.comments[-1]["body"].endswith("second")


def test_who_copies_the_mark_is_not_written_over(forge: Forge, job: dict[str, str]) -> None:
    copied = f"{sticky.marker('Steelyard')}\nmine"
    for user in ({"login": "somebody", "type": "User"}, {"login": "other[bot]", "type": "Bot"}, None):
        forge.comment(copied, user)  # type: ignore[arg-type]
    forge.comment(f"> {copied}", BOT)
    put(job, "first")
    assert [comment["body"] for comment in forge.comments[:3]] == [copied] * 3
    assert len(forge.comments) == 5


def test_a_comment_whose_writing_was_not_answered_is_looked_for_first(forge: Forge, job: dict[str, str]) -> None:
    put(job, "first")  # as if the server had written it, and then failed
    number = len(forge.comments)
    forge.comments.clear()

    def done_and_broken(asked: Any) -> Reply:
        forge.comment(asked.data["body"], BOT)
        return Reply(502, None)

    forge.first = [lambda _: None, lambda _: None, done_and_broken]
    put(job, "second")
    assert number == len(forge.comments) == 1


def test_the_token_goes_to_no_other_host_for_its_owner_s_name(forge: Forge, job: dict[str, str]) -> None:
    del job["GITHUB_GRAPHQL_URL"]
    put(job, "first")
    assert forge.asked[0].path == "/graphql"


def test_all_requests_have_one_minute_together(forge: Forge, job: dict[str, str]) -> None:
    api = github.client(job)
    api.ends_s = 0.0
    with pytest.raises(ForgeError, match="time for it was up"):
        sticky.put(github.Comments(job, api), "Steelyard", "text")
    assert forge.asked == []


def test_the_token_s_owner_is_asked_for_again_where_the_server_is_in_trouble(forge: Forge, job: dict[str, str]) -> None:
    forge.comment(f"{sticky.marker('Steelyard')}\nfirst", BOT)
    forge.first = [Reply(502, None, raw=b"<html>")] * 4
    api, pauses = github.client(job), list[float]()
    api.sleep = pauses.append
    sticky.put(github.Comments(job, api), "Steelyard", "second")
    assert pauses == [1.0, 2.0, 4.0, 8.0]
    assert len(forge.comments) == 1


def test_where_the_token_s_owner_is_not_told_it_is_that_of_a_job(forge: Forge, job: dict[str, str]) -> None:
    forge.comment(f"{sticky.marker('Steelyard')}\nfirst", BOT)
    forge.first = [Reply(403, {"message": "Resource not accessible by integration"})]
    put(job, "second")
    assert len(forge.comments) == 1


@pytest.mark.parametrize(
    "spent",
    [
        Reply(403, {"message": "You have exceeded a secondary rate limit."}),
        Reply(200, {"data": None, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}),
        Reply(200, {"data": None, "errors": [{"type": "RATE_LIMIT", "message": "API rate limit already exceeded"}]}),
    ],
)
def test_where_a_limit_is_spent_there_is_no_second_comment_and_no_word_of_a_permission(
    forge: Forge, job: dict[str, str], spent: Reply
) -> None:
    forge.comment(f"{sticky.marker('Steelyard')}\nfirst", {"login": "me", "type": "User"})
    forge.always = spent
    api = github.client(job)
    api.sleep = lambda _: None
    with pytest.raises(ForgeError, match=r"allows no more requests now.*: run the job again later$"):
        sticky.put(github.Comments(job, api), "Steelyard", "second")
    assert {asked.path for asked in forge.asked} == {"/graphql"}


@pytest.mark.parametrize(
    ("reply", "missing"),
    [
        (Reply(401, {"message": "Bad credentials"}), "GITHUB_TOKEN is not valid"),
        (Reply(403, {"message": "Resource not accessible by integration"}), "`permissions: pull-requests: write`"),
        (Reply(404, {"message": "Not Found"}), "may not see it"),
        (Reply(500, None), "status 500"),
        (Reply(200, "nonsense"), "something else than a list"),
    ],
)
def test_what_is_missing_is_said(forge: Forge, job: dict[str, str], reply: Reply, missing: str) -> None:
    forge.always = reply
    api = github.client(job)
    api.sleep = lambda _: None
    with pytest.raises(ForgeError, match=re.escape(missing)):
        sticky.put(github.Comments(job, api), "Steelyard", "text")
    assert forge.comments == []


@pytest.mark.parametrize("text", [None, f"{sticky.marker('Steelyard')}\nbefore"])
def test_a_locked_conversation_is_no_lacking_permission(forge: Forge, job: dict[str, str], text: str | None) -> None:
    if text is not None:
        forge.comment(text, BOT)
    refused = Reply(403, {"message": "Unable to create comment because issue is locked."})
    forge.first = [lambda asked: refused if asked.method in ("POST", "PATCH") and "graphql" not in asked.path else None]
    forge.first *= 3
    api = github.client(job)
    with pytest.raises(ForgeError, match="conversation is locked") as found:
        sticky.put(github.Comments(job, api), "Steelyard", "text")
    assert "permissions" not in str(found.value)


def test_without_a_token_there_is_no_comment(job: dict[str, str]) -> None:
    with pytest.raises(ForgeError, match="GITHUB_TOKEN in the environment"):
        github.client({**job, "GITHUB_TOKEN": " "})


# --- whose pull request


def pull(number: int, commit: str = COMMIT, head: str = "stranger:feature") -> dict[str, Any]:
    return {"number": number, "head": {"sha": commit, "label": head}}


def workflow_run(**changes: Any) -> dict[str, Any]:
    run = {
        "event": "pull_request",
        "head_sha": COMMIT,
        "head_branch": "feature",
        "head_repository": {"owner": {"login": "stranger"}},
        "pull_requests": [],  # always empty for a fork
    }
    return {"workflow_run": {**run, **changes}}


def found(forge: Forge, folder: Path, what: Any) -> int:
    job = {**forge.github, "GITHUB_EVENT_PATH": event(folder, what)}
    return github.pull_request(job, github.client(job))[1]


def test_a_fork_s_pull_request_is_the_open_one_with_that_head(forge: Forge, tmp_path: Path) -> None:
    forge.pulls = [pull(8, "another"), pull(9), pull(10, head="other:feature")]
    assert found(forge, tmp_path, workflow_run()) == 9
    assert forge.asked[-1].query["state"] == "open"


@pytest.mark.parametrize("branch", ["a&state=all", "a b", "../x?y#z", "ä:ö", "%2e"])
def test_a_branch_s_name_is_a_name_only(forge: Forge, tmp_path: Path, branch: str) -> None:
    forge.pulls = [pull(9, head=f"stranger:{branch}")]
    assert found(forge, tmp_path, workflow_run(head_branch=branch)) == 9
    assert forge.asked[-1].query["state"] == "open"
    assert forge.asked[-1].path == "/repos/a/b/pulls"


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (workflow_run(head_sha="f" * 40), "newer commit"),
        (workflow_run(head_repository=None), "its fork is gone"),
        (workflow_run(event="push"), "not about a pull request"),
        ({"ref": "refs/heads/main"}, "about no pull request"),
        ({"issue": {"number": 5}}, "about no pull request"),
        ({"pull_request": {"number": "5"}}, "about no pull request"),
        ([], "about no pull request"),
        ("{", "is no JSON"),
    ],
)
def test_what_names_none_is_said(forge: Forge, tmp_path: Path, what: Any, why: str) -> None:
    forge.pulls = [pull(9)]
    with pytest.raises(ForgeError, match=why):
        found(forge, tmp_path, what)


@pytest.mark.parametrize(
    "what", [{"pull_request": {"number": 5}}, {"issue": {"number": 5, "pull_request": {"url": "x"}}}]
)
def test_events_that_name_theirs(forge: Forge, tmp_path: Path, what: Any) -> None:
    assert found(forge, tmp_path, what) == 5
    assert forge.asked == []


@pytest.mark.parametrize("repository", ["", "a", "a/b/c", "a/b?x", "../../x"])
def test_a_repository_is_a_name(repository: str, job: dict[str, str]) -> None:
    with pytest.raises(ForgeError, match="GITHUB_REPOSITORY"):
        github.pull_request({**job, "GITHUB_REPOSITORY": repository}, github.client(job))


def test_outside_of_a_job_there_is_none(job: dict[str, str], tmp_path: Path) -> None:
    api = github.client(job)
    with pytest.raises(ForgeError, match="GITHUB_EVENT_PATH"):
        github.pull_request({**job, "GITHUB_EVENT_PATH": ""}, api)
    with pytest.raises(ForgeError, match="No such file"):
        github.pull_request({**job, "GITHUB_EVENT_PATH": str(tmp_path / "none")}, api)
    with pytest.raises(NothingToCommentError):
        github.pull_request({**job, "GITHUB_EVENT_PATH": event(tmp_path, {})}, api)


# --- what the runner reads


def as_the_runner_reads(line: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"::(\w+) title=([^,]*?)::(.*)", line)
    assert match is not None
    texts = [match[2], match[3]]
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        texts = [text.replace(code, character) for text in texts]
    return match[1], texts[0], texts[1]


@given(st.text(), st.text())
def test_a_command_s_texts_come_through_and_stay_on_their_line(message: str, title: str) -> None:
    line = github.command("error", message, title)
    assert not set(line) & {"\n", "\r"}
    assert as_the_runner_reads(line) == ("error", title, message)


def read_outputs(text: str) -> dict[str, str]:
    """Read outputs as the runner does."""
    lines, found = iter(text.split("\n")), {}
    for line in lines:
        if "<<" in line:
            name, end = line.split("<<", 1)
            found[name] = "\n".join(iter(lines.__next__, end))
    return found


@given(st.text(st.characters(exclude_characters="\r")))
def test_an_output_is_what_it_was_whatever_it_imitates(text: str) -> None:
    values = {"verdict": f"{text}\nsteelyard_\nstatus<<x\n0\nx", "status": "1"}
    assert read_outputs(github.outputs(values)) == values
    assert github.outputs(values) != github.outputs(values)
