"""Arrays, by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
PlaceArray = npt.NDArray[np.intp]
"""Places in other arrays, and lengths of these."""
