"""How much of a processor other work had while both launches of a pair shared it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# To end turns of 0.3 ms, the launch server takes 3 to 6 % of the time of two launches in tandem.
_MOST_OF_TURNS = 0.1


def shares_of_others(
    places: npt.NDArray[np.int64], ran_ns: npt.NDArray[np.float64], spans_ns: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The share of the time from a pair's first start to its last end in which neither launch ran.

    All launches are in tandem: `places` are their benchmarks and pairs, shape (2, n), `ran_ns` their processor times
    and `spans_ns` their starts and ends, shape (n, 2); the result has a share for each launch. Ending turns takes about
    the same share in all pairs of a program, so the smallest share of its pairs, up to a tenth, is subtracted for it.
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
