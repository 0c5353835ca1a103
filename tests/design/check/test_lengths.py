"""How long a launch takes, and which part of it is long."""

from __future__ import annotations

import pytest

from steelyard.design.check import lengths
from steelyard.design.check.evidence import PLAIN, Amount, Evidence, ObservedLaunch
from steelyard.design.check.judged import Judged
from tests.design import checked
from tests.design.checked import Doctor, lognormal, plain


def long(wall_s: float, start_s: float, *, is_pytest: bool = False) -> Judged:
    evidence = Evidence("it", {PLAIN: Amount(1, 1)}, is_pytest=is_pytest)
    one = ObservedLaunch(PLAIN, 0, None, 1, (1.0,), 1.0, round(wall_s * 1e9), 1 << 20, 0.0, start_s * 1e9)
    evidence.launches += [one] * 3
    return lengths.judge_long(evidence)


def test_samples_that_are_long_are_the_rule_s_own_case() -> None:
    assert long(2.0, 0.9) == Judged("trouble", "a launch takes 2.000 s", 2.0)
    assert long(1.2, 0.1).state == "sound"


@pytest.mark.parametrize(("is_pytest", "said"), [(True, "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"), (False, "load less")])
def test_a_start_that_is_long_is_named_with_what_shortens_it(is_pytest: bool, said: str) -> None:
    found = long(2.365, 2.3, is_pytest=is_pytest)
    assert found.state == "trouble"
    assert found.finding == (
        "a launch takes 2.365 s, 2.300 s of it beside its samples: most of it is the start of the program"
    )
    assert found.remedy is not None
    assert said in found.remedy
    assert "a smaller input," not in found.remedy
    assert long(0.5, 0.4, is_pytest=is_pytest).state == "sound"


@pytest.mark.parametrize(
    ("launches", "wall_s", "said"),
    [
        (1, 1.0, "1 launch is too few"),
        (2, 1.0, "2 launches are too few"),
        (19, 1.0, "19 launches are too few to tell it from drift of the machine, which takes 20 of them: --max-time"),
        (
            331,
            0.008,
            "launches of 2.6 s in all are too short to tell it from drift of the machine, which takes 5 s of them: ",
        ),
        (20, 0.2499, "launches of 4.9 s in all are too short"),
    ],
)
def test_a_drift_that_cannot_be_told_says_what_is_too_little(launches: int, wall_s: float, said: str) -> None:
    evidence = Evidence("it", {PLAIN: Amount(1, 1)})
    one = ObservedLaunch(PLAIN, 0, None, 1, (1.0,), 1.0, round(wall_s * 1e9), 1 << 20, 0.0, 0.0)
    evidence.launches += [one] * launches
    found = lengths.judge_trend(evidence)
    assert found.state == "lacking"
    assert found.finding.startswith(said)


@pytest.mark.parametrize("argv", [(b"python3", b"-m", b"pytest", b"bench/"), (b"/usr/bin/suite",)])
def test_the_check_knows_pytest_by_its_command(argv: tuple[bytes, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "START_NS", 2_000_000_000)
    monkeypatch.setattr(Doctor, "program", argv)
    (found,) = (one for one in Doctor({"one": plain}, lognormal()).looked() if one.code == "too-long")
    assert found.outcome == "trouble"
    assert "most of it is the start of the program" in found.finding
    assert ("PYTEST_DISABLE_PLUGIN_AUTOLOAD" in found.remedy) == (b"pytest" in argv)
