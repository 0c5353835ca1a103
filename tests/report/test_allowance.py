from functools import partial

from steelyard.model.settings import Settings
from steelyard.report.allowance import Allowance


def test_a_list_that_took_most_of_the_time_is_told_beside_the_pace() -> None:
    allowance = partial(Allowance, settings=Settings(max_time_s=40), fewest=11, benchmarks=1)
    said = allowance(fitting=0, spent_s=57.3, seconds_each=0.3, prepared_s=57.0).shortage()
    took = "a pair took 0.3 s, after 57 s for the list of benchmarks and to try them; at that pace there is time for"
    assert said is not None
    assert said.startswith(f"{took} no pair but the warm-up in 40 s: too few")
    said = allowance(fitting=4, spent_s=12.0, seconds_each=8.0, prepared_s=4.0).shortage()
    assert said is not None
    assert said.startswith("a pair took 8 s; at that pace")
