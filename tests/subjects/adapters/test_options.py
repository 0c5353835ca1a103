"""Options that only Steelyard may give a harness."""

from __future__ import annotations

import pytest

from steelyard.model.errors import UsageError
from steelyard.subjects.adapters.criterion import Criterion
from steelyard.subjects.adapters.divan import Divan
from steelyard.subjects.adapters.go import Go
from steelyard.subjects.adapters.google_benchmark import GoogleBenchmark
from steelyard.subjects.adapters.jmh import Jmh
from steelyard.subjects.adapters.pyperf import Pyperf
from steelyard.subjects.harness import Harness
from tests.subjects.adapters.driven import spec


@pytest.mark.parametrize(
    ("harness", "option"),
    [
        *((Criterion, option) for option in ("--exact", "--list", "--quick", "--discard-baseline", "--baseline=x")),
        *((Divan, option) for option in ("--exact", "--list", "--sample-count=3", "--sample-size")),
        *((GoogleBenchmark, option) for option in ("--benchmark_list_tests=true", "--benchmark_list_tests", "--help")),
        *((Go, option) for option in ("-test.list", "--test.list=.")),
        *((Jmh, option) for option in ("-l", "-lprof", "-h", "-i", "-foe", "-rf", "-rff", "-o")),
        *(
            (Pyperf, option)
            for option in ("-o", "--output=x.json", "--pipe=5", "--fast", "--rigorous", "--profile", "--help")
        ),
    ],
)
def test_an_option_that_contradicts_ours_is_to_be_left_out(harness: type[Harness], option: str) -> None:
    name = option.partition("=")[0]
    with pytest.raises(UsageError, match=f"{name} contradicts .*: leave it out of the command"):
        harness().listing(spec("bench", option, "3"))
    assert harness().listing(spec("bench", "--color", "never"))


@pytest.mark.parametrize("word", ["-i3", "-i=3", "-ojmh.txt"])
def test_an_option_of_jmh_s_may_have_its_value_in_the_same_word(word: str) -> None:
    with pytest.raises(UsageError, match=f"^{word[:2]} contradicts "):
        Jmh().listing(spec("java", "-jar", "b.jar", word))
    assert Jmh().listing(spec("java", "-jar", "b.jar", "-f1", "-opi=2"))
