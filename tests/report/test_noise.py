from __future__ import annotations

from steelyard.model.noise import Expected, Noise, Spread, Timer, Way, Work
from steelyard.report.noise import noise
from steelyard.report.sheet import Sheet
from tests.report.records import on_screen


def spread(work: Work, ms: float, way: Way = "adjacent", cpu: int | None = None) -> Spread:
    return Spread(
        work=work,
        pairing=way,
        cpu=cpu,
        wanted_ms=ms,
        median_ns=ms * 1e6,
        seconds_per_pair=2 * ms / 1e3,
        differences=[0.01, -0.01],
        deviation=0.5,
    )


def expected(work: Work, ms: float, change: float, pairs: int, way: Way = "adjacent") -> Expected:
    return Expected(
        work=work,
        pairing=way,
        ms=ms,
        deviation=0.0123,
        change=change,
        pairs=pairs,
        low=12,
        high=2 * pairs,
        seconds=pairs * ms / 500,
    )


FOUND = Noise(
    seconds=27,
    interrupted=False,
    timer=Timer(step_ns=1, cost_ns=20),
    interrupts_per_s={},
    stolen=None,
    spreads=[
        spread("loop", 10),
        spread("loop", 30),
        spread("loop", 10, cpu=1),
        spread("loop", 30, "tandem"),
        spread("memory", 10),
    ],
    beside=[],
    expected=[
        expected("loop", 10, 0.01, 31),
        expected("loop", 10, 0.001, 3100),
        expected("loop", 20, 0.01, 25),
        expected("loop", 30, 0.01, 20),
        expected("loop", 30, 0.001, 2000),
        expected("loop", 30, 0.01, 12, "tandem"),
        expected("loop", 30, 0.001, 900, "tandem"),
        expected("memory", 10, 0.01, 2000),
        expected("memory", 10, 0.001, 200_000),
    ],
    pairing={"loop": "adjacent", "memory": "adjacent"},
    cpu=None,
)


def printed(width: int) -> list[str]:
    return on_screen(lambda console: noise(Sheet(console), FOUND), width).splitlines()


def test_each_length_has_its_pairs_and_their_time_within_80_columns() -> None:
    lines = printed(80)
    assert [line.split() for line in lines[1:]] == [
        ["launch", "differ", "by", "1", "%", "takes", "0.1", "%", "takes"],
        ["loop", "10.00", "ms", "1.23", "%", "31", "0.6", "s", "3,100", "1", "min", "2", "s"],
        ["30.00", "ms", "1.23", "%", "20", "1.2", "s", "2,000", "2", "min"],
        ["in", "tandem", "30.00", "ms", "1.23", "%", "12", "0.7", "s", "900", "54", "s"],
        ["memory", "10.00", "ms", "1.23", "%", "2,000", "40", "s", ">", "100,000"],
    ]
    assert max(map(len, lines)) <= 80


def test_a_narrow_terminal_has_what_matters_most() -> None:
    lines = printed(50)
    assert lines[-1].split() == ["memory", "10.00", "ms", "1.23", "%", "2,000", "40", "s"]
