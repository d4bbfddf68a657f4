"""Threads: how many there are, results in order, errors and Ctrl-C, and the limit on BLAS."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest

from rosenblatt import threads
from rosenblatt.exceptions import ParameterError
from rosenblatt.stopping import interruptible, stop_if_interrupted
from rosenblatt.threads import (
    Pool,
    allowed,
    available,
    in_parts,
    one_blas_thread,
    ordered,
    quota,
    resolve_threads,
    using,
)


@pytest.fixture(autouse=True)
def without_default(monkeypatch):
    monkeypatch.delenv("ROSENBLATT_THREADS", raising=False)


def test_one_thread_unless_asked_for_more(monkeypatch):
    assert allowed() == 1
    with using(3):
        assert allowed() == 3
        with using(None):
            assert allowed() == 3
        with using(1):
            assert allowed() == 1
    assert allowed() == 1
    monkeypatch.setenv("ROSENBLATT_THREADS", "4")
    assert allowed() == 4
    with using(2):
        assert allowed() == 2


def test_little_data_is_left_to_one_thread(monkeypatch):
    monkeypatch.setenv("ROSENBLATT_THREADS", "4")
    for n_jobs, n_values, expected in ((None, 100, 1), (3, 100, 1), (3, 10**6, 3), (None, 10**6, 4)):
        with using(n_jobs, n_values):
            assert allowed() == expected


def test_parts_cover_all_items():
    assert in_parts(0, 1e9) == [range(0)]
    assert in_parts(7, 1e9) == [range(7)]  # one thread
    with using(3):
        for n_items in (0, 1, 5, 11, 12, 13, 1000):
            for nanoseconds in (0.0, 2e6, 7e6, 1e9):
                parts = in_parts(n_items, nanoseconds)
                assert [i for part in parts for i in part] == list(range(n_items))
                assert len(parts) == 1 or all(parts)
                assert len(parts) <= 12
        assert len(in_parts(1000, 1.9e6)) == 1
        assert len(in_parts(1000, 2.1e6)) == 2


def test_negative_numbers_count_from_all_cores(monkeypatch):
    monkeypatch.setattr(threads, "available", lambda: 8)
    assert [resolve_threads(n) for n in (-1, -2, -8, -100)] == [8, 7, 1, 1]
    assert resolve_threads(np.int64(2)) == 2


@pytest.mark.parametrize("bad", [0, 1.5, "2", True, None])
def test_other_values_are_refused(bad):
    with pytest.raises(ParameterError, match=r"n_jobs=.*-1 for all cores"):
        resolve_threads(bad)


@pytest.mark.parametrize("bad", ["0", "many", "1.5"])
def test_a_bad_variable_is_an_error_that_names_it(monkeypatch, bad):
    monkeypatch.setenv("ROSENBLATT_THREADS", bad)
    with pytest.raises(ParameterError, match=r"ROSENBLATT_THREADS.*Change or unset it"):
        allowed()


def group(root, folder, text):
    place = root / "sys/fs/cgroup" / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "cpu.max").write_text(text)


@pytest.fixture
def cores(monkeypatch):
    """Return a function of the folder that stands for the root: the cores of 16 that its quota leaves."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)

    def found(root):
        monkeypatch.setattr(threads, "quota", lambda _: quota.__wrapped__(root))
        return available()

    return found


def test_quotas_of_containers_count(tmp_path, cores):
    assert cores(tmp_path) == 16
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/pods/one\n")
    group(tmp_path, "pods/one", "max 100000\n")
    assert cores(tmp_path) == 16
    group(tmp_path, "pods", "250000 100000\n")  # of a parent, rounded up
    assert cores(tmp_path) == 3
    group(tmp_path, "pods/one", "50000 100000\n")
    assert cores(tmp_path) == 1


