"""The perceptron on two classes: worked examples to the digit, the textbook's weights, theorems on every run."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.loops.order import Random, Shuffled
from tests.shared.examples import examples, slowly
from tests.shared.strategies import DYADIC, bits, exact_rule, problems, textbook, trained


def _sparse(kind, index, dtype=np.float64):
    def convert(X):
        matrix = kind(X.astype(dtype))
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        return matrix

    return convert


LAYOUTS = {
    "dense": lambda X: X,
    "dense32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr_array": _sparse(csr_array, np.int32),
    "csr_array64": _sparse(csr_array, np.int64),
    "csr_matrix": _sparse(csr_matrix, np.int32),
    "csr_matrix32": _sparse(csr_matrix, np.int32, np.float32),
}


@pytest.fixture(params=[*list(LAYOUTS)[:4], *slowly(*list(LAYOUTS)[4:])], name="layout")
def _layout(request):
    return LAYOUTS[request.param]


def _tell(clf):
    w, b = clf.coef_[0].tolist(), float(clf.intercept_[0])
    return w, b, clf.trace_.index.tolist(), clf.n_iter_, clf.stop_reason_, clf.converged_


def test_six_points_by_the_plain_rule_from_the_fifth_point(layout):
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order=[4, 5, 0, 1, 2, 3])
    clf.fit(layout(X), y, coef_init=[1, 0.5], intercept_init=0)
    # η = 0.2 is no dyadic fraction: the printed decimals hold to rounding.
    assert clf.trace_.index.tolist() == [4, 2, 0]
    W, b = clf.trace_.path(layout(X), y)
    assert W == pytest.approx(np.array([[1, 0.5], [0.6, 0.9], [0.2, 1.1], [0.5, 1.0]]), abs=1e-15)
    assert b == pytest.approx([0, -0.2, 0, 0.2], abs=1e-15)
    assert (clf.stop_reason_, clf.converged_, clf.n_mistakes_) == ("separated", True, 3)
    assert clf.score(layout(X), y) == 1.0


def test_six_points_by_the_plain_rule_from_the_first_point(layout):
    X, y = rb.datasets.load_six_points()
    clf = rb.Perceptron(eta0=0.2, order="cyclic")
    clf.fit(layout(X), y, coef_init=[[1, 0.5]], intercept_init=[0])
    assert clf.trace_.index.tolist() == [2, 4, 0]
    assert clf.coef_[0] == pytest.approx([0.5, 1.0], abs=1e-15)
    assert clf.intercept_[0] == pytest.approx(0.2, abs=1e-15)
    assert clf.stop_reason_ == "separated"


@pytest.mark.parametrize("sixth", [(-2, -2), (-2, -1)])
def test_six_points_by_rosenblatts_rule(layout, sixth):
    X, y = rb.datasets.load_six_points()
    X = X.copy()
    X[5] = sixth
    clf = rb.Perceptron(bias="radius", order="cyclic").fit(layout(X), y)
    assert _tell(clf)[:2] == ([1.5, 7.5], 8.0)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (11, 6, "separated")
    assert clf.mistakes_per_pass_.sum() == 11
    assert clf.mistakes_per_pass_[-1] == 0
    assert clf.trace_.bias == 8.0
    assert clf.trace_.radius == pytest.approx(np.sqrt(8))


def test_spam_table(layout):
    X, y = rb.datasets.load_spam_table()
    clf = rb.Perceptron(order="cyclic").fit(layout(X), y)
    assert _tell(clf) == ([0, 2, 0, -1, 1], 0.0, [0, 1, 2, 3], 2, "separated", True)
    W, b = clf.trace_.path(layout(X), y)
    assert W.tolist() == [
        [0, 0, 0, 0, 0],
        [1, 1, 0, 1, 1],
        [1, 1, -1, 0, 1],
        [1, 2, 0, 0, 1],
        [0, 2, 0, -1, 1],
    ]
    assert b.tolist() == [0, 1, 0, 1, 0]
    new = np.array([[1.0, 1, 0, 0, 0]])
    assert clf.decision_function(layout(new)).tolist() == [2.0]
    assert clf.predict(layout(new)).tolist() == [1]
    assert clf.predict_one([1, 1, 0, 0, 0]) == 1


@pytest.mark.parametrize("passes", [1, 2, 7])
def test_xor_returns_to_zero_after_each_pass(layout, passes):
    X, y = rb.datasets.load_xor()
    clf = trained(layout(X), y, order="cyclic", max_iter=passes, decide=False)
    assert _tell(clf) == ([0, 0], 0.0, [0, 1, 2, 3] * passes, passes, "max_iter", False)
    assert clf.mistakes_per_pass_.tolist() == [4] * passes
    for model in clf.trace_.after_each_pass(layout(X), y):
        assert model.weights.tolist() == [0, 0, 0]


def test_or(layout):
    X, y = rb.datasets.load_or()
    clf = rb.Perceptron(order="cyclic").fit(layout(X), y)
    assert _tell(clf)[:2] == ([2, 2], -1.0)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (9, 6, "separated")


def test_and(layout):
    X, y = rb.datasets.load_and()
    clf = rb.Perceptron(order="cyclic").fit(layout(X), y)
    assert _tell(clf)[:2] == ([2, 3], -4.0)
    assert (clf.n_mistakes_, clf.n_iter_, clf.stop_reason_) == (18, 9, "separated")


def test_every_layout_and_type_leaves_the_same_bits():
    X, y = rb.datasets.load_and()
    results = {bits(rb.Perceptron(order="cyclic", average=True).fit(layout(X), y)) for layout in LAYOUTS.values()}
    assert len(results) == 1


def test_first_row_as_start():
    """w₁ = y₁x₁, no bias, a mistake is y<w,x> < 0: here two rows stay on the plane for ever."""
    X, y = rb.datasets.load_spam_table()
    clf = rb.Perceptron(bias=None, init="first", tie="correct", order="cyclic")
    with pytest.warns(ConvergenceWarning, match="2 rows lie exactly on the hyperplane"):
        clf.fit(X, y)
    assert clf.trace_.start.w.tolist() == [1, 1, 0, 1, 1, 0]
    assert _tell(clf) == ([0, 1, -1, -1, 1], 0.0, [1, 3], 2, "plateau", False)
    assert clf.trace_.score.tolist() == [1, 1]
    assert clf.score(X, y) == 4 / 6


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


@settings(max_examples=examples(400))
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
        decide=False,
        n_iter_no_change=1000,
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


@settings(max_examples=examples(300))
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


PASSES = {"order": "cyclic", "max_iter": 4}


@given(problems(), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from(["unit", None, "radius", 3]), st.booleans())
def test_each_update_raises_the_confidence_of_its_row(problem, eta, bias, sparse):
    """y f grows by η (‖x‖² + β)."""
    X, y = problem
    table = csr_array(X) if sparse else X
    clf = trained(table, y, eta0=eta, bias=bias, **PASSES)
    W, b = clf.trace_.path(table, y)
    for k, i in enumerate(clf.trace_.index):
        before, after = (y[i] * (W[j] @ X[i] + b[j]) for j in (k, k + 1))
        assert after - before == eta * (X[i] @ X[i] + clf.trace_.bias)
        assert before == y[i] * clf.trace_.score[k]


@given(problems(), st.booleans())
def test_a_constant_feature_is_the_unit_bias(problem, average):
    X, y = problem
    padded = trained(np.hstack([X, np.ones((len(X), 1))]), y, bias=None, average=average, **PASSES)
    plain = trained(X, y, average=average, **PASSES)
    assert padded.coef_[0].tolist() == [*plain.coef_[0], *plain.intercept_]
    assert padded.trace_.index.tolist() == plain.trace_.index.tolist()
    assert padded.intercept_.tolist() == [0]


@given(problems())
def test_padding_with_r_is_the_radius_bias(problem):
    """The proof pads with R; b of the one is R times the weight of the other."""
    X, y = problem
    R = 4.0  # as large as it likes to be, if it is given
    padded = trained(np.hstack([X, np.full((len(X), 1), R)]), y, bias=None, **PASSES)
    plain = trained(X, y, bias="radius", radius=R, **PASSES)
    assert padded.coef_[0, :-1].tolist() == plain.coef_[0].tolist()
    assert R * padded.coef_[0, -1] == plain.intercept_[0]
    assert padded.trace_.index.tolist() == plain.trace_.index.tolist()


@given(problems(), st.sampled_from([2.0**-20, 0.25, 3.0, 1024.0]), st.sampled_from(["unit", "radius", None]))
def test_the_learning_rate_does_not_matter_from_zero(problem, eta, bias):
    X, y = problem
    one, other = (trained(X, y, eta0=rate, bias=bias, **PASSES) for rate in (1.0, eta))
    assert one.trace_.index.tolist() == other.trace_.index.tolist()
    assert (eta * one.coef_).tolist() == other.coef_.tolist()
    assert (eta * one.intercept_).tolist() == other.intercept_.tolist()


@given(problems())
def test_opposite_labels_give_the_opposite_plane(problem):
    X, y = problem
    one, other = (trained(X, sign * y, **PASSES) for sign in (1, -1))
    assert one.trace_.index.tolist() == other.trace_.index.tolist()
    assert one.coef_.tolist() == (-other.coef_ + 0.0).tolist()


@given(problems(), st.sampled_from([-1, 1]))
def test_zero_belongs_to_the_side_it_is_given_to(problem, zero):
    X, y = problem
    clf = trained(X, y, zero=zero, **PASSES)
    f = clf.decision_function(X)
    expected = np.where(f > 0, 1, np.where(f < 0, -1, zero))
    assert clf.predict(X).tolist() == expected.tolist()
    assert [clf.predict_one(x) for x in X] == expected.tolist()
    assert f.tolist() == (X @ clf.coef_[0] + clf.intercept_[0]).tolist()


@given(problems(), st.sampled_from([0.5, 2.0]))
def test_the_error_correction_form(problem, eta):
    """w += (η/2)(y − g(x)) x with sgn(0) = 0 is the tie rule "half"."""
    X, y = problem
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(4):
        before = w.copy(), b
        for x, label in zip(X, y, strict=True):
            pull = eta / 2 * (label - np.sign(w @ x + b))
            w, b = w + pull * x, b + pull
        if np.array_equal(before[0], w) and before[1] == b:
            break
    clf = trained(X, y, tie="half", eta0=eta, **PASSES)
    assert clf.coef_[0].tolist() == w.tolist()
    assert clf.intercept_[0] == b
