"""What the engine of the GPU does around its kernels, on a CuPy without a GPU: failures, Ctrl-C, and memory."""

from __future__ import annotations

import signal
import sys
import time
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import DeviceError, NonFiniteError, TrainingOverflowError
from rosenblatt.loops.rules import Rule
from rosenblatt.probes import devices, gpu
from rosenblatt.probes.engine import ON_CPU, Matrix, Plan, Problems, States
from rosenblatt.probes.gpu import GpuEngine, Shape
from rosenblatt.stopping import interruptible
from tests.probes.fake_cupy import Blas, CUDARuntimeError, FakeCupy
from tests.probes.gpu_cases import begun, some_rows

KEPT = (gpu._cupy, gpu._cublas, gpu._kernels, gpu._tensor_cores_are_chains)


@pytest.fixture
def fresh():
    """Forget what was found of CuPy, before and after a test."""
    for each in KEPT:
        each.cache_clear()
    yield
    for each in KEPT:
        each.cache_clear()


@pytest.fixture
def cupy(fresh, monkeypatch):
    """Put a CuPy in place that has no GPU."""
    return install(monkeypatch)


def install(monkeypatch, **options):
    fake = FakeCupy(**options)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(gpu, "_cublas", Blas)
    return fake


def when(fake, event, act):
    """Act once, the next time that something happens."""

    def told(name):
        if name == event:
            fake.told = lambda name: None
            return act()
        return None

    fake.told = told


@pytest.mark.parametrize("resident", [True, False])
@pytest.mark.parametrize("event", ["eventQuery", "walk", "record", "synchronize", "isfinite", "setDevice"])
def test_a_lost_gpu_is_a_sentence_and_training_ends(cupy, event, resident):
    engine = begun(*some_rows(600), resident=resident)
    when(cupy, event, cupy.lose)
    with pytest.raises(DeviceError, match="The GPU failed while training: cudaErrorIllegalAddress"):
        engine.train_pass(np.arange(5), None)
    with pytest.raises(DeviceError, match="The GPU failed while reading the weights"):
        engine.states()
    engine.close()


@pytest.mark.parametrize(
    ("place", "error", "told"),
    [
        (0, NonFiniteError, "Row 333 of X has a value that is NaN"),
        (1, TrainingOverflowError, "The score of row 333 exceeds the largest float"),
    ],
)
def test_rows_that_are_judged_must_have_finite_scores(cupy, place, error, told):
    """The kernels note the first row, and the first score, that is not finite; here the test does."""
    engine = begun(*some_rows(600))
    hypothesis = np.ones((5, 41))
    assert engine.count_right(hypothesis).tolist() == [0] * 5

    def note():
        engine._all["broken"][place] = 333

    when(cupy, "walk", note)
    with pytest.raises(error, match=told) as caught:
        engine.count_right(hypothesis)
    assert caught.value.row == 333
    assert engine.count_right(hypothesis).tolist() == [0] * 5
    engine.close()


def test_the_plan_counts_the_weights_that_are_judged(fresh, monkeypatch):
    X, y = some_rows(300, 40, 2000)
    fake, copied = install(monkeypatch), []
    engine = begun(X, y)
    held = sum(each.nbytes for name, each in engine._all.items() if name not in ("parts", "starts"))
    usual = fake.asarray
    fake.asarray = lambda values: copied.append(values.nbytes) or usual(values)
    engine.count_right(np.ones((2000, 41)))
    engine.close()
    need = held + max(copied) + (gpu.MOST_PROBLEM_GROUPS + 2) * gpu.WORKSPACE_BYTES + gpu.OVERHEAD_BYTES
    for free, fits in ((need + 64, True), (need - 64, False)):
        install(monkeypatch, free=int(free / gpu.USED_SHARE))
        gpu._cupy.cache_clear()
        with nullcontext() if fits else pytest.raises(DeviceError, match="Train fewer problems at a time"):
            begun(X, y, resident=True).close()


