"""Whether two things that both come in phases go together: judged by shifting the one against the other.

H. W. Lotwick, B. W. Silverman (1982), Methods for analysing spatial processes of several types of points, Journal of
the Royal Statistical Society B 44, pp. 406-413: they turn a pattern on a torus, of which this is the circle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def chance_of_higher(marked: npt.ArrayLike, values: npt.ArrayLike) -> float:
    """The share of all circular shifts of the marks at which the marked values rank as high as they do, in (0, 1].

    Both have the shape (n,) and are in order of time. Shifts keep phases together, which a test that takes each value
    for one of its own takes for so much more evidence. 1 where none or all are marked.
    """
    marks = np.asarray(marked, dtype=np.float64)
    if not 0 < marks.sum() < len(marks):
        return 1.0
    _, places, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    # By the convolution theorem the rank sums at all shifts; half a rank is more than its rounding errors.
    sums = np.fft.irfft(np.conj(np.fft.rfft(marks)) * np.fft.rfft(ranks), len(marks))
    return float((sums > sums[0] - 0.25).mean())
