from __future__ import annotations

from steelyard.model.grouping import grouped


def test_groups_and_their_members_are_in_the_order_in_which_they_came() -> None:
    assert list(grouped(["pear", "fig", "plum", "kiwi"], len).items()) == [(4, ["pear", "plum", "kiwi"]), (3, ["fig"])]
    assert grouped([], len) == {}
