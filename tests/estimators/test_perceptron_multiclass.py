"""Several classes: every fit is the reference's, exactly, and predicts by what it trained."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, ShapeError
from rosenblatt.loops.order import Random, Shuffled
from tests.shared.examples import examples
from tests.shared.multiclass import SCHEMES, blobs, class_book, class_problems, padded
from tests.shared.strategies import DYADIC, exact_rule, quietly, trained

LAYOUTS = {
    "dense": np.asarray,
    "float32": lambda X: np.asarray(X, np.float32),
    "csr": csr_array,
    "csr32": lambda X: csr_array(np.asarray(X, np.float32)),
}


@st.composite
def rules(draw):
    return {
        "tie": draw(st.sampled_from(["mistake", "sign", "half", "correct"])),
        "zero": draw(st.sampled_from([-1, 1])),
        "margin": draw(st.sampled_from([0.0, 0.0, 0.5, 1.0, 4.0])),
        "eta0": draw(st.sampled_from(DYADIC)),
    }


def _book_rule(rule, beta=1.0):
    return exact_rule(eta=rule["eta0"], beta=beta, margin=rule["margin"], tie=rule["tie"], zero=rule["zero"])


def _beta(bias, X):
    return {"unit": 1.0, None: 0.0, "radius": float((X**2).sum(axis=1).max())}.get(bias, bias)


def _visits(kind, n, most, seed, data):
    """Return the order parameter, and the rows of each pass it stands for."""
    order_seed = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
    if kind == "array":
        extra = data.draw(st.lists(st.integers(0, n - 1), max_size=3))
        one = data.draw(st.permutations([*range(n), *extra]))
        return np.array(one), [one] * most
    drawn = {"shuffle": Shuffled(n, order_seed), "random": Random(n, order_seed)}
    if kind in drawn:
        return kind, [drawn[kind].visits(epoch) for epoch in range(1, most + 1)]
    return "cyclic", [range(n)] * most


def _agree(clf, book, *, average=False):
    mistakes = book.result.mistakes
    trace = clf.trace_
    assert trace.index.tolist() == [m.index for m in mistakes]
    assert trace.visit.tolist() == [m.visit for m in mistakes]
    assert trace.machine.tolist() == [m.machine for m in mistakes]
    assert trace.score.tolist() == [float(m.score) for m in mistakes]
    assert trace.step.tolist() == [float(m.step) for m in mistakes]
    assert (clf.t_, clf.n_mistakes_) == (book.visits, len(mistakes))
    assert padded(clf).tolist() == (book.averaged if average else book.weights).tolist()
    assert (trace.columns[-1] == "predicted") == (trace.scheme.kind == "direct")


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(100))
@given(
    st.data(),
    class_problems(),
    rules(),
    st.sampled_from(["unit", "radius", None, 0.5]),
    st.sampled_from(["cyclic", "shuffle", "random", "array"]),
    st.booleans(),
    st.sampled_from(list(LAYOUTS)),
)
def test_every_convention_as_in_the_reference(scheme, data, problem, rule, bias, kind, average, layout):
    X, y, _ = problem
    seed, most = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 6))
    order, passes = _visits(kind, len(X), most, seed, data)
    table = LAYOUTS[layout](X)
    given_parameters = {"multiclass": scheme, "bias": bias, "order": order, "max_iter": most, "average": average}
    clf = trained(table, y, **given_parameters, **rule, random_state=seed)
    visits = np.concatenate(passes[: clf.n_iter_])
    _agree(
        clf,
        class_book(scheme, problem, visits, _book_rule(rule, _beta(bias, X)), zero=rule["zero"]),
        average=average,
    )
    clean = [count == 0 for count in clf.mistakes_per_pass_]
    assert not any(clean[:-1]) or kind == "random"
    assert (clf.stop_reason_ == "max_iter") <= (clf.n_iter_ == most)
    assert not clean[-1] or clf.stop_reason_ in ("separated", "plateau") or kind == "random"
    assert clf.converged_ == (clf.stop_reason_ == "separated")
    if clf.converged_ and not average:
        assert clf.score(table, y) == 1.0
    replayed = clf.trace_.replay(table, y)
    assert replayed.weights.tolist() == padded(clf).tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(60))
@given(st.data(), class_problems(), rules(), st.booleans(), st.booleans())
def test_weights_and_starts_as_in_the_reference(scheme, data, problem, rule, average, sparse):
    X, y, K = problem
    weight = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=len(y), max_size=len(y)))
    by_class = {label: data.draw(st.sampled_from([0.0, 0.5, 1.0, 4.0])) for label in range(K)}
    pull = np.array([w * by_class[label] for w, label in zip(weight, y.tolist(), strict=True)])
    assume(pull.any())
    machines = K * (K - 1) // 2 if scheme == "ovo" else K
    w = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-3, 4, (machines, X.shape[1] + 1))
    clf = trained(
        csr_array(X) if sparse else X,
        y,
        fit={"coef_init": w[:, :-1], "intercept_init": w[:, -1], "sample_weight": weight},
        multiclass=scheme,
        class_weight=by_class,
        order="cyclic",
        max_iter=4,
        average=average,
        **rule,
    )
    visits = list(range(len(y))) * clf.n_iter_
    _agree(
        clf,
        class_book(scheme, problem, visits, _book_rule(rule), w=w, weight=pull, zero=rule["zero"]),
        average=average,
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(40))
@given(
    problem=class_problems(), rule=rules(), bias=st.sampled_from(["unit", None, "radius"]), seed=st.integers(0, 3)
)
def test_first_row_visited_as_start(scheme, problem, rule, bias, seed):
    """y₁x₁ in each machine that learns from the row; compared directly, its rival loses it."""
    X, y, _ = problem
    clf = trained(X, y, multiclass=scheme, bias=bias, init="first", max_iter=3, random_state=seed, **rule)
    seed = int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))
    passes = [Shuffled(len(X), seed).visits(epoch) for epoch in range(1, clf.n_iter_ + 1)]
    first, beta = int(passes[0][0]), _beta(bias, X)
    # What one visit from zero does when every tie is a mistake is what the start is.
    one_step = exact_rule(beta=beta)
    start = class_book(scheme, problem, [first], one_step, zero=rule["zero"]).weights
    assert clf.trace_.start.w.tolist() == start.tolist()
    _agree(
        clf,
        class_book(scheme, problem, np.concatenate(passes), _book_rule(rule, beta), w=start, zero=rule["zero"]),
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bias", ["unit", None])
def test_random_start(scheme, bias):
    X, y = blobs(30, 4, 3)
    clf = trained(X, y, multiclass=scheme, bias=bias, init="random", max_iter=3, random_state=5)
    machines = 6 if scheme == "ovo" else 4
    drawn = np.random.default_rng(5).standard_normal((machines, 3 + (bias is not None)))
    assert clf.trace_.start.w[:, : drawn.shape[1]].tolist() == drawn.tolist()
    assert bias is not None or not clf.trace_.start.w[:, -1].any()
    given_start = {"coef_init": drawn[:, :3], "intercept_init": drawn[:, 3] if bias else np.zeros(machines)}
    # A start that is given draws nothing, so the order has to be given too.
    order = [clf.trace_.index[clf.trace_.epoch == 1]]
    again, ours = (
        trained(X, y, multiclass=scheme, bias=bias, order=order, random_state=5, fit=start, **init)
        for start, init in ((given_start, {}), (None, {"init": "random"}))
    )
    assert padded(again).tobytes() == padded(ours).tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_starts_of_the_wrong_shape_are_refused(scheme):
    X, y = blobs(20, 4, 3)
    machines = 6 if scheme == "ovo" else 4
    clf = rb.Perceptron(multiclass=scheme)
    for start in ({"coef_init": np.ones((machines + 1, 3))}, {"coef_init": np.ones(machines * 3)}):
        with pytest.raises(ShapeError, match=rf"coef_init has shape .* shape \({machines}, 3\)"):
            clf.fit(X, y, **start)
    with pytest.raises(ShapeError, match=f"intercept_init has shape .* {machines} values"):
        clf.fit(X, y, intercept_init=np.ones(machines + 1))


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(40))
@given(problem=class_problems())
def test_every_layout_trains_the_same_bits(scheme, problem):
    X, y, _ = problem
    told = [trained(layout(X), y, multiclass=scheme, average=True, max_iter=5) for layout in LAYOUTS.values()]
    assert len({(padded(c).tobytes(), tuple(c.trace_.index), tuple(c.trace_.machine)) for c in told}) == 1
    decisions = {c.decision_function(layout(X)).tobytes() for c in told for layout in LAYOUTS.values()}
    assert len(decisions) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_machine_is_a_binary_perceptron_on_floats(scheme, dtype):
    """One against the rest and one against one are scikit-learn's OneVsRest and OneVsOne, machine by machine."""
    X, y = blobs(60, 4, 5, dtype=dtype)
    clf = trained(X, y, multiclass=scheme, order="cyclic", max_iter=4)
    if scheme == "ovr":
        for c in range(4):
            one = trained(X, y == c, order="cyclic", max_iter=4)
            assert padded(one)[0].tobytes() == padded(clf)[c].tobytes()
    elif scheme == "ovo":
        for m, (a, b) in enumerate(clf.trace_.scheme.pairs):
            both = np.isin(y, [a, b])
            one = trained(X[both], y[both], order="cyclic", max_iter=4)
            assert padded(one)[0].tobytes() == padded(clf)[m].tobytes()
    else:
        assert padded(clf).sum(axis=0) == pytest.approx(0, abs=1e-10)  # what one vector gains another loses


