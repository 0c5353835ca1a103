"""The parser's messages about words that it cannot take, in our own words."""

from __future__ import annotations

import re

RESUME_LACKS_VALUE = "--resume needs RECORD, as in --resume 20261126T072314 (steelyard list shows them)"

# The parser's sentences differ a little between its versions.
_REWORDINGS = (
    (r"Missing argument '(.+)'", r"\1 is missing"),
    (r"Missing option '(--[\w-]+)'.*", r"\1 is missing"),
    (r"Got unexpected extra argument\S* \((.*)\)", r"there are too many words (\1)"),
    (r"Option '--resume' requires an argument", RESUME_LACKS_VALUE),
    (r"Option '(.+)' requires an argument", r"\1 lacks its value"),
    (r"Option '(.+)' does not take a value", r"\1 takes no value"),
    (r"No such (.+?)\.? (?:Did you mean (.+)\?|\(Possible options: (.+)\))", r"no such \1 (did you mean \2\3?)"),
)


def in_our_words(message: str) -> str:
    """Return the message in our words, without its full stop."""
    sentence = message.strip().removesuffix(".")
    for pattern, rewording in _REWORDINGS:
        match = re.fullmatch(pattern, sentence, re.DOTALL)
        if match is not None:
            return match.expand(rewording)
    return f"{sentence[:1].lower()}{sentence[1:]}"