def test_a_bias_that_rests_must_be_zero(cupy):
    """The bound of the norm would not hold: see the page, and `test_blocked.py`."""
    X, y = np.full((1001, 1), 0.3), np.append(-np.ones(1000), 1.0)

    def fit(device, bias, **how):
        model = rb.Perceptron(device=device, fit_intercept=False, decide=False, max_iter=3, **how)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X, y, coef_init=[0.0], intercept_init=[bias])

    with pytest.raises(
        DeviceError, match=r"starts with a bias and has no bias step .*, or use device='cpu'\."
    ) as told:
        fit("cuda", 100.0)
    assert told.value.remedies == (ON_CPU,)
    assert not cupy.launched
    np.testing.assert_array_equal(fit("auto", 100.0).coef_, fit("cpu", 100.0).coef_)
    fit("cuda", 0.0)
    assert cupy.launched
    engine = GpuEngine()
    begin = States(np.array([[0.0, 100.0]]), None, np.zeros(1, np.int64))
    for beta in (1.0, 0.3):  # here the bias moves, and is counted
        plan = Plan(Rule(beta=beta), average=False)
        engine.start(Matrix((X,), "float64"), Problems(y[:, None].astype(np.int8), np.arange(1)), plan, begin)
    engine.close()


# Ctrl-C. An update of the fake adds 1 to a weight, so that weights tell how many passes they are of.

PASS = 3 * gpu.GROUP_ROWS  # rows


def passes_of(engine, blocks=PASS // gpu.BLOCK_ROWS):
    """Return the passes that weights and visits stand for, and require that they agree."""
    states = engine.states()
    made = states.visits // PASS
    assert (states.w[0, 0], states.visits.tolist()) == (made[0] * blocks, (made * PASS).tolist())
    return made.tolist()


def events_of_a_pass(cupy, engine):
    """Make a pass; return what happens in it."""
    seen = []
    cupy.told = lambda name: seen.append(name)
    engine.train_pass(np.arange(2), None)
    cupy.told = lambda name: None
    return seen


@pytest.mark.parametrize("resident", [True, False])
def test_ctrl_c_anywhere_leaves_the_last_whole_pass(cupy, resident):
    X, y = some_rows(PASS, 2, 2)
    begun(X, y).train_pass(np.arange(2), None)  # compiles the kernels
    engine = begun(X, y, resident=resident)
    first = events_of_a_pass(cupy, engine)
    assert {"capture walk", "end_capture", "eventQuery", "setDevice"} <= set(first)
    places = {name: [i for i, each in enumerate(first) if each == name] for name in first}
    for i in sorted({i for found in places.values() for i in (*found[:3], *found[-3:])}):
        engine.start(Matrix((X,), "float64"), Problems(y, np.arange(2)), Plan())
        left = iter(range(i, -1, -1))

        def stop(name, left=left):
            if next(left, None) == 0:
                raise KeyboardInterrupt

        cupy.told = stop
        with pytest.raises(KeyboardInterrupt):
            engine.train_pass(np.arange(2), None)
        cupy.told = lambda name: None
        assert cupy.capturing is None
        assert passes_of(engine) == [0, 0], (i, first[i])
        engine.train_pass(np.arange(2), None)
        assert passes_of(engine) == [1, 1], (i, first[i])
    engine.close()


def test_ctrl_c_that_invalidates_a_graph_is_no_error_of_the_gpu(cupy):
    engine = begun(*some_rows(600))

    def stop():
        cupy.told = lambda name: cupy.lose(700) if name == "end_capture" else cupy.lose(0)
        raise KeyboardInterrupt

    when(cupy, "capture walk", stop)
    with pytest.raises(KeyboardInterrupt):
        engine.train_pass(np.arange(5), None)
    cupy.lose(0)
    assert not engine._graphs
    engine.close()


@pytest.mark.parametrize("event", ["update", "eventQuery"])
def test_the_first_ctrl_c_ends_a_pass(cupy, event):
    """A fit only notes it, so that the engine must look for it: in each group of rows, and while it waits."""
    X, y = some_rows(PASS, 2, 2)
    engine = begun(X, y)
    engine.train_pass(np.arange(2), None)
    cupy.launched.clear()

    def press():
        signal.raise_signal(signal.SIGINT)
        return 600 if event == "eventQuery" else None

    when(cupy, event, press)
    with pytest.raises(KeyboardInterrupt), interruptible():
        engine.train_pass(np.arange(2), None)
    assert cupy.launched.count("update") < PASS // gpu.BLOCK_ROWS
    assert passes_of(engine) == [1, 1]
    engine.close()


def test_no_copy_of_rows_goes_on_after_ctrl_c(cupy):
    X, y = some_rows(gpu.GROUP_ROWS, 2, 2)
    copied = []

    class Slow:
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, rows):
            copied.append(rows)
            if len(copied) == 1:
                raise KeyboardInterrupt
            time.sleep(0.02)
            copied.append(rows)
            return X[rows]

    engine = GpuEngine(resident=False)
    engine.start(Matrix((Slow(),), "float64"), Problems(y, np.arange(2)), Plan())
    with pytest.raises(KeyboardInterrupt):
        engine.train_pass(np.arange(2), None)
    assert len(copied) == 31  # sixteen began, and all but one ended
    engine.close()


