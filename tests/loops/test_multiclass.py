"""Several machines on one reading of a row: every decision, weight and average is the reference's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.learning.linear import Scheme
from rosenblatt.loops import passes, reference
from rosenblatt.loops.layout import Log, Machines, Sides, oriented
from rosenblatt.loops.rules import Rule
from tests.loops.oracles import rows_of
from tests.loops.test_passes import rules
from tests.shared.examples import examples, slowly

SCHEMES = ("direct", "ovr", "ovo")


@st.composite
def problems(draw):
    """Small integers, so that ties abound; numbers of classes and features around the edges of lanes and pairs."""
    K = draw(st.sampled_from([3, 4, 5, 8, 9]))
    n, d = draw(st.integers(1, 9)), draw(st.sampled_from([1, 2, 7, 8, 33, 41]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-3, 4, size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    y = rng.integers(K, size=n)
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], size=n) if draw(st.booleans()) else np.ones(n)
    order = rng.integers(n, size=draw(st.integers(0, 31)))
    return K, X, y, weight, order, rng


def _run(scheme, X, y, weight, order, rule, layout, w, zero, average):
    rows = rows_of(X, layout)
    targets = scheme.targets(np.asarray(y, np.int64), np.asarray(weight, float), zero)
    w = oriented(np.array(w, float), rows)
    u = np.zeros_like(w) if average else None
    log = Log.room(len(order) * (targets.members.shape[1] if isinstance(targets, Machines) else 1), len(w))
    order = np.asarray(order, np.uint64)
    in_the_loop = u if layout.startswith("dense") else None
    k, made = passes.train(rows, targets, order, rule, w, in_the_loop, 0, log)
    if u is not in_the_loop:
        passes.defer(rows, targets, order, log, k, rule.beta, u, 0)
    assert made == len(order)
    return rows, targets, w, u, log.part(slice(k))


@pytest.mark.parametrize("layout", ["dense", "csr", *slowly("dense32", "csr64")])
@pytest.mark.parametrize("kind", SCHEMES)
@settings(max_examples=examples(150))
@given(problem=problems(), rule=rules, zero=st.sampled_from([-1, 1]), start=st.booleans(), average=st.booleans())
def test_machines_equal_the_reference(kind, layout, problem, rule, zero, start, average):
    K, X, y, weight, order, rng = problem
    scheme = Scheme(kind, K)
    w0 = rng.integers(-2, 3, size=scheme.shape(X.shape[1])) * start
    rows, targets, w, u, log = _run(scheme, X, y, weight, order, rule, layout, w0, zero, average)
    plain = X.tolist(), y.tolist(), order.tolist(), rule
    if kind == "direct":
        expected = reference.train_direct(*plain, w=w0.tolist(), weight=weight.tolist(), zero=zero)
    else:
        sides = reference.sides(kind, K)
        expected = reference.train_machines(*plain, sides=sides, w=w0.tolist(), weight=weight.tolist())
    assert log.at.tolist() == [mistake.visit for mistake in expected.mistakes]
    assert log.machine.tolist() == [mistake.machine for mistake in expected.mistakes]
    assert log.score.tolist() == [mistake.score for mistake in expected.mistakes]
    assert log.step.tolist() == [mistake.step for mistake in expected.mistakes]
    assert w.tolist() == expected.w
    if average and len(order):
        visits = len(order)
        assert ((w * visits - u) / visits).tolist() == [[float(v) for v in row] for row in expected.average]
    again, u_again = oriented(w0.astype(float), rows), np.zeros_like(w)
    index = order[log.at].astype(np.uint64)
    assert passes.replay(rows, targets, index, log, rule, again, u_again) == -1
    assert again.tolist() == w.tolist()
    if average:
        assert u_again.tolist() == u.tolist()


@pytest.mark.parametrize("layout", ["dense", "csr", *slowly("dense32", "csr64")])
@pytest.mark.parametrize("d", [1, 31, 100])
@pytest.mark.parametrize("machines", [2, 3, 9, 39, *slowly(4, 7, 8, 12, 14, 17, 20, 21)])
def test_scores_of_several_machines_are_those_of_each(layout, d, machines):
    """Pairs of rows, pairs of machines and lanes of machines must not show in the bits of floats."""
    rng = np.random.default_rng(d * machines)
    rows = rows_of(rng.normal(size=(13, d)) * (rng.random((13, d)) < 0.6), layout)
    w = rng.normal(size=(machines, d + 1))
    out = np.empty((13, machines))
    passes.machine_scores(
        rows, oriented(w, rows), np.arange(13), np.arange(machines), np.empty((2, machines)), out
    )
    one = np.empty(13)
    for m in range(machines):
        passes.scores(rows, w[m].copy(), one)
        assert out[:, m].tobytes() == one.tobytes()


@pytest.mark.parametrize("layout", ["dense", "csr", *slowly("dense32", "csr64")])
@pytest.mark.parametrize("kind", ["ovr", "ovo"])
def test_each_machine_is_the_binary_perceptron_bit_for_bit(layout, kind):
    rng = np.random.default_rng(3)
    K, X, y = 5, rng.normal(size=(90, 37)), rng.integers(5, size=90)
    order = rng.integers(90, size=700)
    scheme = Scheme(kind, K)
    start = np.zeros(scheme.shape(37))
    _, _, w, u, log = _run(scheme, X, y, np.ones(90), order, Rule(margin=0.5), layout, start, -1, True)
    rows = rows_of(X, layout)
    for m, side in enumerate(reference.sides(kind, K)):
        pull = np.array([float(side[c]) for c in y])
        one, one_u, alone = np.zeros(38), np.zeros(38), Log.room(700)
        visits = order.astype(np.uint64)
        k, _ = passes.train(rows, Sides(pull), visits, Rule(margin=0.5), one, None, 0, alone)
        passes.defer(rows, Sides(pull), visits, alone, k, 1.0, one_u, 0)
        assert w[m].tobytes() == one.tobytes()
        assert u[m].tobytes() == one_u.tobytes()
        assert log.score[log.machine == m].tobytes() == alone.score[:k].tobytes()


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_two_classes_compared_directly_are_the_binary_perceptron(layout):
    """One vector gains what the other loses, so each is the one machine, or its opposite."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 21)), rng.integers(2, size=60)
    order = rng.integers(60, size=400)
    _, _, w, _, log = _run(
        Scheme("direct", 2), X, y, np.ones(60), order, Rule(), layout, np.zeros((2, 22)), -1, False
    )
    rows = rows_of(X, layout)
    one, alone = np.zeros(22), Log.room(400)
    k, _ = passes.train(rows, Sides(2.0 * y - 1.0), order.astype(np.uint64), Rule(), one, None, 0, alone)
    assert w.tobytes(order="C") == np.stack([0.0 - one, one]).tobytes()
    assert log.at.tolist() == alone.at[:k].tolist()


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("kind", SCHEMES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("at", [1, 2])
def test_a_row_that_is_not_finite_stops_machines_before_it_does_harm(layout, kind, bad, at):
    X = np.ones((4, 2))
    X[at, 1] = bad
    scheme = Scheme(kind, 3)
    rows, targets = rows_of(X, layout), scheme.targets(np.array([0, 1, 2, 0]), np.ones(4), -1)
    w = oriented(np.zeros(scheme.shape(2)), rows)
    before = oriented(np.zeros(scheme.shape(2)), rows)
    _, made = passes.train(rows, targets, np.arange(4, dtype=np.uint64), Rule(), w, None, 0, Log.room(12, len(w)))
    passes.train(rows, targets, np.arange(at, dtype=np.uint64), Rule(), before, None, 0, Log.room(12, len(w)))
    assert made == at
    assert w.tolist() == before.tolist()


@pytest.mark.parametrize("margin", [-1.0, 0.0, 5.0])
def test_a_lead_that_is_not_finite_is_no_lead(margin):
    """Class 0 has the score inf, or leads all others by inf, so that no rival is near."""
    rows, targets = (
        rows_of(np.full((1, 1), 1e200), "csr"),
        Scheme("direct", 3).targets(np.zeros(1, int), np.ones(1), -1),
    )
    for own, others in ((1e200, 0.0), (0.0, -1e200), (1e108, -1e108)):
        w = oriented(np.array([[own, 0.0], [others, 0.0], [others, 0.0]]), rows)
        _, made = passes.train(
            rows, targets, np.zeros(1, np.uint64), Rule(margin=margin), w, None, 0, Log.room(3, 3)
        )
        assert made == 0
