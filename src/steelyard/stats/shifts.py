"""Whether two things that both come in phases go together, judged by shifting one against the other.

H. W. Lotwick, B. W. Silverman (1982), Methods for analysing spatial processes of several types of points, Journal of
the Royal Statistical Society B 44, pp. 406-413: they shift a pattern on a torus; here it is a circle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray

# Rank sums that are not all equal differ by at least half a rank: by half a thousandth of a million shifts.
_LEAST_DEVIATION = 1e-4


def chances_of_higher(marked: npt.ArrayLike, values: npt.ArrayLike) -> FloatArray:
    """For each way to mark values, return the share of circular shifts at which any way's marked values rank as high.

    `marked` has the shape (k, n), `values` (n,), in order of time; the result (k,) is in (0, 1]. Shifts keep phases
    together; a test that took values as independent would see far more evidence in them than there is. All ways are
    shifted alike, and each is compared with the highest of them, in standard deviations: by chance one of the results
    is at most p in a share p of all cases (P. H. Westfall, S. S. Young (1993), Resampling-Based Multiple Testing,
    section 2.3). 1 where no values or all are marked.
    """
    marks = np.atleast_2d(np.asarray(marked, dtype=np.float64))
    chances = np.ones(len(marks))
    if not marks.size:
        return chances
    _, places, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    # The rank sums at all shifts, by the convolution theorem; their rounding errors are smaller than half a rank.
    sums = np.fft.irfft(np.conj(np.fft.rfft(marks)) * np.fft.rfft(ranks), marks.shape[1])
    deviations = sums.std(axis=1, keepdims=True)
    is_varying = deviations[:, 0] > _LEAST_DEVIATION
    if is_varying.any():
        deviations = deviations[is_varying]
        standardised = (sums[is_varying] - sums[is_varying].mean(axis=1, keepdims=True)) / deviations
        chances[is_varying] = (standardised.max(axis=0) > standardised[:, :1] - 0.25 / deviations).mean(axis=1)
    return chances