@pytest.mark.parametrize("zero", [-1, 1])
@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(40))
@given(problem=class_problems())
def test_decisions_and_labels(scheme, zero, problem):
    X, y, K = problem
    clf = trained(X, y, multiclass=scheme, zero=zero, max_iter=3, order="cyclic")
    scores = X @ clf.coef_.T + clf.intercept_
    decision = clf.decision_function(X)
    assert decision.shape == (len(X), K)
    if scheme == "ovo":
        expected = np.zeros((len(X), K))
        for m, (a, b) in enumerate(clf.trace_.scheme.pairs):
            expected[:, a] -= scores[:, m]
            expected[:, b] += scores[:, m]
        assert decision.tolist() == expected.tolist()
    else:
        assert decision.tolist() == scores.tolist()
    best = [np.flatnonzero(row == row.max())[-1 if zero > 0 else 0] for row in decision]
    assert clf.predict(X).tolist() == best
    assert [clf.predict_one(x) for x in X] == best
    assert [clf.predict_one(x.tolist()) for x in X] == best


LABELS = {
    "strings": np.array(["owl", "cat", "bee", "dog!"]),
    "integers": np.array([30, -2, 7, 1000]),
    "floats": np.array([3.0, 1.0, 2.0, 9.0]),
    "tuples": [("x", 1), ("a", 5), ("a", 2), ("b", 0)],
    "bytes": np.array([b"d", b"a", b"c", b"b"]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_labels_of_any_kind_are_sorted(scheme, labels):
    X, y = blobs(40, 4, 3)
    kept = sorted(labels if isinstance(labels, list) else labels.tolist())
    named = [kept[code] for code in y]
    clf, plain = trained(X, named, multiclass=scheme, max_iter=4), trained(X, y, multiclass=scheme, max_iter=4)
    assert clf.classes_.tolist() == kept
    assert padded(clf).tobytes() == padded(plain).tobytes()
    assert clf.predict(X).tolist() == [kept[code] for code in plain.predict(X)]


def test_labels_that_do_not_sort_keep_the_order_they_come_in():
    X, y = blobs(40, 4, 3)
    mixed = ["b", 3, ("t", 1), 2.0]
    named = [mixed[code] for code in y]  # the first four rows are of the classes 0, 1, 2, 3
    clf, plain = trained(X, named, max_iter=4), trained(X, y, max_iter=4)
    assert clf.classes_.tolist() == mixed
    assert padded(clf).tobytes() == padded(plain).tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rows_of_no_weight_change_nothing(scheme):
    X, y = blobs(40, 4, 3)
    weight = np.ones(40)
    weight[30:] = 0
    some = trained(X, y, fit={"sample_weight": weight}, multiclass=scheme, order="cyclic", max_iter=5)
    fewer = trained(X[:30], y[:30], multiclass=scheme, order="cyclic", max_iter=5)
    assert padded(some).tobytes() == padded(fewer).tobytes()
    assert some.trace_.index.max() < 30


def test_a_class_of_no_weight_is_still_one_that_can_be_predicted():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 2]
    clf = trained(X, y, class_weight={1: 0.0}, order="cyclic")
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.converged_
    assert 1 not in clf.trace_.index


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_classes_are_one_machine_whatever_the_scheme(scheme):
    X, y = blobs(40, 2, 3)
    clf = trained(X, y, multiclass=scheme, max_iter=4)
    assert clf.coef_.shape == (1, 3)
    assert clf.decision_function(X).shape == (40,)
    assert padded(clf).tobytes() == padded(trained(X, y, max_iter=4)).tobytes()


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("targets", "error", "message"),
    [
        (np.eye(4), ShapeError, "Multilabel and multioutput targets are not supported"),
        ([[0, 1]] * 4, ShapeError, "Multilabel and multioutput targets are not supported"),
        (csr_array(np.eye(4)), LabelError, "Multilabel targets are not supported"),
        ([[0, 1], [2], [1], [0]], LabelError, "not hashable"),
        ([{0, 1}, {2}, {1}, {0}], LabelError, "not hashable"),
    ],
    ids=["indicator", "lists", "sparse", "ragged", "sets"],
)
def test_several_labels_a_row_are_refused(method, targets, error, message):
    clf = rb.Perceptron()
    with pytest.raises(error, match=message):
        getattr(clf, method)(np.eye(4), targets)
    assert not clf.__sklearn_is_fitted__()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_fit_leaves_what_it_was_given_alone(scheme):
    X, y = blobs(40, 4, 3)
    w, b, weight = np.ones((6 if scheme == "ovo" else 4, 3)), np.ones(6 if scheme == "ovo" else 4), np.ones(40)
    held = [a.copy() for a in (X, y, w, b, weight)]
    for array in (X, y, w, b, weight):
        array.flags.writeable = False
    quietly(rb.Perceptron(multiclass=scheme, max_iter=3).fit, X, y, w, b, weight)
    assert all(np.array_equal(a, kept) for a, kept in zip((X, y, w, b, weight), held, strict=True))
