"""GitHub: what a job writes for its runner, the pull request that it is about, and the comment on that."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from steelyard.forges.client import Client, inside
from steelyard.forges.errors import ForgeError, NothingToCommentError

API = "https://api.github.com"
_VERSION = "2022-11-28"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_LARGEST_EVENT_BYTES = 32 << 20
# The author of what is written with the token that each job is given.
_USUAL_AUTHOR = "github-actions[bot]"
_PERMISSION = "the job needs `permissions: pull-requests: write`"
_MISSING = {
    401: "GITHUB_TOKEN is not valid, or no longer",
    403: f"{_PERMISSION}, which no job for a pull request from a fork gets (steelyard docs ci)",
    404: f"there is no such repository or pull request, or the token may not see it; {_PERMISSION}",
    422: "it does not take this comment",
}
# GraphQL's types of a rate limit error, before and now.
_RATE_LIMIT_TYPES = ("RATE_LIMITED", "RATE_LIMIT")


# --- what the runner reads


def command(name: str, message: str, title: str) -> str:
    """Return a workflow command, `::error title=...::...`, with its texts escaped."""
    return f"::{name} title={_escaped(title).replace(':', '%3A').replace(',', '%2C')}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


@contextmanager
def no_commands(log: IO[str]) -> Iterator[None]:
    """Keep the runner from taking anything that is written to the log meanwhile for a command."""
    token = secrets.token_hex(16)
    log.write(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        log.write(f"::{token}::\n")
        log.flush()


def outputs(values: Mapping[str, str]) -> str:
    """Return the text that sets a step's outputs when it is appended to their file, whatever the values are."""
    lines = []
    for name, value in values.items():
        end = f"steelyard_{secrets.token_hex(16)}"
        lines.append(f"{name}<<{end}\n{value}\n{end}\n")
    return "".join(lines)


def size(path: Path) -> int:
    """Return how large a file of the runner is so far; raises ForgeError."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise ForgeError(f"cannot write {path}: {error.strerror}") from error


def append(path: Path, text: str) -> None:
    """Append to a file of the runner; raises ForgeError."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ForgeError(f"cannot write {path}: {error.strerror}") from error


# --- the pull request


