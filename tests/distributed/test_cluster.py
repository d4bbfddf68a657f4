"""Workers that die, a scheduler that is lost, and a cluster started from the command line."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest

import rosenblatt as rb
import rosenblatt.distributed as rd
from rosenblatt.distributed.cluster import Cluster
from rosenblatt.exceptions import ClusterError, RosenblattError
from tests.shared.clusters import workers_environment

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
KILLS = max(1, int(os.environ.get("KILLS", "40")) // 20)
"""So many workers are killed in training, and as many in proofs; 50 in the long run."""


def rows(k, n=4000, d=30):
    """Return the rows of one partition; noise makes every pass move the weights."""
    rng = np.random.default_rng(k)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0, 1, 0)


def even_rows(k):
    """Return separable rows of one partition."""
    X, _ = rows(k)
    return X, np.where(X @ np.arange(1, 31) > 0.5, 1, 0)


class Killer(threading.Thread):
    """Kills a random worker again and again, until it is told to stop."""

    def __init__(self, client, seed):
        super().__init__(daemon=True)
        self.client, self.random, self.kills, self.over = client, random.Random(seed), 0, threading.Event()

    def run(self):
        while not self.over.wait(self.random.uniform(0.1, 1.5)):
            try:
                pids = list(self.client.run(os.getpid, on_error="ignore").values())
            except Exception:
                continue
            if len(pids) > 1:
                os.kill(self.random.choice(pids), signal.SIGKILL)
                self.kills += 1


@pytest.mark.slow
@pytest.mark.parametrize("what", ["training", "proof"])
def test_killed_workers_change_no_bit(what):
    from distributed import Client, LocalCluster

    settings = {
        "distributed.nanny.pre-spawn-environ": workers_environment(),
        "distributed.deploy.lost-worker-timeout": "365 days",  # else slow starts are given up
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        Client(cluster, set_as_default=False) as other,
    ):
        make = rows if what == "training" else even_rows
        parts = [dask.delayed(make)(k) for k in range(5)]

        def result():
            if what == "proof":
                return rd.certify(parts, client=client).to_json()
            model = rd.fit(rb.Perceptron(max_iter=15, average=True), parts, client=client, mixing="mistakes")
            return model.coef_.tobytes() + model.intercept_.tobytes()

        wanted, seed, killed = result(), 0, 0
        while killed < KILLS:
            killer = Killer(other, seed)
            killer.start()
            try:
                assert result() == wanted
            finally:
                killer.over.set()
                killer.join()
            killed, seed = killed + killer.kills, seed + 1
        assert remembered(client, collect=True) == {}  # errors of dead workers are cycles


def remembered(client, *, collect=False):
    """Return the tasks that the scheduler still knows, a minute after a fit has ended, with what they wait for.

    With `collect`, cycles are sought at each look: one search may find nothing while another thread searches.
    """

    def left(dask_scheduler):
        return {
            key: (task.state, len(task.waiters or ()), [each.client_key for each in task.who_wants or ()])
            for key, task in dask_scheduler.tasks.items()
        }

    for _ in range(600):
        if collect:
            gc.collect()
        if not (tasks := client.run_on_scheduler(left)):
            break
        time.sleep(0.1)
    return tasks


def slow_rows(k):
    """Return the rows of one partition, after a longer time than one look at the cluster takes."""
    time.sleep(0.5)
    return rows(k, 50, 3)


def test_a_fit_leaves_nothing_on_the_cluster(client):
    gc.collect()
    gc.disable()
    try:
        rd.fit(rb.Perceptron(max_iter=2), [dask.delayed(slow_rows)(k) for k in range(2)], client=client)
        assert remembered(client) == {}
    finally:
        gc.enable()


def bad_rows(k):
    """Return rows whose labels are too few."""
    X, y = rows(k, 50, 3)
    return X, y[1:]


def test_a_fit_that_failed_leaves_nothing_on_the_cluster(client):
    with pytest.raises(RosenblattError):
        rd.fit(rb.Perceptron(max_iter=2), [dask.delayed(bad_rows)(k) for k in range(2)], client=client)
    assert remembered(client, collect=True) == {}


def test_a_task_that_ends_its_workers_is_an_error(client, monkeypatch):
    from distributed import KilledWorker

    cluster = Cluster(client)
    monkeypatch.setattr("rosenblatt.distributed.cluster.MAX_RETRIES", 1)
    monkeypatch.setattr(client, "gather", lambda futures: raise_(KilledWorker("train_part-1", None, 3)))
    with pytest.raises(ClusterError, match="train_part-1 was running on workers that died"):
        cluster.answer(cluster.run(abs, -1))


def raise_(error):
    """Raise an error."""
    raise error


def test_a_cluster_without_workers_is_an_error(client, monkeypatch):
    monkeypatch.setattr("rosenblatt.distributed.cluster.NO_WORKERS", 0.0)
    monkeypatch.setattr("rosenblatt.distributed.cluster.WORKER_CHECK_SECONDS", 0.0)
    cluster = Cluster(client)
    monkeypatch.setattr(cluster, "_n_workers", lambda: 0)
    with pytest.raises(ClusterError, match="has had no workers for 0 seconds"):
        cluster.answer(cluster.run(time.sleep, 1))


class Commands:
    """A scheduler and a worker, started as people start them."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []

    def start(self, name):
        file = self.folder / f"{name}.json"
        environment = os.environ | workers_environment()
        dask_command = [sys.executable, "-m", "dask"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
        scheduler = subprocess.Popen(
            [*dask_command, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **quiet
        )
        worker = subprocess.Popen(
            [*dask_command, "worker", "--scheduler-file", file, "--no-dashboard", "--nworkers", "1"], **quiet
        )
        self.processes += [scheduler, worker]
        return file, scheduler

    def end(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def commands(tmp_path):
    made = Commands(tmp_path)
    yield made
    made.end()


@pytest.mark.slow
def test_the_scheduler_is_lost_and_another_cluster_goes_on(commands, tmp_path, client):
    """`dask scheduler` dies in pass 3; the checkpoint goes on under another one, to the bits of one run."""
    from distributed import Client

    parts = [dask.delayed(rows)(k, 500, 5) for k in range(3)]
    model = {"max_iter": 6, "average": True}
    wanted = rd.fit(rb.Perceptron(**model), parts, client=client)
    file, scheduler = commands.start("first")

    def lose(report):
        if report.epoch == 3:
            scheduler.kill()
            scheduler.wait()

    saved = tmp_path / "saved"
    with (
        Client(scheduler_file=file, set_as_default=False, timeout=60) as own,
        pytest.raises(ClusterError, match=rf"The scheduler .* is lost.*{saved} is of pass 3"),
    ):
        rd.fit(rb.Perceptron(**model, callbacks=[lose]), parts, client=own, checkpoint=saved)
    file, _ = commands.start("second")
    with Client(scheduler_file=file, set_as_default=False, timeout=60) as own:
        found = rd.fit(rb.Perceptron(**model), parts, client=own, checkpoint=saved, resume=True)
    assert found.coef_.tobytes() == wanted.coef_.tobytes()
    assert found.mistakes_per_pass_.tolist() == wanted.mistakes_per_pass_.tolist()


def test_ctrl_c_publishes_the_last_complete_pass(client, tmp_path):
    def press(report):
        if report.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    parts = [dask.delayed(rows)(k, 200, 5) for k in range(2)]
    model = rb.Perceptron(max_iter=9, callbacks=[press])
    with pytest.raises(KeyboardInterrupt):
        rd.fit(model, parts, client=client)
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 2)
    wanted = rd.fit(rb.Perceptron(max_iter=2), parts, client=client)
    assert model.coef_.tobytes() == wanted.coef_.tobytes()
