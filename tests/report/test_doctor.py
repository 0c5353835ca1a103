from __future__ import annotations

from steelyard.model.conditions import Condition, Examination
from steelyard.model.machine import MachineFacts
from steelyard.model.noise import Expected, Noise, Spread, Timer, Way, Work
from steelyard.report.doctor import show_examination
from tests.report.records import on_screen


def printed(*conditions: Condition, width: int = 80, noise: Noise | None = None) -> str:
    found = Examination(
        tool="0",
        created="2026-01-01T00:00:00",
        machine=MachineFacts(key="k", cpu_model="Abacus", architecture="x86_64", cores_logical=2, virtualization="kvm"),
        conditions=list(conditions),
        noise=noise,
    )
    return on_screen(lambda console: show_examination(console, found), width)


def test_what_disturbs_comes_first_with_its_remedy() -> None:
    lines = printed(
        Condition(code="swap", severity="fine", evidence="there is none"),
        Condition(code="turbo", severity="slight", evidence="on", remedy="off"),
        Condition(code="power", severity="serious", evidence="battery", remedy="plug it in"),
        Condition(code="clock", severity="unknown", evidence="the system does not tell what it is read from"),
    ).splitlines()
    assert [line for line in lines if line] == [
        "machine    Abacus, 2 processors, kvm",
        "serious    power: battery",
        "           remedy: plug it in",
        "slight     turbo: on",
        "           remedy: off",
        "fine       swap: there is none",
        "unknown    clock: the system does not tell",
        "in all     1 serious and 1 slight: verdicts stay right, but take more pairs",
        "           (steelyard docs doctor)",
    ]


def test_the_commands_of_a_remedy_can_be_copied() -> None:
    words = f"sudo setcap cap_perfmon=ep /opt/{'deep/' * 20}server"
    remedy = f"as root, or\nsudo mount -t tracefs\n{words}"
    for width in (80, 40):
        text = printed(Condition(code="threads", severity="slight", evidence="-", remedy=remedy), width=width)
        assert " sudo mount -t tracefs\n" in text
        assert words in " ".join(text.replace("\\\n", "\n").split())


def test_what_is_unknown_for_another_reason_is_told_with_that() -> None:
    lines = printed(
        Condition(code="clock", severity="unknown", evidence="the system does not tell what it is read from"),
        Condition(code="neighbours", severity="unknown", evidence="no launch was alone"),
        Condition(code="turbo", severity="unknown", evidence="the system does not tell"),
    ).splitlines()
    assert [line for line in lines if line][1:3] == [
        "unknown    clock, turbo: the system does not tell",
        "           neighbours: no launch was alone",
    ]
    only = printed(Condition(code="neighbours", severity="unknown", evidence="no launch was alone"))
    assert "unknown    neighbours: no launch was alone\n" in only


def test_nothing_disturbs() -> None:
    fine = Condition(code="swap", severity="fine", evidence="there is none")
    assert printed(fine).endswith("nothing that disturbs measurements\n")
    unknown = Condition(code="load", severity="unknown", evidence="the system does not tell what ran")
    assert printed(fine, unknown).endswith("nothing that disturbs measurements, as far as the system tells\n")


def test_names_of_processes_are_text() -> None:
    told = Condition(code="load", severity="slight", evidence="beside: \x1b[31mevil\n", remedy="end it")
    assert "\x1b" not in printed(told)


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


def lines_of_noise(width: int) -> list[str]:
    text = printed(width=width, noise=FOUND)
    return text[text.index("measured") :].partition("\n\n")[0].splitlines()


def test_each_length_has_its_pairs_and_their_time_within_80_columns() -> None:
    lines = lines_of_noise(80)
    assert [line.split() for line in lines[1:]] == [
        ["launch", "differ", "by", "1", "%", "takes", "0.1", "%", "takes"],
        ["loop", "10.00", "ms", "1.23", "%", "31", "0.6", "s", "3,100", "1", "min", "2", "s"],
        ["30.00", "ms", "1.23", "%", "20", "1.2", "s", "2,000", "2", "min"],
        ["in", "tandem", "30.00", "ms", "1.23", "%", "12", "0.7", "s", "900", "54", "s"],
        ["memory", "10.00", "ms", "1.23", "%", "2,000", "40", "s", ">", "100,000"],
    ]
    assert max(map(len, lines)) <= 80


def test_a_narrow_terminal_has_what_matters_most() -> None:
    lines = lines_of_noise(50)
    assert lines[-1].split() == ["memory", "10.00", "ms", "1.23", "%", "2,000", "40", "s"]
