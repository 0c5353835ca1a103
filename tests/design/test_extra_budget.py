from __future__ import annotations

from pathlib import Path

from steelyard.design.extra_budget import ExtraBudget, with_extra_budget
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.design.scripted import noisy, weigh
from tests.world import ScriptedWorld, measured, program_of


def test_what_a_suite_took_to_be_tried_is_used_up_of_the_budget_in_all() -> None:
    record, _ = weigh(noisy(), pairs=30, margin=0.0005, reserve=0.5)
    record = record.model_copy(update={"preparing_s": 7.0})
    assert (
        with_extra_budget(record, Path("record.json"), ExtraBudget(10, None)).settings.max_time_s == 17 + record.seconds
    )


def test_what_its_own_margin_decides_does_not_go_on() -> None:
    record, _ = weigh(noisy(), benchmarks=2, pairs=30, margin=0.0005, margins={"benchmark 1": 0.3}, reserve=0.5)
    opened = with_extra_budget(record, Path("record.json"), ExtraBudget(None, 20))
    assert opened.stop == ["interrupted", "decided"]


def test_no_command_is_named_for_metrics_that_do_not_go_on(scripted: ScriptedWorld) -> None:
    def waiting(spec: LaunchSpec, number: int) -> Measured:
        """Measure steady launches with waits, each side having the longer one in turn."""
        ms, wait_ms = {"old": 12.0, "new": 12.6}[program_of(spec)] + number * 1e-6, 6 * (number % 2)
        return measured(ms + wait_ms, delay_ns=wait_ms * 1_000_000)

    scripted.script = waiting
    both = scripted("compare", "./old", "./new", "--pairs", "20", "--metric", "active,wall").text
    assert "\nslower " in both
    assert "wall       undecided" in both
    assert "go on" not in both
    assert "has a verdict on all" in scripted.refuses("compare", "--resume", scripted.kept()[0], "--pairs", "20")
