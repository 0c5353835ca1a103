from __future__ import annotations

import time

import pytest

from steelyard.model.secrecy import is_secret, without_secrets
from steelyard.model.settings import Settings

SECRET = (
    "TOKEN GITHUB_TOKEN GITHUBTOKEN accessToken GH_PAT SECRET AWS_SECRET_ACCESS_KEY MYSECRET PASSWORD PGPASSWORD "
    "PASSWD DB_PASSWD DB_PASS SSHPASS GPG_PASSPHRASE DB_PWD KEY API_KEY APIKEY apiKey x-api-key SSH_PRIVATE_KEY "
    "CREDENTIAL GOOGLE_CREDENTIALS AUTH BASIC_AUTH HTTP_COOKIE COOKIES SESSION session_id SENTRY_DSN DSN JWT "
    "AZURE_STORAGE_CONNECTION_STRING AZURE_SAS BEARER KEY1 OAUTH2 AUTHORIZATION"
)
HARMLESS = (
    "PATH HOME PWD OLDPWD LANG LC_ALL TMPDIR KEYBOARD MONKEY HOTKEYS_ON AUTHOR GIT_AUTHOR_NAME COMPASS BYPASS "
    "TOKENIZERS_PARALLELISM OMP_NUM_THREADS LD_PRELOAD PYTHONHASHSEED MALLOC_ARENA_MAX SASL_MODE DISPLAY"
)
SECRET_VALUES = [
    "postgres://me:hunter2@db.example.org:5432/data",
    "redis://:hunter2@cache",
    "https://example.org/data?access_token=abc",
    "https://example.org/data?x=1&sig=abc",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "ghp_" + "a1B2" * 9,
    "AKIAIOSFODNN7EXAMPLE",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_",
]
HARMLESS_VALUES = [
    "",
    "1",
    "/usr/bin:/bin",
    "http://proxy.example.org:3128",
    "https://example.org:8080/a@b",
    "me@example.org",
    "a:b@c",
    "--token-count=3",
]


@pytest.mark.parametrize("name", SECRET.split())
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", HARMLESS.split())
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize("value", SECRET_VALUES)
def test_values_that_are_secrets(value: str) -> None:
    assert is_secret("X", value)


@pytest.mark.parametrize("value", HARMLESS_VALUES)
def test_values_that_are_no_secrets(value: str) -> None:
    assert not is_secret("X", value)


@pytest.mark.parametrize(
    "piece", ["://", "://:", ":", "a:@", "eyJ-", "eyJ.", "-----BEGIN ", "&token", "&a", "sk-", "a_", "aA"]
)
def test_no_value_takes_long(piece: str) -> None:
    """Somebody else's record may hold any value; a quadratic search would take many minutes."""
    value = piece * (250_000 // len(piece))
    started = time.process_time()
    is_secret(value[:100_000], value)
    assert time.process_time() - started < 20


@pytest.mark.parametrize("mode", ["json", "python"])
def test_settings_tell_no_secret_whichever_way_they_are_written(mode: str) -> None:
    settings = Settings(variables={"API_KEY": "hunter2", "X": "1", "URL": "http://me:hunter2@h", "KNOWN_KEY": None})
    written = settings.model_dump(mode=mode)
    assert written["variables"] == {"API_KEY": None, "X": "1", "URL": None, "KNOWN_KEY": None}
    assert "hunter2" not in settings.model_dump_json()
    assert Settings(**written).variables == written["variables"]


def test_what_a_program_says_is_told_without_its_secrets() -> None:
    environment = [b"PGPASSWORD=hunter2", b"DB=pg://me:s3same@h/db", b"HOME=/home/me", b"A_KEY=on", b"TOKEN="]
    said = "pg://me:s3same@h/db: no; is hunter2 on s3same right for /home/me?"
    assert without_secrets(said, environment) == "***: no; is *** on *** right for /home/me?"
