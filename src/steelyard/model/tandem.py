"""What others had of a processor that both launches of a pair shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# Of the time of two at once the launch server takes 3 to 6 % to end their turns of 0.3 ms.
_MOST_OF_TURNS = 0.1


def shares_of_others(
    places: npt.NDArray[np.int64], ran_ns: npt.NDArray[np.float64], spans_ns: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The share that neither of a pair ran of the time from the first one's start to the last one's end.

    Of launches in tandem alone: `places` are their benchmarks and pairs, shape (2, n), `ran_ns` their processor times
    and `spans_ns` their starts and ends, shape (n, 2); a share for each of them. To end their turns takes about the
    same of all pairs of a program, so the least of these, up to a tenth, is left out as that.
    """
    import numpy as np

    (benchmarks, _), pairs = np.unique(places, axis=1, return_inverse=True)
    pairs = pairs.reshape(-1)
    ran = np.bincount(pairs, ran_ns)
    start_ns, end_ns = spans_ns.T
    first_ns, last_ns = np.full(len(ran), np.inf), np.zeros(len(ran))
    np.minimum.at(first_ns, pairs, start_ns)
    np.maximum.at(last_ns, pairs, end_ns)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = np.maximum(0.0, 1 - ran / (last_ns - first_ns))
    programs, program = np.unique(benchmarks, return_inverse=True)
    least = np.full(len(programs), _MOST_OF_TURNS)
    np.fmin.at(least, program, others)
    return np.asarray((others - least[program])[pairs])
