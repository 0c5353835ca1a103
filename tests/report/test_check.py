from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.model.soundness import Allocating, Looked, Soundness
from steelyard.report.check import show_soundness
from tests.report.records import on_screen


def looked(**fields: Any) -> Looked:
    return Looked.model_validate(
        {"code": "drift", "benchmark": "sort", "outcome": "sound", "finding": "it is steady", **fields}
    )


def trouble(**fields: Any) -> Looked:
    plain = {"outcome": "trouble", "figure": 0.3, "threshold": 0.1, "origin": "seen so", "remedy": "warm up"}
    return looked(**{**plain, **fields})


def printed(
    *found: Looked,
    width: int = 90,
    harness: str | None = "protocol",
    allocating: Sequence[Allocating] = (),
    interrupted: bool = False,
) -> str:
    report = Soundness(
        tool="0",
        command="./bench",
        harness=harness,
        benchmarks=list(dict.fromkeys(one.benchmark for one in found)),
        launches=91,
        seconds=12.3,
        interrupted=interrupted,
        looked=list(found),
        allocating=list(allocating),
    )
    text = on_screen(lambda console: show_soundness(console, report), width)
    assert all(len(line) <= width and line == line.rstrip() for line in text.splitlines())
    return text


def test_what_is_sound_takes_a_line() -> None:
    text = printed(looked(), looked(code="modes"), looked(benchmark="map"))
    assert "sound      sort: 2 rules hold\n" in text
    assert "sound      map: 1 rule holds\n" in text
    assert "in all     no trouble with 2 benchmarks (91 launches in 12 s)\n" in text


def test_what_it_allocates_stands_under_it() -> None:
    some = Allocating(
        benchmark="sort", each="iteration", allocations=2.5, bytes=80.02, kept=0, share=0.4, iterations=99
    )
    text = " ".join(printed(looked(), allocating=[some]).split())
    assert "heap: an iteration makes 2.5 allocations of 80 B in all, about 40 % of its time" in text
    whole = Allocating(benchmark="sort", each="launch", allocations=12_000, bytes=2048, kept=3, note="more is not seen")
    text = " ".join(printed(looked(), allocating=[whole]).split())
    assert "heap: a launch makes 12,000 allocations of 2.000 KiB in all (more is not seen)" in text
    text = " ".join(printed(looked(), allocating=[Allocating(benchmark="sort", each="launch", note="static")]).split())
    assert "heap: not seen: static" in text


def test_what_the_heap_of_all_benchmarks_hides_is_said_once() -> None:
    names = ("sort", "merge", "scan")
    some = [Allocating(benchmark=name, each="launch", allocations=2, bytes=80, note="no more seen") for name in names]
    text = printed(*(looked(benchmark=name) for name in names), allocating=some)
    assert text.count("heap: a launch makes 2 allocations of 80 B in all") == 3
    assert text.count("no more seen") == 1


def test_trouble_has_its_figure_its_threshold_and_a_remedy() -> None:
    text = printed(trouble(finding="+30 % late"), looked(code="modes"))
    assert "trouble    sort\n" in text
    assert "drift: +30 % late\n" in text
    assert "threshold 10 %: seen so\n" in text
    assert "remedy: warm up\n" in text
    assert "1 trouble with 1 of 1 benchmark (91 launches in 12 s): steelyard docs check" in text


def test_thresholds_have_units() -> None:
    for unit, threshold, said in (("ns", 1.0, "1 ns"), ("s", 1.25, "1.250 s"), ("bytes", 2**20, "1.000 MiB")):
        assert f"threshold {said}: seen so" in printed(trouble(unit=unit, threshold=threshold))
    assert "threshold" not in printed(trouble(figure=None))


def test_what_was_not_tried_says_why_once() -> None:
    why = "this harness cannot be asked for it"
    text = printed(
        looked(),
        looked(code="order", outcome="untried", finding=why),
        looked(code="memory", outcome="untried", finding=why),
    )
    assert "not tried: order, memory: this harness cannot" in text
    assert "untried    sort: 1 rule holds, 2 not tried\n" in text


def test_what_an_interruption_left_is_not_called_sound() -> None:
    never = looked(benchmark="map", outcome="untried", finding="interrupted before it was tried")
    text = printed(looked(), never, interrupted=True)
    assert "sound      sort: 1 rule holds\n" in text
    assert "untried    map\n" in text
    assert "not tried: drift: interrupted before it was tried\n" in text
    assert "caution    interrupted: only what was launched until then is judged\n" in text
    assert "in all     no trouble so far with 2 benchmarks (91 launches in 12 s)\n" in text
    assert "interrupted" not in printed(looked())


def test_what_an_interruption_left_of_hundreds_of_benchmarks_takes_few_lines() -> None:
    why = "interrupted before it was tried"
    left = [looked(benchmark=f"b{number}", outcome="untried", finding=why) for number in range(300)]
    text = printed(looked(), *left, trouble(benchmark="map"), interrupted=True)
    names = ", ".join(f"b{number}" for number in range(10))
    assert f"untried    {names} and 290 more\n           not tried: drift: {why}\n" in text
    assert text.count("untried  ") == 1
    assert text.index("sound      sort") < text.index("untried") < text.index("trouble    map")


def test_a_command_and_names_that_do_not_print() -> None:
    text = printed(trouble(benchmark="a\x1b[1m", finding="b\x07"), harness=None, width=40)
    assert "\x1b" not in text
    assert "\\x1b" in text
    assert "\\x07" in text
    assert "1 trouble (91" in text
