"""The fast reader accepts and refuses what Python's own does, and gives the same values."""

from __future__ import annotations

import json
import math
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model import json_text
from steelyard.model.json_text import parse, parse_anything, pieces

TEXTS = {
    "a float": b"[0.1, 1e5, 1E-7, -0.0, 2.2250738585072011e-308, 4.9e-324, 2e-324]",
    "whole numbers": b"[0, -0, 9223372036854775808, -9223372036854775809, 18446744073709551616]",
    "a number of 4,300 digits": b"1" * 4300,
    "a number of 4,301 digits": b"1" * 4301,
    "the largest floats": b"[1e308, 1.7976931348623157e308, 1e0000308, " + b"1" * 309 + b".0]",
    "too large a float": b'{"x": 1e309}',
    "too large a float, negative": b"[-1E+400]",
    "too large a float, at the end": b"1e999",
    "too large a float of many digits": b"[" + b"9" * 400 + b".5]",
    "an exponent behind many digits": b"[0." + b"0" * 700 + b"1e1009]",
    "words that look like large floats": b'{"sha256": "12e4075", "b": "1e999", "e": "e+999", "n": [1]}',
    "NaN": b"[NaN]",
    "infinities": b"[1, Infinity, -Infinity]",
    "a name twice": b'{"a": 1, "b": 2, "a": 3}',
    "half a surrogate pair": b'["\\ud800", "\\udcff", "\\ud83d\\ude00"]',
    "half a surrogate pair in bytes": b'"\xed\xb0\x80"',
    "no UTF-8": b'"\xff"',
    "control characters": b'"\x01"',
    "escapes": b'"\\u0000\\n\\/\\""',
    "a wrong escape": b'"\\x"',
    "nested": b"[" * 150 + b"]" * 150,
    "nested deeper": b"[" * 400 + b"]" * 400,
    "nested too deep": b"[" * 100_000 + b"]" * 100_000,
    "a comma too many": b"[1, ]",
    "more behind it": b"{} {}",
    "cut": b'{"a": [1, 2',
    "nothing": b"",
    "blank": b" \n",
    "a byte order mark": b"\xef\xbb\xbf[1]",
    "leading zeros": b"[01]",
    "no digits": b"[1., .5, +1]",
}


def outcome(read: Any, text: bytes) -> str:
    """Return exactly what is read, or the words of the refusal."""
    try:
        return f"read {read(text)!r}"
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.fixture
def always_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_LONG_TEXT_BYTES", 0)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_long_and_short_texts_are_read_alike(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    short = outcome(parse, text), outcome(lambda text: parse_anything(text, bytes.decode), text)
    monkeypatch.setattr(json_text, "_LONG_TEXT_BYTES", 0)
    assert (outcome(parse, text), outcome(lambda text: parse_anything(text, bytes.decode), text)) == short


@pytest.mark.parametrize("number", [b"1e400", b"1E+00400", b"9" * 310 + b".0"])
def test_a_number_beyond_all_floats_is_found_anywhere_in_a_long_text(number: bytes) -> None:
    many = [b"0.125e-3"] * (json_text._LONG_TEXT_BYTES // 10)
    for place in (0, len(many) // 2, len(many)):
        text = b"[" + b", ".join([*many[:place], number, *many[place:]]) + b"]"
        assert len(text) > json_text._LONG_TEXT_BYTES
        with pytest.raises(ValueError, match="is no number"):
            parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "1e400",
        "[-1e400, 1e400]",
        '{"a": {"b": [0.5, 1e400]}}',
        "[null, 0, 1, 1e400]",
        '[null, 0, "x", 1e400]',
        "[0, [null, [[], [-1e400]]]]",
        f"[{10**400}, 1e400]",
    ],
)
@pytest.mark.usefixtures("always_long")
def test_a_number_beyond_all_floats_is_found_wherever_it_stands(text: str) -> None:
    with pytest.raises(ValueError, match="is no number"):
        parse(text.encode())


@pytest.mark.parametrize("text", ["[1e308, 1e308]", f"[{10**400}, 0.5]", '[null, 0, "x", [1e308, 1e308]]', "[true, 1]"])
@pytest.mark.usefixtures("always_long")
def test_numbers_whose_sum_is_beyond_all_floats_are_read(text: str) -> None:
    assert parse(text.encode()) == json.loads(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values, st.booleans())
@pytest.mark.usefixtures("always_long")
def test_whatever_json_holds_is_read_as_by_python(value: Any, as_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=as_ascii).encode(errors="surrogatepass")
    assert outcome(lambda text: parse_anything(text, bytes.decode), text) == outcome(json.loads, text)
    if "NaN" not in repr(text) and "Infinity" not in repr(text):
        assert outcome(parse, text) == outcome(json.loads, text.decode(errors="surrogatepass").encode())


@given(st.binary(max_size=30))
@pytest.mark.usefixtures("always_long")
def test_what_is_no_json_is_refused_as_by_python(text: bytes) -> None:
    strictly = outcome(lambda text: json.loads(text.decode()), text)
    if "NaN" not in repr(text) and "Infinity" not in repr(text):
        assert outcome(parse, text) == strictly


def test_texts_of_other_tools_may_hold_control_characters_as_they_are() -> None:
    assert parse_anything(b'{"label": "a\tb"}', bytes.decode) == {"label": "a\tb"}


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-320, 310), st.integers(0, 10**25))
@pytest.mark.usefixtures("always_long")
def test_every_float_is_the_nearest(number: float, exponent: int, digits: int) -> None:
    assert parse(repr(number).encode()) == number
    told = f"{digits}.{digits}e{exponent}"
    if math.isfinite(float(told)):
        assert parse(told.encode()) == float(told)


# --- writing


@given(values)
def test_what_is_not_packed_is_written_as_by_python(value: Any) -> None:
    try:
        expected = json.dumps(value, allow_nan=False)
    except ValueError:
        with pytest.raises(ValueError, match="JSON"):
            b"".join(pieces(value))
    else:
        assert b"".join(pieces(value)).decode() == expected


def test_what_is_packed_is_written_as_a_list() -> None:
    whole, parts = array("q", [1, -(2**63), 2**63 - 1]), array("d", [0.1, 1e300, 5e-324, 3.0])
    fields = {"a": whole, "b": [{"c": [parts, array("d")], "d": "\udcff"}, {"c": [parts], "d": ()}], "e": {}, "f": []}
    plain = {"a": list(whole), "b": [{"c": [[*parts], []], "d": "\udcff"}, {"c": [[*parts]], "d": []}]}
    assert json.loads(b"".join(pieces(fields))) == {**plain, "e": {}, "f": []}
    assert list(json.loads(b"".join(pieces(fields)))) == list(fields)
