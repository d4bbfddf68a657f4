"""Speed side by side with peers: the same work on the same data, taking turns, in one run.

Everything runs on one thread, so that processor time compares, except in `cores`, which reads the clock. Libraries
read their limits when they are loaded, so they are set here, before the first of them is.
"""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"