def test_the_engine_waits_for_work_that_goes_on(cupy):
    engine, asked = begun(*some_rows(600)), []
    cupy.told = lambda name: name == "eventQuery" and (asked.append(name) or (600 if len(asked) < 4 else 0))
    engine.train_pass(np.arange(5), None)
    assert len(asked) > 4
    engine.close()


@pytest.mark.parametrize("event", ["zeros", "eventQuery", "walk", "setDevice"])
def test_auto_trains_on_the_cpu_after_a_gpu_was_lost(cupy, event, monkeypatch):
    monkeypatch.setattr(devices, "_told", set())
    X, y = some_rows(60, 4, 1)
    when(cupy, event, cupy.lose)
    with pytest.warns(UserWarning, match=r"The GPU failed while .* Meanwhile the CPU is used"):
        probes = rb.Probes(folds=None, device="auto").fit(X, y)
    assert probes.device_.startswith("the CPU")
    np.testing.assert_array_equal(probes.coef_, rb.Probes(folds=None).fit(X, y).coef_)


def test_a_missing_package_is_a_sentence(fresh, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DeviceError, match=r"needs CuPy, which is not installed\. .*'cupy-cuda13x\[ctk\]'"):
        GpuEngine()


def test_a_missing_gpu_is_a_sentence(cupy):
    cupy.lose(100)
    with pytest.raises(DeviceError, match=r"No NVIDIA GPU can be used: cudaErrorNoDevice.* Use device='cpu'"):
        GpuEngine()
    cupy.lose(0)
    cupy.cuda.runtime.getDeviceCount = lambda: 0
    with pytest.raises(DeviceError, match="There is no NVIDIA GPU number 0: 0 were found"):
        GpuEngine()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (CUDARuntimeError(2), "memory of the GPU ran out while training"),
        (CUDARuntimeError(46), "The GPU failed while training: cudaErrorDevices"),
        (gpu._BlasError("CUBLAS_STATUS_ALLOC_FAILED"), "memory of the GPU ran out"),
    ],
)
def test_errors_of_cuda_are_sentences(error, sentence):
    with pytest.raises(DeviceError, match=sentence), gpu._told("training"):
        raise error


def test_other_errors_are_not_called_errors_of_the_gpu():
    with pytest.raises(ZeroDivisionError), gpu._told("training"):
        raise ZeroDivisionError


