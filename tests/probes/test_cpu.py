"""The engine of the CPU gives the bits of single perceptrons, and of the textbook."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.exceptions import DeviceError, NonFiniteError, TrainingOverflowError
from rosenblatt.loops.reference import train as textbook
from rosenblatt.loops.rules import Rule
from rosenblatt.probes import cpu
from rosenblatt.probes.cpu import CpuEngine
from rosenblatt.probes.engine import Matrix, Plan, Problems, States, widen
from rosenblatt.threads import using
from tests.shared.examples import examples

KINDS = ["float64", "float32", "float16", "bfloat16", "uint8"]


def bits(values):
    return np.ascontiguousarray(values).view(np.int64).tolist()


def rows_of(rng, n, d, kind, scale=1.0):
    if kind == "uint8":
        return rng.integers(0, 4, (n, d)).astype(np.uint8)
    X = rng.standard_normal((n, d)) * scale
    if kind == "bfloat16":
        return (X.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return X.astype(kind)


def trained(matrix, problems, plan, orders, begin=None):
    engine = CpuEngine()
    engine.start(matrix, problems, plan, begin)
    everyone = np.arange(problems.count)
    mistakes = [engine.train_pass(everyone, order) for order in orders]
    return engine, mistakes


def single(X, signs, plan, orders, weight=None):
    """Return a `Perceptron` on the same visits; a label 0 is a row of weight 0."""
    rule = plan.rule
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.Perceptron(
            average=plan.average,
            eta0=rule.eta,
            bias="unit" if rule.beta else None,
            margin=rule.margin,
            max_iter=len(orders),
            n_iter_no_change=99,
            decide=False,
            order=[order.astype(np.int64) for order in orders],
        ).fit(X, np.where(signs > 0, 1, -1), sample_weight=(signs != 0) * (1.0 if weight is None else weight))


@settings(max_examples=examples(200))
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    d=st.sampled_from([1, 3, 7, 8, 9, 31, 32, 33, 45, 72]),
    k=st.integers(1, 5),
    kind=st.sampled_from(KINDS),
    rule=st.tuples(st.sampled_from([1.0, 0.5, 0.1]), st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.7])),
    average=st.booleans(),
    passes=st.integers(1, 3),
    cached=st.sampled_from([1, 1 << 18]),
    folds=st.booleans(),
    weighted=st.booleans(),
)
def test_problems_have_the_bits_of_single_perceptrons(
    seed, n, d, k, kind, rule, average, passes, cached, folds, weighted
):
    rng, plan = np.random.default_rng(seed), Plan(Rule(*rule), average)
    X = rows_of(rng, n, d, kind, 10.0 ** rng.integers(-3, 4))
    X[rng.integers(n)] = X[0]  # equal rows
    labels = rng.choice([-1, 0, 1], (n, k), p=[0.45, 0.1, 0.45]).astype(np.int8)
    labels[0], labels[-1] = 1, -1
    fold = rng.integers(0, 2, n).astype(np.int8) if folds else None
    if folds:
        fold[[0, -1]] = 1
    left_out = (np.arange(k) % 2 - 1).astype(np.int8) if folds else None  # none, and fold 0
    weight = rng.choice([0.5, 1.0, 2.0], n) if weighted else None
    problems = Problems(labels, np.arange(k), fold, left_out, weight)
    orders = [rng.permutation(n).astype(np.uint64) for _ in range(passes)]
    before, cpu.CACHED_BYTES = cpu.CACHED_BYTES, cached
    try:
        engine, mistakes = trained(Matrix((X,), kind), problems, plan, orders)
    finally:
        cpu.CACHED_BYTES = before
    states, signs = engine.states(), problems.signs(slice(None))
    wide = widen(X, kind)
    right = engine.count_right(states.hypothesis())
    judged = problems.judged(slice(None))
    for m in range(k):
        if not ((signs[:, m] > 0).any() and (signs[:, m] < 0).any()):
            continue
        model = single(wide, signs[:, m], plan, orders, weight)
        made = model.n_iter_  # a perceptron ends with a pass without a mistake, and so does `train`
        if made < passes:
            continue
        assert bits(model._state.w) == bits(states.w[m])
        assert not plan.average or bits(model._state.u) == bits(states.u[m])
        assert model.mistakes_per_pass_.tolist() == [int(each[m]) for each in mistakes]
        assert states.visits[m] == n * passes
        assert bits(model._state.hypothesis()) == bits(states.hypothesis()[m])
        expected = np.where(model.decision_function(wide) > 0, 1, -1)
        assert right[m] == np.count_nonzero((judged[:, m] != 0) & (expected == judged[:, m]))


def test_integers_are_those_of_the_textbook():
    """Small integers round nothing, so that even fractions agree."""
    rng = np.random.default_rng(3)
    X, signs = rng.integers(-3, 4, (30, 5)).astype(float), rng.choice([-1, 1], (30, 3)).astype(np.int8)
    order = np.concatenate([rng.permutation(30) for _ in range(2)])
    plan = Plan(Rule(tie_plus=0.5, tie_minus=1.0), average=True)
    engine, _ = trained(Matrix((X,), "float64"), Problems(signs, np.arange(3)), plan, [order.astype(np.uint64)])
    rows = [[Fraction(int(value)) for value in row] for row in X]
    for m in range(3):
        found = textbook(rows, signs[:, m].tolist(), order.tolist(), plan.rule)
        states = engine.states()
        assert states.w[m].tolist() == [float(each) for each in [*found.w, found.b]]
        sums = [each * 60 for each in [*found.average_w, found.average_b]]
        assert [60 * w - u for w, u in zip(states.w[m], states.u[m], strict=True)] == [
            float(each) for each in sums
        ]


@pytest.mark.parametrize("kind", KINDS)
def test_shards_and_memory_maps_have_the_bits_of_one_array(kind, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, signs = rows_of(rng, 50, 9, kind), rng.choice([-1, 1], (50, 4)).astype(np.int8)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    monkeypatch.setattr(cpu, "READ_BYTES", 9 * 8 * 7)  # seven rows at a time
    problems, orders = Problems(signs, np.arange(4)), [rng.permutation(50).astype(np.uint64) for _ in range(2)]
    found = []
    for parts, streamed in (((X,), False), ((X[:20], X[20:21], X[21:]), True), ((mapped,), True)):
        with using(2):
            engine, mistakes = trained(Matrix(parts, kind, streamed=streamed), problems, Plan(), orders)
        right = engine.count_right(engine.states().hypothesis(), slice(3, 40))
        found.append(
            (bits(engine.states().w), bits(engine.states().u), np.array(mistakes).tolist(), right.tolist())
        )
    assert found[0] == found[1] == found[2]


def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    X, signs = rows_of(rng, 80, 40, "float32"), rng.choice([-1, 0, 1], (80, 7)).astype(np.int8)
    found = []
    for threads in (1, 2, 5):
        with using(threads):
            engine, _ = trained(Matrix((X,), "float32"), Problems(signs, np.arange(7)), Plan(), [None, None])
        found.append(bits(engine.states().u))
    assert found[0] == found[1] == found[2]


def test_a_problem_that_ended_stays_as_it_is():
    rng = np.random.default_rng(1)
    X, signs = rows_of(rng, 30, 4, "float64"), rng.choice([-1, 1], (30, 3)).astype(np.int8)
    engine, _ = trained(Matrix((X,), "float64"), Problems(signs, np.arange(3)), Plan(), [None])
    before = engine.states()
    mistakes = engine.train_pass(np.array([0, 2]), None)
    after = engine.states()
    assert len(mistakes) == 2
    assert bits(before.w[1]) == bits(after.w[1])
    assert after.visits.tolist() == [60, 30, 60]
    again, _ = trained(Matrix((X,), "float64"), Problems(signs, np.arange(3)), Plan(), [None], begin=before)
    assert bits(again.states().u[[0, 2]]) == bits(after.u[[0, 2]])


def test_a_bad_row_is_named_and_the_pass_is_not_made():
    X = np.ones((6, 3), np.float32)
    X[4, 1] = np.nan
    signs = np.array([[1, -1, 1, -1, 1, -1]] * 2, np.int8).T.copy()
    engine, _ = trained(Matrix((X[:4],), "float32"), Problems(signs[:4], np.arange(2)), Plan(), [])
    before = bits(engine.states().w)
    engine.start(Matrix((X[:3], X[3:]), "float32", streamed=True), Problems(signs, np.arange(2)), Plan())
    with pytest.raises(NonFiniteError, match="X has nan at row 4, column 1") as caught:
        engine.train_pass(np.arange(2), None)
    assert (caught.value.row, caught.value.column) == (4, 1)
    assert bits(engine.states().w) == before
    assert engine.states().visits.tolist() == [0, 0]


def test_an_overflow_is_told_from_a_bad_row():
    X = np.array([[1e200], [-1e200]])
    engine = CpuEngine()
    engine.start(Matrix((X,), "float64"), Problems(np.array([[1], [1]], np.int8), np.arange(1)), Plan())
    with pytest.raises(TrainingOverflowError, match="row 1 in problem 0"):
        engine.train_pass(np.arange(1), None)


def test_rows_on_a_gpu_are_not_for_the_cpu():
    with pytest.raises(DeviceError, match="device='cuda'"):
        CpuEngine().start(Matrix((np.ones((1, 1)),), "float64", on_device=True), Problems(np.ones((1, 1), np.int8),
                          np.arange(1)), Plan())  # fmt: skip


def test_states_without_visits_predict_zero():
    assert States(np.ones((1, 2)), np.zeros((1, 2)), np.zeros(1, np.int64)).hypothesis().tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("way", ["in memory", "shards", "halves"])
@pytest.mark.parametrize("folded", [False, True])
def test_a_row_in_no_problem_must_be_finite_too(way, folded):
    """As a row of weight 0 must, and as on a GPU."""
    rng = np.random.default_rng(3)
    X, labels = rng.standard_normal((60, 3)), rng.choice([-1, 1], (60, 2)).astype(np.int8)
    X[44, 1] = np.inf
    if folded:  # the fold that all problems leave out
        fold, left_out = (np.arange(60) == 44).astype(np.int8), np.ones(2, np.int8)
        problems = Problems(labels, np.arange(2), fold, left_out)
    else:
        labels[44] = 0
        problems = Problems(labels, np.arange(2))
    matrix = {
        "in memory": Matrix((X,), "float64"),
        "shards": Matrix((X[:50], X[50:]), "float64", streamed=True),
        "halves": Matrix((X.astype(np.float16),), "float16"),
    }[way]
    order = rng.permutation(60).astype(np.uint64)
    for visits in (None, order):
        with pytest.raises(NonFiniteError, match="X has inf at row 44, column 1") as caught:
            trained(matrix, problems, Plan(), [visits])
        assert (caught.value.row, caught.value.column) == (44, 1)
    engine, _ = trained(matrix, problems, Plan(), [order[order != 44]])  # it is looked at where it is visited
    with pytest.raises(NonFiniteError, match="row 44"):
        engine.train_pass(np.arange(2), order)
    with pytest.raises(NonFiniteError, match="row 44"):
        rb.Probes(folds=None).fit(X, np.where(np.arange(60) == 44, 0, labels[:, 0]))
    with pytest.raises(NonFiniteError, match="row 44"):
        rb.Perceptron().fit(X, labels[:, 0], sample_weight=np.arange(60) != 44)


def test_idle_rows_are_those_that_no_problem_visits():
    rng = np.random.default_rng(5)
    for _ in range(50):
        labels = rng.choice([-1, 0, 1], (30, 4), p=[0.1, 0.8, 0.1]).astype(np.int8)
        fold, left_out = rng.integers(0, 3, 30).astype(np.int8), rng.integers(-1, 3, 5).astype(np.int8)
        problems = Problems(labels, rng.integers(0, 4, 5), fold, left_out)
        expected = (problems.signs(slice(None)) == 0).all(axis=1)
        found = cpu._idle_rows(problems, fold, left_out.astype(np.int64))
        assert found.tolist() == expected.tolist()