def test_quotas_of_older_kernels_count(tmp_path, cores):
    old = tmp_path / "sys/fs/cgroup/cpu"
    old.mkdir(parents=True)
    (old / "cpu.cfs_period_us").write_text("100000\n")
    (old / "cpu.cfs_quota_us").write_text("-1\n")
    assert cores(tmp_path) == 16
    (old / "cpu.cfs_quota_us").write_text("400000\n")
    assert cores(tmp_path) == 4


def threads_of(n_jobs):
    with using(n_jobs):
        return allowed()


def test_joblib_decides_where_nothing_else_does(monkeypatch):
    from joblib import parallel_config

    monkeypatch.setattr(threads, "available", lambda: 4)
    with parallel_config(backend="threading", n_jobs=3):
        assert allowed() == 3
        assert threads_of(2) == 2
        monkeypatch.setenv("ROSENBLATT_THREADS", "1")
        assert allowed() == 1
        monkeypatch.delenv("ROSENBLATT_THREADS")
    with parallel_config(backend="threading", n_jobs=100):
        assert allowed() == 4
    assert allowed() == 1


def test_a_task_on_a_thread_of_joblib_is_one_thread():
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=2, backend="threading")(delayed(threads_of)(n) for n in (None, 3, -1))
    assert found == [1, 1, 1]


@pytest.mark.parametrize("inner", [1, 3])
def test_a_process_of_joblib_uses_its_share(monkeypatch, inner):
    """A variable set for this process reaches its workers too, and would be too much for each of them."""
    from joblib import Parallel, delayed, parallel_config

    monkeypatch.setenv("ROSENBLATT_THREADS", "8")
    with parallel_config(backend="loky", inner_max_num_threads=inner):
        found = Parallel(n_jobs=2)(delayed(threads_of)(n) for n in (None, 3, 7))
    assert found == [inner, min(3, inner), inner]


def test_a_task_of_dask_is_one_thread(monkeypatch):
    import distributed

    monkeypatch.setenv("ROSENBLATT_THREADS", "2")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert client.submit(threads_of, None).result(60) == 1
        assert client.submit(threads_of, 5).result(60) == 1
        assert threads_of(None) == 2


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_order(n_threads):
    turn = [threading.Event() for _ in range(3)]

    def work(k):  # with several threads, the second of each pair ends before the first
        if n_threads > 1 and k in (0, 2):
            assert turn[k // 2].wait(60)
        elif n_threads > 1 and k in (1, 3):
            turn[k // 2].set()
        return k * k

    with using(n_threads):
        assert list(ordered(work, iter(range(40)))) == [k * k for k in range(40)]


def test_work_on_a_thread_starts_no_other():
    with using(3):
        assert list(ordered(lambda _: allowed(), [0])) == [1]

        def nested(_):
            with using(4):
                return allowed()

        assert list(ordered(nested, [0, 1])) == [1, 1]


def test_only_a_few_items_are_taken_ahead():
    taken = []

    def items():
        for k in range(100):
            taken.append(k)
            yield k

    with using(2):
        results = ordered(lambda k: k, items())
        assert next(results) == 0
        assert len(taken) == 4
        results.close()
    assert len(taken) == 4


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_first_error_in_order_is_raised(n_threads):
    later = threading.Event()

    def work(k):
        if k == 3:
            if n_threads > 1:
                assert later.wait(60)  # the fifth fails first
            raise ValueError("third")
        if k == 4:
            later.set()
            raise KeyError("fourth")
        return k

    seen = []
    with using(n_threads), pytest.raises(ValueError, match="third"):
        seen.extend(ordered(work, range(9)))
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_of_the_items_comes_after_the_results_before_it(n_threads):
    def items():
        yield 1
        yield 2
        raise OSError("the file ends here")

    seen = []
    with using(n_threads), pytest.raises(OSError, match="ends here"):
        seen.extend(ordered(lambda k: -k, items()))
    seen = []
    with using(n_threads), pytest.raises(ZeroDivisionError):  # an earlier one goes first
        seen.extend(ordered(lambda k: k / (k - 2), items()))
    assert seen == [-1.0]


@pytest.mark.parametrize("n_threads", [2, 3])
def test_the_calling_thread_works_too(n_threads):
    """So `n_threads` threads work, and not one more; each waits here until all have an item."""
    all_work = threading.Barrier(n_threads)

    def work(_):
        all_work.wait(60)
        return threading.get_ident()

    with using(n_threads):
        found = list(ordered(work, range(n_threads)))
    assert len(set(found)) == n_threads
    assert threading.get_ident() in found


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not tell on which cores threads run"
)
def test_threads_keep_off_the_core_of_the_calling_one(monkeypatch):
    """Unless there are more of them than cores; afterwards every core may be used again."""
    before = os.sched_getaffinity(0)

    def cores_of(n_threads):
        all_work = threading.Barrier(n_threads)

        def work(_):
            all_work.wait(60)
            return threading.current_thread() is main, os.sched_getaffinity(0)

        main = threading.current_thread()
        with using(n_threads):
            found = list(ordered(work, range(n_threads)))
        assert [cores for is_main, cores in found if is_main] == [before]
        return [cores for is_main, cores in found if not is_main]

    if len(before) > 1:
        (cores,) = cores_of(2)
        assert cores < before
        assert len(cores) == len(before) - 1
    assert all(cores == before for cores in cores_of(len(before) + 1))
    assert os.sched_getaffinity(0) == before

    def forbidden(*_):
        raise PermissionError("not here")

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    assert cores_of(2) == [before]


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not tell on which cores threads run"
)
def test_what_work_of_others_starts_may_use_every_core():
    before = os.sched_getaffinity(0)
    all_work = threading.Barrier(2)

    def work(_):
        all_work.wait(60)
        return os.sched_getaffinity(0)

    with using(2):
        assert list(ordered(work, range(2), foreign=True)) == [before, before]


