from __future__ import annotations

import ssl
from urllib.error import URLError

import pytest

from steelyard.forges.client import Client
from steelyard.forges.errors import ForgeError
from tests.forges.fake import TOKEN, Asked, Forge, Reply, served
from tests.tool import PATIENCE_S


class Time:
    """A clock that advances only by pauses."""

    def __init__(self) -> None:
        self.now, self.pauses = 0.0, list[float]()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def client(forge: Forge, time: Time) -> Client:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return Client("GitHub", forge.address, headers, (TOKEN,), clock=time, sleep=time.sleep, timeout_s=PATIENCE_S)


PATH = "/repos/a/b/issues/5/comments"


def refused(client: Client, method: str = "GET", path: str = PATH) -> str:
    with pytest.raises(ForgeError) as caught:
        client.ask(method, path, {"body": "x"} if method == "POST" else None)
    said = str(caught.value)
    assert TOKEN not in said
    assert "\n" not in said
    assert len(said) < 400
    return said


def test_it_asks_as_the_documentation_has_it(client: Client, forge: Forge) -> None:
    assert list(client.pages(PATH)) == []
    (asked,) = forge.asked
    assert asked.headers["Authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["User-Agent"] == "steelyard"
    assert asked.query == {"per_page": "100", "page": "1"}


def test_all_pages_are_read_also_of_a_forge_that_gives_fewer_than_were_asked_for(client: Client, forge: Forge) -> None:
    forge.per_page = 3
    for number in range(8):
        forge.comment(f"comment {number}", {"login": "somebody"})
    assert len(list(client.pages(PATH))) == 8
    assert [asked.query["page"] for asked in forge.asked] == ["1", "2", "3"]


def test_pages_without_end_end(client: Client, forge: Forge) -> None:
    forge.always = Reply(200, [{}], {"Link": '<x>; rel="next"'})
    assert len(list(client.pages(PATH))) == 100


@pytest.mark.parametrize(
    "later",
    [
        Reply(429, {"message": "Too Many Requests"}, {"Retry-After": "7"}),
        Reply(403, {"message": "You have exceeded a secondary rate limit."}, {"Retry-After": "7"}),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_it_waits_as_long_as_it_is_asked_to(
    client: Client, forge: Forge, time: Time, later: Reply, method: str
) -> None:
    forge.first = [later, later]
    client.ask(method, PATH, {"body": "x"} if method == "POST" else None)
    assert time.pauses == [7.0, 7.0]


def test_it_does_not_wait_for_longer_than_a_minute_in_all(client: Client, forge: Forge, time: Time) -> None:
    forge.always = Reply(429, {"message": "later"}, {"Retry-After": "50"})
    assert "wait 50 s" in refused(client)
    assert time.pauses == [50.0]
    assert len(forge.asked) == 2


def test_limits_without_a_time_are_tried_again_a_few_times_only(client: Client, forge: Forge, time: Time) -> None:
    forge.always = Reply(403, {"message": "API rate limit exceeded"}, {"X-RateLimit-Remaining": "0"})
    assert "allows no more requests now" in refused(client)
    assert time.pauses == [1.0, 2.0, 4.0, 8.0]


def test_a_server_s_trouble_is_tried_again_where_nothing_can_be_done_twice(
    client: Client, forge: Forge, time: Time
) -> None:
    forge.first = [Reply(500, None), Reply(502, None, raw=b"<html>")]
    assert client.ask("GET", PATH) == []
    assert time.pauses == [1.0, 2.0]
    forge.first = [Reply(500, None)]
    assert "status 500" in refused(client, "POST")
    assert time.pauses == [1.0, 2.0]
    forge.first = [Reply(500, None), Reply(503, None)]
    client.ask("POST", PATH, {"body": "a question"}, changes_nothing=True)
    assert time.pauses == [1.0, 2.0, 1.0, 2.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_a_refusal_is_not_tried_again_and_is_in_its_words(
    client: Client, forge: Forge, time: Time, status: int
) -> None:
    forge.always = Reply(status, {"message": f"no, {TOKEN} " + "x" * 9999})
    assert f"GitHub answered with status {status}, no, ***" in refused(client)
    assert (len(forge.asked), time.pauses) == (1, [])


@pytest.mark.parametrize("raw", [b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b'"text"', b"{}", b"null"])
def test_nonsense_is_said(client: Client, forge: Forge, raw: bytes) -> None:
    forge.always = Reply(200, raw=raw)
    with pytest.raises(ForgeError, match=r"is http://127\.0\.0\.1:\d+ its API"):
        list(client.pages(PATH))


def test_an_answer_without_end_is_left(client: Client, forge: Forge) -> None:
    client.largest_bytes = 1 << 20
    forge.always = Reply(200, raw=b" " * ((1 << 20) + 1))
    assert "more than 1 MiB" in refused(client)


def test_one_that_is_cut_off_is_none(client: Client, forge: Forge, time: Time) -> None:
    cut = Reply(200, raw=b'[{"id": ', headers={"Content-Length": "5000"})
    forge.first = [cut]
    assert client.ask("GET", PATH) == []
    assert time.pauses == [1.0]
    forge.first = [cut]
    with pytest.raises(ForgeError, match="its answer was cut off") as caught:
        client.ask("POST", PATH, {"body": "x"})
    assert caught.value.is_passing


def test_none_at_all_is_said(client: Client, forge: Forge) -> None:
    forge.always = Reply(0)
    assert "did not answer" in refused(client)
    assert len(forge.asked) == 5
    forge.asked.clear()
    assert "did not answer" in refused(client, "POST")
    assert len(forge.asked) == 1


def test_a_forge_that_is_not_there_is_said(time: Time) -> None:
    with served(Forge()) as gone:
        address = gone.address
    client = Client("GitLab", address, {}, (), clock=time, sleep=time.sleep, timeout_s=PATIENCE_S)
    assert "GitLab did not answer" in refused(client)


def test_a_certificate_that_is_not_trusted_is_asked_for_no_more_and_is_told_the_way_out(
    time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    untrusted = ssl.SSLCertVerificationError(1, "certificate verify failed")
    untrusted.verify_message = "self-signed certificate"
    client = Client("GitLab", "https://gitlab", {}, (), clock=time, sleep=time.sleep)

    def refuse(*_: object, **__: object) -> None:
        raise URLError(untrusted)

    monkeypatch.setattr(client._opener, "open", refuse)
    begun = time.now
    assert refused(client) == (
        "GitLab's certificate is not trusted here (self-signed certificate): have SSL_CERT_FILE name a file "
        "with that of its issuer"
    )
    assert time.now == begun


def test_a_client_whose_time_is_up_asks_no_more(client: Client, forge: Forge, time: Time) -> None:
    time.now = 61.0
    assert "time" in refused(client)
    assert forge.asked == []


def test_an_answer_that_never_ends_is_left_when_the_time_is_up(client: Client, forge: Forge, time: Time) -> None:
    def slowly(_: Asked) -> Reply:
        time.now += 100
        return Reply(200, [])

    forge.first = [slowly]
    assert "its answer took too long" in refused(client)
    assert len(forge.asked) == 1


# --- the token


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_redirect_takes_the_token_elsewhere(client: Client, forge: Forge, status: int, method: str) -> None:
    with served(Forge()) as other:
        forge.always = Reply(status, None, {"Location": f"{other.address}{PATH}"})
        assert "the token goes to no other host" in refused(client, method)
        assert other.asked == []


@pytest.mark.parametrize(
    "place", ["", "http://[", "http://x:99999/", "//elsewhere/", "\\\\elsewhere", "file:///etc/passwd"]
)
def test_a_redirect_to_nonsense_is_not_followed(client: Client, forge: Forge, place: str) -> None:
    forge.always = Reply(301, None, {"Location": place})
    assert "redirects" in refused(client)


def test_a_repository_that_moved_is_followed_on_the_same_host(client: Client, forge: Forge) -> None:
    def moved(_: Asked) -> Reply:
        return Reply(301, {"message": "Moved Permanently"}, {"Location": f"{forge.address}{PATH}"})

    forge.first = [moved]
    assert client.ask("POST", "/repos/old/name/issues/5/comments", {"body": "text"})["body"] == "text"
    assert forge.wrote() == [("POST", "/repos/old/name/issues/5/comments"), ("POST", PATH)]
    forge.always = Reply(307, None, {"Location": PATH})
    assert "in a circle" in refused(client)


def test_a_damaged_token_is_said_without_it() -> None:
    client = Client("GitHub", "http://127.0.0.1:1", {"Authorization": "Bearer a\nb"}, ("a\nb",))
    with pytest.raises(ForgeError, match="token or the API's address is damaged"):
        client.ask("GET", PATH)


def test_the_token_is_in_no_representation(client: Client) -> None:
    assert TOKEN not in repr(client)


@pytest.mark.parametrize(
    "base", ["", "github.com", "file:///etc/passwd", "ftp://x", "http://", "http://[", "http://x:99999"]
)
def test_what_is_no_address_is_refused(base: str) -> None:
    with pytest.raises(ForgeError, match="is no URL"):
        Client("GitHub", base, {}, ())
