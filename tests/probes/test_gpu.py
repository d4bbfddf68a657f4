"""The engine of the GPU gives the bits of the library's loop, and says in sentences what it cannot do.

`make test-gpu` runs these tests. Without a GPU most are skipped. What a GPU must give was computed by the loop and
is kept in ``expected.json``, so they need neither numba nor scikit-learn.
"""

from __future__ import annotations

import _thread
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from rosenblatt.exceptions import DeviceError, NonFiniteError, TrainingOverflowError
from rosenblatt.loops.rules import Rule
from rosenblatt.probes import gpu
from rosenblatt.probes.engine import Matrix, Plan, Problems, States
from rosenblatt.probes.gpu import GpuEngine, Shape
from tests.probes.gpu_cases import begun, cases, digest, make, some_rows


def _missing() -> str:
    try:
        gpu.require_gpu()
    except DeviceError as error:
        return str(error)
    return ""


on_a_gpu = pytest.mark.skipif(bool(_missing()), reason=f"needs an NVIDIA GPU and CuPy: {_missing()}")
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text("utf-8"))
CASES = cases()
WAYS = {
    "usual": {},
    "by one warp": {"shape": Shape(1, 1, 3, None)},
    "streamed": {"resident": False},
    "in two groups": {"shape": Shape(2, 2, 2, (2, 2, 2, 4))},
    "in large tiles": {"shape": Shape(1, 4, 2, (4, 2, 2, 4))},
}


def trained(case, engine):
    """Train a case; return what ``expected.json`` holds, and the states."""
    made = make(case)
    begin = States(*made.begin[:2], np.full(case.k, made.begin[2])) if made.begin else None
    problems = Problems(made.labels, made.column, made.fold, made.left_out, made.weight)
    plan = Plan(Rule(case.eta, case.beta, case.margin, *case.ties), case.average)
    engine.start(Matrix((made.rows,), case.kind), problems, plan, begin)
    mistakes = [engine.train_pass(*each).tolist() for each in zip(made.actives, made.orders, strict=True)]
    states = engine.states()
    return {"mistakes": mistakes, "w": digest(states.w), "u": digest(states.u) if case.average else ""}, states


@on_a_gpu
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part", range(5))
def test_bits_are_those_of_the_loop(way, part):
    some = CASES[part::5] if way == "usual" else CASES[part::15]
    for case in some:
        engine = GpuEngine(**WAYS[way])
        found, _ = trained(case, engine)
        engine.close()
        assert found == EXPECTED[case.name], case.name


@on_a_gpu
def test_rows_in_doubt_are_scored_as_the_loop_does():
    engine = GpuEngine()
    trained(next(case for case in CASES if case.data == "ties" and case.kind == "float32"), engine)
    assert engine.exact_scores > 0
    engine.close()


@on_a_gpu
def test_a_row_that_is_not_finite_is_named_and_nothing_is_kept():
    X, y = some_rows()
    X[1234, 7] = np.nan
    engine = begun(X, y)
    order = np.roll(np.arange(3000), 5).astype(np.uint64)
    with pytest.raises(NonFiniteError, match="Row 1234 ") as caught:
        engine.train_pass(np.arange(5), order)
    assert caught.value.row == 1234
    assert not engine.states().w.any()
    engine.close()


@on_a_gpu
def test_weights_beyond_the_largest_float_are_an_error():
    X, y = some_rows()
    X[5] *= 1e160
    X[7] *= 1e200
    engine = begun(X, y)
    with pytest.raises(TrainingOverflowError, match="after 7 visits"):
        engine.train_pass(np.arange(5), None)
    assert not engine.states().w.any()
    engine.close()


@on_a_gpu
def test_an_interrupt_leaves_the_last_whole_pass():
    random = np.random.RandomState(0)
    X, y = random.randn(400_000, 512).astype(np.float32), np.where(random.randn(400_000, 300) > 0, 1, -1)
    engine = begun(X, y.astype(np.int8))
    engine.train_pass(np.arange(300), None)
    before = engine.states()
    threading.Timer(0.03, _thread.interrupt_main).start()  # a pass takes far longer
    with pytest.raises(KeyboardInterrupt):
        engine.train_pass(np.arange(300), None)
    after = engine.states()
    np.testing.assert_array_equal(after.w, before.w)
    np.testing.assert_array_equal(after.u, before.u)
    np.testing.assert_array_equal(after.visits, before.visits)
    engine.train_pass(np.arange(300), None)  # and training goes on
    engine.close()