def test_no_thread_is_left():
    with using(3), pytest.raises(ZeroDivisionError):
        list(ordered(lambda k: 1 / k, [1, 0, 2]))
    assert not [each for each in threading.enumerate() if each.name.startswith("rosenblatt")]


@pytest.mark.parametrize("noted", [False, True])
def test_ctrl_c_ends_the_work_under_way(noted):
    """The main thread alone sees the signal; the work asks between its steps, here without end."""
    ended = []

    def endless(k):
        try:
            if k == 1:
                os.kill(os.getpid(), signal.SIGINT)
            while True:
                stop_if_interrupted()
        except KeyboardInterrupt:
            ended.append(k)
            raise

    with pytest.raises(KeyboardInterrupt), interruptible() if noted else nullcontext(), using(2):
        list(ordered(endless, range(2)))
    assert sorted(ended) == [0, 1]
    stop_if_interrupted()  # nothing is left of it


def blas_threads():
    from threadpoolctl import threadpool_info

    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_blas_is_limited_and_restored_by_the_last_one():
    from threadpoolctl import threadpool_limits

    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        outer, inner = one_blas_thread(), one_blas_thread()
        outer.__enter__()
        inner.__enter__()
        assert set(blas_threads()) == {1}
        outer.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        inner.__exit__(None, None, None)
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 / 0
        assert blas_threads() == before


CHILD = """
import multiprocessing, sys
from tests.test_threads import squares
if __name__ == "__main__":
    assert squares(4) == [0, 1, 4, 9]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(squares, [3, 5]) == [[0, 1, 4], [0, 1, 4, 9, 16]]
"""


def squares(n):
    with using(2), one_blas_thread():
        return list(ordered(lambda k: k * k, range(n)))


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()])
def test_processes_may_be_forked_and_spawned_between_calls(tmp_path, method):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    place = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": place}
    subprocess.run([sys.executable, str(script), method], check=True, timeout=300, env=environment)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_pool_serves_several_maps(n_threads):
    with Pool(n_threads) as pool:
        assert list(pool.ordered(abs, [-1, 2])) == [1, 2]
        inner = pool.ordered(abs, range(-20, 0))
        assert list(pool.ordered(str, inner)) == [str(k) for k in range(20, 0, -1)]
