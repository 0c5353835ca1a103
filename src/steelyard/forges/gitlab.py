"""GitLab: the merge request of a pipeline, and the note on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.forges.client import Client, inside
from steelyard.forges.errors import ForgeError, NothingToCommentError

_MISSING = {
    401: "GITLAB_TOKEN is not valid, or no longer",
    403: "GITLAB_TOKEN needs the scope `api` and the role Reporter or more",
    404: "there is no such merge request, or GITLAB_TOKEN may not see it: it needs the scope `api`",
}


def client(environment: Mapping[str, str]) -> Client:
    """Return the API that the job's environment names; raises ForgeError if there is no token."""
    token = environment.get("GITLAB_TOKEN", "").strip()
    if not token:
        raise ForgeError(
            "no note without GITLAB_TOKEN, a project's access token with the scope `api`, among the job's variables: "
            "its own CI_JOB_TOKEN cannot write notes"
        )
    base = environment.get("CI_API_V4_URL", "")
    if not base:
        raise ForgeError("CI_API_V4_URL does not say where GitLab is: no note outside of a pipeline")
    return Client("GitLab", base, {"PRIVATE-TOKEN": token}, (token,), _MISSING)


class Notes:
    """The notes on the merge request of a pipeline that were written with the token."""

    def __init__(self, environment: Mapping[str, str], api: Client) -> None:
        """Find this pipeline's merge request, even if the pipeline runs in a fork; raises ForgeError."""
        project = environment.get("CI_MERGE_REQUEST_PROJECT_ID") or environment.get("CI_PROJECT_ID", "")
        merge_request = environment.get("CI_MERGE_REQUEST_IID", "")
        if not merge_request:
            raise NothingToCommentError(
                "this pipeline is of no merge request (there is no CI_MERGE_REQUEST_IID): no note; have the job run "
                'where `$CI_PIPELINE_SOURCE == "merge_request_event"`'
            )
        if not (_is_number(project) and _is_number(merge_request)):
            raise ForgeError("CI_PROJECT_ID and CI_MERGE_REQUEST_IID have to be numbers: no note")
        self._api = api
        self._notes = f"/projects/{project}/merge_requests/{merge_request}/notes"

    def own(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each; raises ForgeError."""
        author = inside(self._api.ask("GET", "/user"), "id")
        if type(author) is not int:
            raise ForgeError("GitLab does not tell whose GITLAB_TOKEN is: is CI_API_V4_URL its API?")
        for note in self._api.pages(f"{self._notes}?sort=asc&order_by=created_at"):
            if inside(note, "author", "id") == author and not note.get("system"):
                number, text = note.get("id"), note.get("body")
                if type(number) is int and isinstance(text, str):
                    yield number, text

    def update(self, number: int, text: str) -> str:
        """Replace the text of a note; return where it is, in words. Raises ForgeError."""
        self._api.ask("PUT", f"{self._notes}/{number}", {"body": text})
        return "the merge request"

    def create(self, text: str) -> str:
        """Write a new note; return where it is, in words. Raises ForgeError."""
        self._api.ask("POST", self._notes, {"body": text})
        return "the merge request"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
