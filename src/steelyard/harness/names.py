"""The names of benchmarks, which are the same in each process, and unique."""

from __future__ import annotations

from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

MOST_BYTES = 500
_LONGEST_VALUE = 60
# Numbers are those of numpy, too, a Decimal, a Fraction; to numpy the others are none.
_KINDS_WITH_TEXT = (("numbers", "Number"), ("numpy", "bool_"), ("numpy", "datetime64"))


class BadNameError(Exception):
    """A name that the protocol does not allow."""


def combinations(params: dict[str, tuple[Any, ...]]) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield every combination of the values, the last parameter changing fastest, with the names of its values."""
    from itertools import product

    named = [list(zip(given, _texts(name, given), strict=True)) for name, given in params.items()]
    for chosen in product(*named):
        values = {name: value for name, (value, _) in zip(params, chosen, strict=True)}
        texts = {name: text for name, (_, text) in zip(params, chosen, strict=True)}
        yield values, texts


def _texts(name: str, values: tuple[Any, ...]) -> list[str]:
    """Return the names of a parameter's values; those with the same name are named by their numbers."""
    from collections import Counter

    texts = [value_text(name, number, value) for number, value in enumerate(values)]
    counts = Counter(texts)
    return [text if counts[text] == 1 else f"{name}{number}" for number, text in enumerate(texts)]


def value_text(name: str, number: int, value: Any) -> str:
    """Return the name of a parameter's value: its text if it is plain, else the parameter's name and its number.

    The text of other objects may differ between processes, as it may contain addresses, or the order of a set.
    """
    text: Any = None
    # Checked first, as a member may also be a text or a number.
    if _is_a("enum", "Enum", value) and value.name is not None:
        text = f"{type(value).__name__}.{value.name}"
    elif isinstance(value, str):
        text = value
    elif value is None or type(value) in (int, float, bool, complex, bytes):
        text = repr(value)
    elif any(_is_a(module, kind, value) for module, kind in _KINDS_WITH_TEXT):
        text = str(value)
    else:
        text = getattr(value, "__name__", None)
    if not isinstance(text, str) or not text or not text.isprintable() or len(text) > _LONGEST_VALUE:
        return f"{name}{number}"
    return text


def _is_a(module: str, kind: str, value: Any) -> bool:
    """Return whether a value is of a kind of Python's own, which is impossible if its module is not loaded."""
    loaded = modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, kind))


def bracketed(texts: dict[str, str]) -> str:
    """Return `[n=10,kind=small]`; empty without parameters."""
    return f"[{','.join(f'{name}={text}' for name, text in texts.items())}]" if texts else ""


def check_names(names: Iterable[str]) -> None:
    """Raise BadNameError for a name that the protocol does not allow, or that appears twice."""
    seen = set()
    for name in names:
        try:
            length = len(name.encode())
        except UnicodeEncodeError:
            raise BadNameError(f"the name {name!r} is no text in UTF-8: rename the file") from None
        if not name.isprintable() or not 0 < length <= MOST_BYTES:
            raise BadNameError(
                f"a benchmark cannot be called {name[:80]!r}: a name is 1 to {MOST_BYTES} bytes without control "
                "characters"
            )
        if name in seen:
            raise BadNameError(f"two benchmarks are called {name!r}: give one of them another, with bench(name=...)")
        seen.add(name)
