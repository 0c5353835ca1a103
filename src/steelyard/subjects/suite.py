"""Several benchmarks in one weighing: every candidate, with every combination of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation

from steelyard.model.errors import UsageError
from steelyard.model.placeholders import combinations, describe_values
from steelyard.model.subject import Benchmark, Subject

# More would never finish; a scan that makes more has a wrong step.
MOST_BENCHMARKS = 10_000

# Decimals are exact to 28 digits.
_MOST_DIGITS = 25

CONTROL_NAME = "control"
STATEMENT_NAME = "timeit"
"""The Python SDK's name for a statement; no user has chosen it, so subjects are told apart by their statements."""


def parameter_list(name: str, values: str) -> tuple[str, list[str]]:
    """Read `--parameter-list NAME A,B,C`; a comma within a value is written with a backslash before it."""
    return parameter_values(name, [one.replace("\0", ",") for one in values.replace("\\,", "\0").split(",")])


def parameter_values(name: str, values: list[str]) -> tuple[str, list[str]]:
    """Return a parameter with a list of values; raises UsageError for a repeated value or an invalid name."""
    if len(set(values)) < len(values):
        raise UsageError(f"--parameter-list {name} {','.join(values)!r} names a value twice: each may stand once")
    return _checked_name("--parameter-list", name), values


def parameter_scan(name: str, first: str, last: str, step: str) -> tuple[str, list[str]]:
    """Read `--parameter-scan NAME FROM TO STEP`: FROM, FROM + STEP, ... up to TO, exact in decimals."""
    option = f"--parameter-scan {name} {first} {last} {step}"
    try:
        low, high, width = Decimal(first), Decimal(last), Decimal(step)
    except InvalidOperation:
        raise UsageError(f"{option}: FROM, TO and STEP have to be numbers") from None
    finite = all(number.is_finite() for number in (low, high, width))
    if not finite or width == 0 or (low != high and (low < high) != (width > 0)):
        raise UsageError(f"{option} never arrives: STEP has to lead from FROM to TO")
    if any(_digits(number) > _MOST_DIGITS for number in (low, high, width)):
        raise UsageError(f"{option}: FROM, TO and STEP may have {_MOST_DIGITS} digits at most")
    if (high - low) / width >= MOST_BENCHMARKS:
        raise UsageError(f"{option} makes more than {MOST_BENCHMARKS} benchmarks: choose a larger step")
    count = int((high - low) / width) + 1
    return _checked_name("--parameter-scan", name), [f"{low + number * width:f}" for number in range(count)]


def check_names(names: Sequence[str], commands: Sequence[str]) -> None:
    """Raise UsageError for a parameter that is given twice or used in no command."""
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the parameter {name!r} is given twice: give all its values at once")
        if not any(f"{{{name}}}" in command for command in commands):
            raise UsageError(f"the parameter {name!r} is used in no command: write {{{name}}} where it goes")


def benchmarks_of(
    subjects: list[Subject],
    parameters: Iterable[tuple[str, list[str]]],
    *,
    control: bool,
    around: Sequence[str] = (),
) -> list[Benchmark]:
    """Return a benchmark per candidate and combination of parameters, then the control if it is wanted.

    The commands `around` launches (hooks) may use parameters too. Raises UsageError as `check_names` does.
    """
    given = list(parameters)
    names = [name for name, _ in given]
    check_names(names, [*(subject.command for subject in subjects), *around])
    found = list(combinations(given))
    candidates = range(1, len(subjects)) if len(subjects) > 1 else range(1)
    if len(found) * len(candidates) > MOST_BENCHMARKS:
        raise UsageError(f"the parameters make more than {MOST_BENCHMARKS} benchmarks: give fewer values")
    needs_names = len(candidates) > 1
    benchmarks = [
        Benchmark(name=_name(subjects[candidate], params, needs_name=needs_names), params=params, candidate=candidate)
        for params in found
        for candidate in candidates
    ]
    if control:
        benchmarks.append(Benchmark(name=CONTROL_NAME, params=found[0], candidate=0, control=True))
    return benchmarks


def _digits(number: Decimal) -> int:
    """Return how many digits it takes to write a number without an exponent."""
    return max(number.adjusted(), 0) - min(int(number.as_tuple().exponent), 0) + 1


def _name(candidate: Subject, params: dict[str, str], *, needs_name: bool) -> str:
    values = describe_values(params)
    if not values:
        # A revision's name is left out, so that all have the same benchmark, unless it tells several candidates apart.
        return candidate.name if candidate.revision is None or needs_name else candidate.command
    return f"{candidate.name}, {values}" if needs_name else values


def _checked_name(option: str, name: str) -> str:
    if not name.isidentifier():
        raise UsageError(f"{option} {name!r} is no name: use letters, digits and _, as in {{size}}")
    return name
