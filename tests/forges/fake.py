"""What a comment needs of GitHub's and GitLab's APIs, as they are documented, served by a thread of this process."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"
BOT = {"login": "github-actions[bot]", "type": "Bot", "id": 41898282}


@dataclass(frozen=True)
class Asked:
    """A request that arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    data: Any


@dataclass(frozen=True)
class Reply:
    """The answer to a request; none at all if the status is 0."""

    status: int = 200
    data: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class Forge:
    """The state of a forge, and the requests that it got."""

    address: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    first: list[Reply | Callable[[Asked], Reply | None]] = field(default_factory=list)
    """Answers to the next requests, whatever they are; a function that returns None leaves its request to the forge."""
    always: Reply | None = None
    per_page: int = 100

    @property
    def github(self) -> dict[str, str]:
        """The environment of a job on GitHub."""
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.address,
            "GITHUB_GRAPHQL_URL": f"{self.address}/graphql",
            "GITHUB_REPOSITORY": "a/b",
            "GITHUB_TOKEN": TOKEN,
        }

    @property
    def gitlab(self) -> dict[str, str]:
        """The environment of a job on GitLab."""
        return {
            "GITLAB_CI": "true",
            "CI_API_V4_URL": f"{self.address}/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "3",
            "GITLAB_TOKEN": TOKEN,
        }

    def comment(self, text: str, user: dict[str, Any]) -> None:
        """Add a comment of this user's."""
        number = len(self.comments) + 1
        self.comments.append({"id": number, "body": text, "user": user, "author": user, "system": False})

    def wrote(self) -> list[tuple[str, str]]:
        """Return (method, path) of each request that changed something."""
        return [
            (asked.method, asked.path) for asked in self.asked if asked.method != "GET" and "graphql" not in asked.path
        ]

    # --- how it answers

    def answer(self, asked: Asked) -> Reply:
        """Answer a request as scripted, or else as the API is documented."""
        self.asked.append(asked)
        if self.first:
            scripted = self.first.pop(0)
            reply = scripted if isinstance(scripted, Reply) else scripted(asked)
            if reply is not None:
                return reply
        if self.always is not None:
            return self.always
        if TOKEN not in (
            asked.headers.get("Authorization", "").removeprefix("Bearer "),
            asked.headers.get("Private-Token"),
        ):
            return Reply(401, {"message": "Bad credentials"})
        return self._by_path(asked)

    def _by_path(self, asked: Asked) -> Reply:
        if asked.path == "/graphql":
            return Reply(200, {"data": {"viewer": {"login": BOT["login"]}}})
        if asked.path == "/api/v4/user":
            return Reply(200, {"id": BOT["id"], "username": "project_7_bot"})
        if asked.path == "/repos/a/b/pulls":
            return Reply(200, [pull for pull in self.pulls if pull["head"]["label"] == asked.query["head"]])
        of_pull = re.fullmatch(r"/repos/a/b/issues/\d+/comments|/api/v4/projects/7/merge_requests/3/notes", asked.path)
        if of_pull and asked.method == "GET":
            return self._page(asked)
        if of_pull and asked.method == "POST":
            self.comment(asked.data["body"], BOT)
            return Reply(201, {**self.comments[-1], "html_url": "https://github.com/a/b/pull/5#issuecomment-1"})
        return self._update(asked)

    def _update(self, asked: Asked) -> Reply:
        one = re.fullmatch(
            r"/repos/a/b/issues/comments/(\d+)|/api/v4/projects/7/merge_requests/3/notes/(\d+)", asked.path
        )
        if one is None or asked.method not in ("PATCH", "PUT"):
            return Reply(404, {"message": "Not Found"})
        comment = self.comments[int(one[1] or one[2]) - 1]
        comment["body"] = asked.data["body"]
        return Reply(200, comment)

    def _page(self, asked: Asked) -> Reply:
        size, page = min(self.per_page, int(asked.query.get("per_page", 30))), int(asked.query.get("page", 1))
        found = self.comments[(page - 1) * size : page * size]
        more = page * size < len(self.comments)
        return Reply(200, found, {"Link": f'<{self.address}{asked.path}?page={page + 1}>; rel="next"'} if more else {})


@contextmanager
def served(forge: Forge) -> Iterator[Forge]:
    """Serve the forge at an address of this machine, until the end of the context."""

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            size = int(self.headers.get("Content-Length") or 0)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            data = json.loads(self.rfile.read(size)) if size else None
            headers = {name.title(): value for name, value in self.headers.items()}
            reply = forge.answer(Asked(self.command, parts.path, query, headers, data))
            body = json.dumps(reply.data).encode() if reply.raw is None else reply.raw
            if reply.status == 0:
                return  # without an answer
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_PUT = handle_any  # noqa: N815 - as http.server looks for them

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    forge.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
