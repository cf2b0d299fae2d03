"""Types of the arrays in memory; docstrings say their shapes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.signedinteger[Any]]
"""Numbers of things, or positions in other arrays: int32 where they are kept, intp as results."""
Booleans = NDArray[np.bool_]
