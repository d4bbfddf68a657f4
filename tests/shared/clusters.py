"""What tests of Dask clusters share."""

import os


def workers_environment():
    """Return what workers need of the environment: the loops that are compiled already, and one thread each."""
    return {"NUMBA_CACHE_DIR": os.environ["NUMBA_CACHE_DIR"], "OPENBLAS_NUM_THREADS": "1"}
