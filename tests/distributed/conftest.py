"""A cluster of two processes that all tests of this room share, and data that is the same in all of them."""

import logging

import numpy as np
import pytest

from tests.shared.clusters import workers_environment


@pytest.fixture(scope="session")
def cluster():
    """Start two worker processes with one thread each."""
    from distributed import LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    import dask

    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": workers_environment()}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made,
    ):
        yield made


@pytest.fixture
def client(cluster):
    """Connect to the cluster for one test."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as made:
        yield made


@pytest.fixture
def labelled():
    """Return a function that makes rows and labels: separable or not, of some classes."""

    def make(n=600, d=8, classes=2, noise=0.0, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        scores = X @ rng.standard_normal((d, classes)) + noise * rng.standard_normal((n, classes))
        return X, np.array(["red", "blue", "green", "white"])[scores.argmax(axis=1)]

    return make