SHARED = {"8.0": 163 << 10, "8.6": 99 << 10, "9.0": 227 << 10}


@pytest.mark.parametrize("capability", SHARED)
@pytest.mark.parametrize("k", [1, 16, 128, 700, 1024, 1453, 4096, 100_000])
def test_shapes_fit_the_gpu(k, capability):
    shape = Shape.of(k, SHARED[capability])
    assert 1 <= shape.groups <= gpu.MOST_PROBLEM_GROUPS
    assert shape.warps * shape.problems <= 16  # named barriers, and threads of a block
    assert shape.problems >= 1
    assert shape.tile is not None
    pw, fw, _, nt = shape.tile
    assert 32 * pw * fw <= 1024
    assert 64 % (8 * nt * fw) == 0 or (8 * nt * fw) <= 64
    assert gpu.TILE_STAGES * gpu.TILE_DEPTH * (8 * nt * fw + gpu.TILE_PITCH) * 8 <= SHARED[capability]
    assert 256 * 64 * 4 + 256 * 8 + 64 + shape.problems * (256 + 320 * 8 + 16) <= SHARED[capability]


def test_a_small_gpu_walks_fewer_problems_at_a_time(fresh, monkeypatch):
    asked = {}
    for shared in (99 << 10, 227 << 10):
        fake = install(monkeypatch, shared=shared)
        gpu._cupy.cache_clear()
        gpu._kernels.cache_clear()
        engine = begun(*some_rows(300, 4, 2000))
        engine.train_pass(np.arange(2000), None)
        engine.close()
        asked[shared] = fake.shared_memory["walk"]
        assert asked[shared] <= shared
    assert asked[99 << 10] < asked[227 << 10]


def test_a_gpu_that_is_too_old_is_a_sentence(fresh, monkeypatch):
    install(monkeypatch, capability="75")
    with pytest.raises(DeviceError, match=r"GPU Fake has compute capability 7\.5, .* needs 8\.0 or more"):
        GpuEngine()


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(
            "CuPy failed to load libnvrtc.so.13: OSError: libnvrtc.so.13: cannot open shared object file"
        ),
        RuntimeError("Failed to find CUDA headers. Please install the CUDA Toolkit."),
        ImportError('Failure finding "libcublasLt.so.13": No such file'),
        OSError("libcublas.so.13: cannot open shared object file"),
    ],
)
@pytest.mark.parametrize("event", ["zeros", "RawModule", "take"])
def test_a_missing_part_of_cuda_is_a_sentence(cupy, error, event, monkeypatch):
    def fail():
        raise error

    X, y = some_rows(60, 4, 1)
    when(cupy, event, fail)
    with pytest.raises(DeviceError, match=r"lacks a part of CUDA \(.*\)\. Install it .*'cupy-cuda13x\[ctk\]'"):
        rb.Probes(folds=None, device="cuda").fit(X, y)
    monkeypatch.setattr(devices, "_told", set())
    when(cupy, event, fail)
    with pytest.warns(UserWarning, match="Meanwhile the CPU is used"):
        assert rb.Probes(folds=None, device="auto").fit(X, y).device_.startswith("the CPU")


def test_a_package_that_cannot_be_loaded_is_a_sentence(fresh, monkeypatch):
    def broken(name):
        raise ImportError("\n================\nFailed to import CuPy.\n")

    monkeypatch.setattr(gpu, "import_module", broken)
    with pytest.raises(DeviceError, match=r"CuPy, which cannot be loaded \(Failed to import CuPy\.\)"):
        GpuEngine()


def test_cublas_is_looked_for_where_there_is_no_list_of_libraries(cupy, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cupy", cupy)

    def missing(*_):
        raise FileNotFoundError("/proc/self/maps")

    monkeypatch.setattr("builtins.open", missing)
    with pytest.raises(DeviceError, match="cuBLAS was not found"):
        gpu._cublas()