def client(environment: Mapping[str, str]) -> Client:
    """Return the API that the job's environment names; raises ForgeError if there is no token."""
    token = environment.get("GITHUB_TOKEN", "").strip()
    if not token:
        raise ForgeError("no comment without GITHUB_TOKEN in the environment of this step: pass it by `env:`")
    headers = {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": _VERSION}
    return Client("GitHub", environment.get("GITHUB_API_URL") or API, headers, (token,), _MISSING)


def pull_request(environment: Mapping[str, str], api: Client) -> tuple[str, int]:
    """Return the repository, `owner/name`, and the number of the job's pull request; raises ForgeError if it has none.

    For a `workflow_run` it is the open one whose head is the commit that ran, according to the event, which the runner
    wrote, and never to anything that the run itself has left.
    """
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(repository):
        raise ForgeError("GITHUB_REPOSITORY does not say which repository this is: no comment outside of a job")
    event = _event(environment.get("GITHUB_EVENT_PATH"))
    number = _number_in(event)
    if number is not None:
        return repository, number
    run = event.get("workflow_run")
    if not isinstance(run, dict):
        raise NothingToCommentError("the event of this job is about no pull request: no comment")
    if run.get("event") not in ("pull_request", "pull_request_target"):
        raise NothingToCommentError("the workflow that ran was not about a pull request: no comment")
    return repository, _number_of_run(run, repository, api)


def _event(path: str | None) -> dict[str, Any]:
    if not path:
        raise ForgeError("GITHUB_EVENT_PATH does not say what this job is about: no comment outside of a job")
    try:
        with Path(path).open("rb") as file:
            event = json.loads(file.read(_LARGEST_EVENT_BYTES))
    except OSError as error:
        raise ForgeError(f"cannot read the job's event, {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ForgeError(f"the job's event, {path}, is no JSON") from error
    return event if isinstance(event, dict) else {}


def _number_in(event: Mapping[str, Any]) -> int | None:
    is_of_issue = not isinstance(event.get("pull_request"), dict) and inside(event, "issue", "pull_request")
    number = inside(event, "issue" if is_of_issue else "pull_request", "number")
    return number if type(number) is int and number > 0 else None


def _number_of_run(run: Mapping[str, Any], repository: str, api: Client) -> int:
    """Return the number of the pull request of a run: for one from a fork the event names only branch and commit."""
    owner = inside(run, "head_repository", "owner", "login")
    branch, commit = run.get("head_branch"), run.get("head_sha")
    if not all(isinstance(value, str) and value for value in (owner, branch, commit)):
        raise ForgeError("the event does not tell the branch that ran, perhaps its fork is gone: no comment")
    path = f"/repos/{repository}/pulls?state=open&head={quote(f'{owner}:{branch}', safe='')}"
    pulls = [pull for pull in api.pages(path) if inside(pull, "head", "sha") == commit]
    numbers = [number for pull in pulls if type(number := pull.get("number")) is int]
    if not numbers:
        raise ForgeError(
            f"no open pull request has {str(commit)[:12]} as its head (there is a newer commit, or it was closed): no "
            "comment"
        )
    return numbers[0]


# --- its comment


class Comments:
    """The comments on the pull request of a job that were written with its token."""

    def __init__(self, environment: Mapping[str, str], api: Client) -> None:
        """Find the pull request of this job; raises ForgeError."""
        repository, number = pull_request(environment, api)
        self._api = api
        # Without GITHUB_GRAPHQL_URL on the API's own host, so that the token goes to no other; if GraphQL is not there,
        # the usual author serves.
        self._graphql = replace(api, base=environment.get("GITHUB_GRAPHQL_URL") or f"{api.base.rstrip('/')}/graphql")
        self._comments = f"/repos/{repository}/issues/comments"
        self._of_pull = f"/repos/{repository}/issues/{number}/comments"

    def own(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each; raises ForgeError."""
        author = self._author()
        for comment in self._api.pages(self._of_pull):
            if _is_by(author, inside(comment, "user")):
                number, text = comment.get("id"), comment.get("body")
                if type(number) is int and isinstance(text, str):
                    yield number, text

    def update(self, number: int, text: str) -> str:
        """Replace the text of a comment and return its address; raises ForgeError."""
        with _explaining_lock():
            return _address(self._api.ask("PATCH", f"{self._comments}/{number}", {"body": text}))

    def create(self, text: str) -> str:
        """Write a new comment and return its address; raises ForgeError."""
        with _explaining_lock():
            return _address(self._api.ask("POST", self._of_pull, {"body": text}))

    def _author(self) -> str:
        """Return the author as whom the token writes.

        For a job's token only GraphQL tells that; if it does not, it is the usual one. But not if it merely does not
        answer now: the comments of another author would be missed.
        """
        try:
            answer = self._graphql.ask("POST", "", {"query": "query { viewer { login } }"}, changes_nothing=True)
        except ForgeError as error:
            if error.status in (403, 404):
                return _USUAL_AUTHOR
            raise
        if _is_too_soon(answer):
            raise ForgeError("GitHub allows no more requests now: run the job again later")
        login = inside(answer, "data", "viewer", "login")
        return login if isinstance(login, str) and login else _USUAL_AUTHOR


@contextmanager
def _explaining_lock() -> Iterator[None]:
    """Say that a conversation is locked: GitHub's status for that is the same as for a missing permission."""
    try:
        yield
    except ForgeError as error:
        if error.status != 403 or "is locked" not in str(error):
            raise
        raise ForgeError("the pull request's conversation is locked: no comment until it is unlocked") from None


def _is_too_soon(answer: Any) -> bool:
    """Return whether GraphQL refused because of too many requests, which it says in an answer of normal status."""
    errors = inside(answer, "errors")
    return isinstance(errors, list) and any(inside(one, "type") in _RATE_LIMIT_TYPES for one in errors)


def _is_by(author: str, user: Any) -> bool:
    """Return whether a comment's user is the author; the name of an app may be told without its suffix `[bot]`."""
    login = inside(user, "login")
    return bool(login == author or (inside(user, "type") == "Bot" and login == f"{author}[bot]"))


def _address(comment: Any) -> str:
    address = inside(comment, "html_url")
    return address if isinstance(address, str) else "the pull request"
