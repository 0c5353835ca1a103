from __future__ import annotations

from steelyard.model.conditions import Condition, Examination
from steelyard.model.machine import MachineFacts
from steelyard.report.doctor import examination
from tests.report.records import on_screen


def printed(*conditions: Condition, width: int = 80) -> str:
    found = Examination(
        tool="0",
        created="2026-01-01T00:00:00",
        machine=MachineFacts(key="k", cpu_model="Abacus", architecture="x86_64", cores_logical=2, virtualization="kvm"),
        conditions=list(conditions),
    )
    return on_screen(lambda console: examination(console, found), width)


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
