"""A forge's API over HTTP: bounded in time, size and tries. The token goes only to that host, and into no message."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from steelyard.forges.errors import ForgeError

TIMEOUT_S: Final = 10.0
"""The longest wait for a connection, or for more of an answer."""
TOTAL_S: Final = 60.0
"""The longest that all requests of a client may take together, including pauses."""
LARGEST_BYTES: Final = 32 << 20
"""Enough for a page of 100 comments of 64 KiB each, whose characters may be escaped."""
_TRIES, _REDIRECTS, _MOST_PAGES, _PER_PAGE = 5, 3, 100, 100
_FIRST_PAUSE_S = 1.0
_CHUNK_BYTES = 1 << 16
_LONGEST_QUOTE = 200


@dataclass(frozen=True)
class Answer:
    """An answer: its status, headers and body."""

    status: int
    headers: Message
    body: bytes


class _EveryStatusAnswers(urllib.request.HTTPErrorProcessor):
    """Makes every status an answer, and follows no redirect: urllib would send the token along wherever it leads."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:  # noqa: ARG002 - as given
        """Return the answer as it is."""
        return response

    https_response = http_response


@dataclass
class Client:
    """Requests to one API. `headers` contain the `secrets`, which no message shows."""

    forge: str
    base: str
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    missing: Mapping[int, str] = field(default_factory=dict)
    """What is missing where it is refused, by the status of the answer."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    timeout_s: float = TIMEOUT_S
    total_s: float = TOTAL_S
    largest_bytes: int = LARGEST_BYTES
    ends_s: float | None = None
    """When the time of all requests is up, by the clock; a copy shares this with its original."""

    def __post_init__(self) -> None:
        scheme, host, _ = _origin(self.base)
        if scheme not in ("http", "https") or not host:
            raise ForgeError(f"the address of {self.forge}'s API is no URL: {self._quoted(self.base)!r}")
        self.ends_s = self.clock() + self.total_s if self.ends_s is None else self.ends_s
        # Uses the proxies of the environment, as usual.
        self._opener = urllib.request.build_opener(_EveryStatusAnswers)

    def ask(self, method: str, path: str, data: Any = None, *, changes_nothing: bool = False) -> Any:
        """Send a request and return its answer, parsed as JSON; raises ForgeError."""
        return self._read(self._send(method, path, data, changes_nothing=changes_nothing))

    def pages(self, path: str) -> Iterator[Any]:
        """Yield the items of a list, page by page; raises ForgeError."""
        for page in range(1, _MOST_PAGES + 1):
            answer = self._send("GET", f"{path}{'&' if '?' in path else '?'}per_page={_PER_PAGE}&page={page}")
            items = self._read(answer)
            if not isinstance(items, list):
                raise ForgeError(f"{self.forge} answered something else than a list: is {self._shown_base()} its API?")
            yield from items
            if 'rel="next"' not in (answer.headers.get("Link") or ""):
                return

    def _send(self, method: str, path: str, data: Any = None, *, changes_nothing: bool = False) -> Answer:
        """Send a request, repeatedly if need be, and return its answer; raises ForgeError if there is only an error.

        A request that may have changed something is not sent twice, unless it was refused for coming too soon. GET
        changes nothing; of other methods `changes_nothing` says that.
        """
        may_repeat = changes_nothing or method == "GET"
        pause_s = _FIRST_PAUSE_S
        for attempt in range(1, _TRIES + 1):
            try:
                answer = self._follow_redirects(method, self.base.rstrip("/") + path, data)
            except _UnansweredError as error:
                if not may_repeat or attempt == _TRIES:
                    raise ForgeError(
                        f"{self.forge} did not answer ({self._quoted(str(error))})", is_passing=not may_repeat
                    ) from None
                self._pause(pause_s, str(error))
            else:
                if answer.status < 300:
                    return answer
                self._raise_unless_worth_retrying(answer, may_repeat=may_repeat, last=attempt == _TRIES)
                wanted_s = _wanted_pause(answer)
                why = f"status {answer.status}" + (f", asks to wait {wanted_s:.0f} s" if wanted_s else "")
                self._pause(wanted_s or pause_s, why)
            pause_s *= 2
        raise AssertionError

    # --- one request

    def _follow_redirects(self, method: str, url: str, data: Any) -> Answer:
        for _ in range(_REDIRECTS + 1):
            answer = self._request(method, url, data)
            if answer.status not in (301, 302, 307, 308):
                return answer
            url = self._redirect_target(url, answer.headers.get("Location") or "")
        raise ForgeError(f"{self.forge} redirects in a circle: is {self._shown_base()} its API?")

    def _redirect_target(self, url: str, wanted: str) -> str:
        """Return where a redirect leads; raises ForgeError if that is another host."""
        try:
            target = urljoin(url, wanted)
        except ValueError:
            target = ""
        if _origin(target) != _origin(url):
            raise ForgeError(
                f"{self.forge} redirects to {self._quoted(wanted)!r}, and the token goes to no other host than that of "
                f"{self._shown_base()}: set the API's address right"
            )
        return target

    def _request(self, method: str, url: str, data: Any) -> Answer:
        body = None if data is None else json.dumps(data).encode()
        headers = {"User-Agent": "steelyard", "Accept": "application/json", **self.headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, body, headers, method=method)  # noqa: S310 - http(s), by __post_init__
        timeout_s = min(self.timeout_s, self._left_s())
        if timeout_s <= 0:
            raise _UnansweredError("the time for it was up")
        try:
            with closing(self._opener.open(request, timeout=timeout_s)) as response:
                return Answer(response.status, response.headers, self._body(response))
        except (OSError, http.client.HTTPException) as error:
            if isinstance(reason := getattr(error, "reason", error), ssl.SSLCertVerificationError):
                raise ForgeError(
                    f"{self.forge}'s certificate is not trusted here ({reason.verify_message}): have SSL_CERT_FILE "
                    "name a file with that of its issuer"
                ) from None
            raise _UnansweredError(_reason(error)) from None
        except ValueError as error:  # an invalid header: the token contains a line break
            raise ForgeError(f"{self.forge} cannot be asked: the token or the API's address is damaged") from error

    def _body(self, response: Any) -> bytes:
        """Return the body; raises ForgeError if it is too large, `_UnansweredError` if it is too slow or incomplete."""
        parts, size, announced = [], 0, response.length or 0
        while part := response.read1(_CHUNK_BYTES):
            parts.append(part)
            size += len(part)
            if size > self.largest_bytes:
                raise ForgeError(
                    f"{self.forge} answered more than {self.largest_bytes >> 20} MiB: nothing is read of it"
                )
            if self._left_s() <= 0:
                raise _UnansweredError("its answer took too long")
        if size < announced:  # http.client notices that only if everything is read at once
            raise _UnansweredError("its answer was cut off")
        return b"".join(parts)

    # --- what is done about it

    def _raise_unless_worth_retrying(self, answer: Answer, *, may_repeat: bool, last: bool) -> None:
        too_soon = _is_too_soon(answer)
        passing = answer.status >= 500
        if not last and (too_soon or (passing and may_repeat)):
            return
        # Without a status, as that of a request that came too soon would be taken for a missing permission.
        status = None if too_soon else answer.status
        raise ForgeError(self._refusal(answer, too_soon=too_soon), status=status, is_passing=passing and not may_repeat)

    def _pause(self, wanted_s: float, why: str) -> None:
        if wanted_s >= self._left_s():
            raise ForgeError(
                f"{self.forge} cannot answer in the {self.total_s:.0f} s that it has ({self._quoted(why)}): run the "
                "job again later"
            )
        self.sleep(wanted_s)

    def _left_s(self) -> float:
        return (self.ends_s or 0.0) - self.clock()

    def _read(self, answer: Answer) -> Any:
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            raise ForgeError(f"{self.forge} answered no JSON: is {self._shown_base()} its API?") from None

    def _refusal(self, answer: Answer, *, too_soon: bool) -> str:
        message = self._message(answer)
        if too_soon:
            return (
                f"{self.forge} allows no more requests now (status {answer.status}{message}): run the job again later"
            )
        hint = f": {self.missing[answer.status]}" if answer.status in self.missing else ""
        return f"{self.forge} answered with status {answer.status}{message}{hint}"

    def _message(self, answer: Answer) -> str:
        """Return what the API says about an error, if anything."""
        try:
            fields = json.loads(answer.body)
        except (ValueError, RecursionError):
            return ""
        message = inside(fields, "message") or inside(fields, "error")
        return f", {self._quoted(message)}" if isinstance(message, str) else ""

    def _shown_base(self) -> str:
        parts = urlsplit(self.base)
        return self._quoted(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")

    def _quoted(self, text: str) -> str:
        """Return a text from outside, shortened and without secrets."""
        for secret in self.secrets:
            text = text.replace(secret, "***") if secret else text
        return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


def inside(value: Any, *names: str) -> Any:
    """Return what an answer has under these names, each within the one before; None where it has no such."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


class _UnansweredError(Exception):
    """There was no answer, or not all of it."""


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    if isinstance(reason, TimeoutError):
        return "its time was up"
    return str(reason) or type(reason).__name__


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port; nothing for what is no URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port
    except ValueError:
        return "", None, None


def _is_too_soon(answer: Answer) -> bool:
    """Return whether a request was refused because there were too many: GitHub says so by 403 as well."""
    spent = answer.headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in answer.headers
    return answer.status == 429 or (answer.status == 403 and (spent or b"secondary rate limit" in answer.body))


def _wanted_pause(answer: Answer) -> float | None:
    """Return the seconds that an answer asks to wait; a date, or anything else, counts as none."""
    header = answer.headers.get("Retry-After") or ""
    return float(header) if header.strip().isascii() and header.strip().isdigit() and len(header) < 10 else None
