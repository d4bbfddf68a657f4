"""Names for the array types that cross module borders."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""A float64 array."""

Reals: TypeAlias = NDArray[np.float64] | NDArray[np.float32]
"""Feature values as they are stored: float64 or float32."""

Ints: TypeAlias = NDArray[np.int64]
"""An int64 array: row numbers, counts, class codes."""