@on_a_gpu
def test_rows_that_are_judged_are_counted():
    X, y = some_rows()
    X, fold = np.round(X * 4), np.arange(3000, dtype=np.int8) % 3
    problems = Problems(y, np.arange(5), fold, np.array([-1, 0, 1, 2, 0], np.int8))
    engine = GpuEngine()
    engine.start(Matrix((X,), "float64"), problems, Plan())
    hypothesis = np.round(np.random.RandomState(1).randn(5, 41) * 2)
    for rows in (slice(None), slice(100, 2900)):
        judged = problems.judged(rows)
        right = ((X[rows] @ hypothesis[:, :-1].T + hypothesis[:, -1] > 0) == (judged > 0)) & (judged != 0)
        assert engine.count_right(hypothesis, rows).tolist() == right.sum(axis=0).tolist()
    engine.close()


@on_a_gpu
@pytest.mark.parametrize("side", [-1, 1])
def test_a_judged_score_beyond_the_largest_float_is_an_error(side):
    X, y = some_rows()
    y[7], X[7] = side, 1e300
    engine = begun(X, y)
    with pytest.raises(TrainingOverflowError, match="The score of row 7 exceeds") as caught:
        engine.count_right(np.full((5, 41), 1e10))
    assert caught.value.row == 7
    assert (engine.count_right(np.ones((5, 41))) <= 3000).all()
    engine.close()


@on_a_gpu
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("library", ["torch", "cupy", "jax"])
def test_tensors_are_read_where_they_lie(library, kind):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    X, y = some_rows()
    if library == "torch":
        tensor = module.asarray(X.astype(np.float32), device="cuda").to(getattr(module, kind))
        address = tensor.data_ptr()
    elif library == "jax":
        if kind == "float64":
            pytest.skip("JAX has float64 only where it is asked for")
        tensor = module.numpy.asarray(X.astype(np.float32)).astype(kind)
        tensor.block_until_ready()
        address = tensor.unsafe_buffer_pointer()
    else:
        if kind == "bfloat16":
            pytest.skip("CuPy makes no bfloat16 of numpy's arrays")
        tensor = module.asarray(X.astype(np.float32)).astype(kind)
        address = tensor.data.ptr
    engine = GpuEngine()
    engine.start(Matrix((tensor,), kind, on_device=True), Problems(y, np.arange(5)), Plan())
    assert int(engine._all["parts"][0]) == address
    engine.train_pass(np.arange(5), None)
    found = engine.states()
    narrow = X.astype(np.float32)
    if kind == "bfloat16":
        bits = narrow.view(np.uint32)
        host = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    else:
        host = narrow.astype(kind)
    engine.start(Matrix((host,), kind), Problems(y, np.arange(5)), Plan())
    engine.train_pass(np.arange(5), None)
    np.testing.assert_array_equal(found.w, engine.states().w)
    engine.close()


@on_a_gpu
def test_several_parts_are_one_matrix():
    X, y = some_rows()
    results = []
    for parts in ((X,), (X[:1000], X[1000:1001], X[1001:])):
        for resident in (True, False):
            engine = GpuEngine(resident=resident)
            engine.start(Matrix(parts, "float64"), Problems(y, np.arange(5)), Plan())
            engine.train_pass(np.arange(5), np.arange(3000, dtype=np.uint64)[::-1].copy())
            results.append(digest(engine.states().w))
            engine.close()
    assert len(set(results)) == 1


@on_a_gpu
def test_memory_that_is_not_enough_is_said_before_training(monkeypatch):
    X, y = some_rows()
    monkeypatch.setattr(gpu, "USED_SHARE", 1e-6)
    with pytest.raises(DeviceError, match=r"needs .* GiB of the GPU's memory, and 0.0 GiB are free"):
        begun(X, y)


@on_a_gpu
def test_half_steps_run_on_the_cpu():
    engine = GpuEngine()
    X, y = some_rows()
    with pytest.raises(DeviceError, match="half steps on ties"):
        engine.start(Matrix((X,), "float64"), Problems(y, np.arange(5)), Plan(Rule(tie_plus=0.5, tie_minus=0.5)))


# Without a GPU


def test_the_kernels_are_in_the_package():
    source = Path(gpu.__file__).with_name("kernels.cu").read_text("utf-8")
    for name in ("prepare", "label", "quantise", "score_few", "walk", "update", "update_tiles", "chains"):
        assert f"{name}(" in source


def test_the_cases_are_enough_and_their_bits_are_kept():
    assert len(CASES) >= 200
    assert {case.name for case in CASES} == set(EXPECTED)
