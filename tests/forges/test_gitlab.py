from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from steelyard.forges import gitlab, sticky
from steelyard.forges.errors import ForgeError, NothingToCommentError
from tests.forges.fake import BOT, TOKEN, Forge, Reply


def put(job: Mapping[str, str], text: str) -> str:
    return sticky.put(gitlab.Notes(job, gitlab.client(job)), "Steelyard", text)


def test_a_note_is_written_once_and_then_over_itself(forge: Forge) -> None:
    forge.per_page = 2
    for number in range(3):
        forge.comment(f"{sticky.marker('Steelyard')} copied {number}", {"id": 1})
    put(forge.gitlab, "first")
    put(forge.gitlab, "second")
    assert [comment["body"].endswith("second") for comment in forge.comments] == [False, False, False, True]
    notes = "/api/v4/projects/7/merge_requests/3/notes"
    assert forge.wrote() == [("POST", notes), ("PUT", f"{notes}/4")]
    assert forge.asked[0].headers["Private-Token"] == TOKEN
    assert forge.comments[-1]["author"] == BOT


def test_in_a_fork_s_pipeline_it_is_on_the_project_that_is_merged_into(forge: Forge) -> None:
    put({**forge.gitlab, "CI_PROJECT_ID": "99", "CI_MERGE_REQUEST_PROJECT_ID": "7"}, "first")
    assert len(forge.comments) == 1


@pytest.mark.parametrize(
    ("status", "missing"), [(401, "is not valid"), (403, "the scope `api`"), (404, "no such merge request")]
)
def test_what_is_missing_is_said(forge: Forge, status: int, missing: str) -> None:
    forge.always = Reply(status, {"message": f"{status} {TOKEN}"})
    with pytest.raises(ForgeError, match=re.escape(missing)) as caught:
        put(forge.gitlab, "text")
    assert TOKEN not in str(caught.value)


def test_another_s_answer_is_said(forge: Forge) -> None:
    forge.always = Reply(200, {"message": "hello"})
    with pytest.raises(ForgeError, match="is CI_API_V4_URL its API"):
        put(forge.gitlab, "text")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"GITLAB_TOKEN": "", "CI_JOB_TOKEN": "x"}, "CI_JOB_TOKEN cannot write notes"),
        ({"CI_API_V4_URL": ""}, "CI_API_V4_URL"),
        ({"CI_PROJECT_ID": "7/../8"}, "have to be numbers"),
        ({"CI_MERGE_REQUEST_IID": "3?x"}, "have to be numbers"),
    ],
)
def test_what_does_not_say_where_is_refused(forge: Forge, changed: dict[str, str], why: str) -> None:
    with pytest.raises(ForgeError, match=why):
        put({**forge.gitlab, **changed}, "text")
    assert forge.asked == []


def test_a_pipeline_of_a_branch_has_no_merge_request(forge: Forge) -> None:
    with pytest.raises(NothingToCommentError, match="merge_request_event"):
        put({**forge.gitlab, "CI_MERGE_REQUEST_IID": ""}, "text")
