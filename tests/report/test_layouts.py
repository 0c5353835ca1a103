"""The advice after several layouts of each side were weighed."""

from __future__ import annotations

from steelyard.model.layouts import LayoutFacts, VariancePart
from steelyard.report.layouts import variance

PARTS = [VariancePart(level="layout", spread=0.002, share=0.04), VariancePart(level="launch", spread=0.008, share=0.96)]


def test_few_layouts_are_worth_being_more_even_where_launches_have_the_variance() -> None:
    few = LayoutFacts(changes={1: 0.0, 2: 0.001}, p_value=0.3, parts=PARTS, most="launch", assumed_normal=True)
    assert variance(few)[1].startswith("more pairs narrow the interval, most if they are of more layouts")
    many = few.model_copy(update={"assumed_normal": False})
    assert variance(many)[1].endswith("more layouts no more than by the pairs that they bring")
