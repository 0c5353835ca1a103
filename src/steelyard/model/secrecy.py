"""Which environment variables look like secrets, by their names or values, as scanners for leaked secrets know them.

A name that merely looks like one costs little: its value has to be given again to carry a weighing on.
"""

from __future__ import annotations

import re

# Anywhere in a name, written together or apart.
_PARTS = re.compile(
    r"token(?!iz)|secret|passw|passphrase|sshpass|credential|cookie|api_?key|access_?key|private_?key|connection_?string"
)
# Only as whole words: keyboard, author, compass and tokenizer are none. PWD alone is the working directory.
_WORDS = frozenset(
    "key keys pass pwd pw pat auth oauth authorization bearer jwt otp sas creds session dsn".split()  # noqa: SIM905
)
_NO_SECRETS = frozenset({"PWD", "OLDPWD"})
_BETWEEN_WORDS = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VALUES = re.compile(
    r"://[^/?#\s@:]*:[^/?#\s@]+@"  # a password in a URL
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|(?<![\w-])eyJ[\w-]+\.eyJ"  # a JSON web token
    r"|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|hf_|npm_|pypi-|[sr]k_live_|AIza)[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|[?&;](?:\w*token|\w*secret|passw\w*|\w*api_?key|sig|signature)=[^&;\s]",
    re.IGNORECASE,
)


def is_secret(name: str, value: str = "") -> bool:
    """Whether a variable looks as if nobody else should know its value."""
    words = {word.lower() for word in _BETWEEN_WORDS.split(name)}
    by_name = name not in _NO_SECRETS and (_PARTS.search(name.lower()) is not None or not words.isdisjoint(_WORDS))
    return by_name or _VALUES.search(value) is not None
