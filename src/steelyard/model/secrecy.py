"""Which environment variables look like secrets, by their names or values, with the patterns of secret scanners.

A false positive costs little: the value has to be given again to carry a weighing on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Matched anywhere in a name, with or without an underscore.
_PARTS = re.compile(
    r"token(?!iz)|secret|passw|passphrase|sshpass|credential|cookie|api_?key|access_?key|private_?key|connection_?string"
)
# Matched only as whole words, unlike in keyboard, author or compass. PWD alone is the working directory.
_WORDS = frozenset(
    "key keys pass pwd pw pat auth oauth authorization bearer jwt otp sas creds session dsn".split()  # noqa: SIM905
)
_NO_SECRETS = frozenset({"PWD", "OLDPWD"})
_BETWEEN_WORDS = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PASSWORD_IN_URL = re.compile(r"://[^/?#\s@:]*:([^/?#\s@]+)@")
_VALUES = re.compile(
    rf"{_PASSWORD_IN_URL.pattern}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|(?<![\w-])eyJ[\w-]+\.eyJ"  # a JSON web token
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|hf_|npm_|pypi-|[sr]k_live_|AIza)[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|[?&;](?:\w*token|\w*secret|passw\w*|\w*api_?key|sig|signature)=[^&;\s]",
    re.IGNORECASE,
)
# The fewest characters of a value that is hidden: shorter ones, such as 1 or on, occur in many words.
_SHORTEST = 4


def is_secret(name: str, value: str = "") -> bool:
    """Whether a variable looks like a secret, by its name or its value."""
    words = {word.lower() for word in _BETWEEN_WORDS.split(name)}
    by_name = name not in _NO_SECRETS and (_PARTS.search(name.lower()) is not None or not words.isdisjoint(_WORDS))
    return by_name or _VALUES.search(value) is not None


def without_secrets(text: str, environment: Iterable[bytes]) -> str:
    """Hide in a program's output the values of those of its variables (`NAME=VALUE` each) that look like secrets."""
    for variable in environment:
        name, _, value = variable.decode(errors="replace").partition("=")
        if is_secret(name, value):
            for secret in (value, *_PASSWORD_IN_URL.findall(value)):
                text = text.replace(secret, "***") if len(secret) >= _SHORTEST else text
    return text
