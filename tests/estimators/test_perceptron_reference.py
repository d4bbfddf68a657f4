"""The estimator against the textbook on fractions: every convention, exactly."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rosenblatt.learners.order import Random, Shuffled
from tests.shared.strategies import DYADIC, exact_rule, problems, textbook, trained

TIES = st.sampled_from(["mistake", "sign", "half", "correct"])
ZEROS = st.sampled_from([-1, 1])
BIASES = st.sampled_from(["unit", "radius", None, 0.5, 3])
ORDERS = st.sampled_from(["cyclic", "shuffle", "random", "array", "list", "callable"])


@st.composite
def rules(draw):
    margin = draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 4.0]))
    return {"tie": draw(TIES), "zero": draw(ZEROS), "margin": margin, "eta0": draw(st.sampled_from(DYADIC))}


def _beta(bias, X):
    if bias == "radius":
        return float((X**2).sum(axis=1).max())
    return {"unit": 1.0, None: 0.0}.get(bias, bias)


def _drawn(order, most):
    return [order.visits(epoch) for epoch in range(1, most + 1)]


def _passes(kind, n, most, seed, data):
    """Return the order parameter, and the rows of each pass it stands for."""
    rng = np.random.default_rng(seed)
    order_seed = int(rng.integers(2**64, dtype=np.uint64))  # what the estimator draws for its orders
    match kind:
        case "cyclic":
            return "cyclic", [list(range(n))] * most
        case "shuffle":
            return "shuffle", _drawn(Shuffled(n, order_seed), most)
        case "random":
            return "random", _drawn(Random(n, order_seed), most)
    row = st.integers(0, n - 1)
    if kind == "array":
        extra = data.draw(st.lists(row, max_size=3))
        one = data.draw(st.permutations([*range(n), *extra]))
        return np.array(one), [one] * most
    each = data.draw(st.lists(st.lists(row, min_size=1, max_size=n + 2), min_size=most, max_size=most))
    return ([np.array(one) for one in each] if kind == "list" else lambda epoch: each[epoch - 1]), each


def _agree(clf, book, X, y, *, average):
    mistakes = book.result.mistakes
    assert clf.trace_.index.tolist() == [m.index for m in mistakes]
    assert clf.trace_.visit.tolist() == [m.visit for m in mistakes]
    assert clf.trace_.score.tolist() == [float(m.score) for m in mistakes]
    assert clf.trace_.step.tolist() == [float(m.step) for m in mistakes]
    assert (clf.n_iter_, clf.t_, clf.n_mistakes_) == (book.passes, book.visits, len(mistakes))
    expected = book.averaged if average else book.padded
    assert [*clf.coef_[0], clf.intercept_[0]] == expected.tolist()
    assert (clf.stop_reason_ == "max_iter") == (not book.settled)


@settings(max_examples=400)
@given(st.data(), problems(), rules(), BIASES, ORDERS, st.booleans(), st.booleans())
def test_every_convention_as_in_the_textbook(data, problem, rule, bias, kind, average, sparse):
    X, y = problem
    seed, most = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 6))
    order, passes = _passes(kind, len(X), most, seed, data)
    clf = trained(
        csr_array(X) if sparse else X,
        y,
        **rule,
        bias=bias,
        order=order,
        max_iter=most,
        average=average,
        random_state=seed,
    )
    book_rule = exact_rule(
        eta=rule["eta0"], beta=_beta(bias, X), margin=rule["margin"], tie=rule["tie"], zero=rule["zero"]
    )
    book = textbook(problem, passes, book_rule, zero=rule["zero"])
    _agree(clf, book, X, y, average=average)
    if clf.converged_ and not average:
        assert clf.score(X, y) == 1.0


@settings(max_examples=300)
@given(st.data(), problems(), rules(), st.booleans(), st.booleans())
def test_weights_and_starts_as_in_the_textbook(data, problem, rule, average, sparse):
    X, y = problem
    n, d = X.shape
    weight = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n))
    by_class = {label: data.draw(st.sampled_from([0.0, 0.5, 1.0, 4.0])) for label in (-1, 1)}
    pull = np.array([w * by_class[label] for w, label in zip(weight, y.tolist(), strict=True)])
    assume(pull.any())
    start = data.draw(st.lists(st.integers(-3, 3), min_size=d + 1, max_size=d + 1))
    clf = trained(
        csr_array(X) if sparse else X,
        y,
        fit={"coef_init": start[:-1], "intercept_init": start[-1], "sample_weight": weight},
        **rule,
        class_weight=by_class,
        order="cyclic",
        max_iter=4,
        average=average,
    )
    book_rule = exact_rule(eta=rule["eta0"], margin=rule["margin"], tie=rule["tie"], zero=rule["zero"])
    book = textbook(
        problem, [list(range(n))] * 4, book_rule, zero=rule["zero"], w=start[:-1], b=start[-1], weight=pull
    )
    _agree(clf, book, X, y, average=average)


@given(problems(), rules(), st.sampled_from(["unit", None, "radius"]), st.integers(0, 3))
def test_first_row_visited_as_start(problem, rule, bias, seed):
    X, y = problem
    clf = trained(X, y, **rule, bias=bias, init="first", order="shuffle", max_iter=3, random_state=seed)
    passes = _drawn(Shuffled(len(X), int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))), 3)
    first, beta = passes[0][0], _beta(bias, X)
    book_rule = exact_rule(eta=rule["eta0"], beta=beta, margin=rule["margin"], tie=rule["tie"], zero=rule["zero"])
    start = y[first] * X[first]
    book = textbook(problem, passes, book_rule, zero=rule["zero"], w=start, b=float(y[first]) * beta)
    _agree(clf, book, X, y, average=False)


@given(problems(), rules(), st.sampled_from(["unit", None]), st.integers(0, 3))
def test_random_start(problem, rule, bias, seed):
    X, y = problem
    clf = trained(X, y, **rule, bias=bias, init="random", order="cyclic", max_iter=3, random_state=seed)
    d, has_bias = X.shape[1], bias is not None
    drawn = np.random.default_rng(seed).standard_normal(d + has_bias)
    start = drawn if has_bias else np.append(drawn, 0.0)
    assert clf.trace_.start.w.tolist() == start.tolist()
    book_rule = exact_rule(
        eta=rule["eta0"], beta=float(has_bias), margin=rule["margin"], tie=rule["tie"], zero=rule["zero"]
    )
    passes = [list(range(len(X)))] * 3
    book = textbook(problem, passes, book_rule, zero=rule["zero"], w=start[:-1], b=start[-1])
    # Normal numbers round, so the weights agree to rounding; ties have no chance here.
    assert clf.trace_.index.tolist() == [m.index for m in book.result.mistakes]
    assert [*clf.coef_[0], clf.intercept_[0]] == pytest.approx(book.padded.tolist(), rel=1e-12, abs=1e-12)


@given(problems())
def test_dense_and_sparse_and_narrow_types_agree(problem):
    X, y = problem
    told = [
        trained(table, y, average=True, max_iter=5)
        for table in (X, X.astype(np.float32), csr_array(X), csr_array(X.astype(np.float32)))
    ]
    assert len({(c.coef_.tobytes(), c.intercept_.tobytes(), tuple(c.trace_.index)) for c in told}) == 1


@given(problems(), st.sampled_from(["balanced", {1: 2.0}]))
def test_class_weights_are_weights_of_rows(problem, class_weight):
    X, y = problem
    counts = {label: np.count_nonzero(y == label) for label in (-1, 1)}
    by_class = {label: len(y) / (2 * counts[label]) for label in (-1, 1)}
    if class_weight != "balanced":
        by_class = {-1: 1.0, 1: 2.0}
    by_rows = trained(X, y, fit={"sample_weight": [by_class[label] for label in y.tolist()]}, max_iter=5)
    by_classes = trained(X, y, class_weight=class_weight, max_iter=5)
    assert by_rows.coef_.tobytes() == by_classes.coef_.tobytes()
    assert by_rows.trace_.step.tolist() == by_classes.trace_.step.tolist()
