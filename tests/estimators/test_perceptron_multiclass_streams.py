"""Streams of several classes: chunks, single rows and one cyclic pass leave the same bits, grown or declared."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import LabelError, NonFiniteError, ParameterError
from tests.shared.examples import examples, slowly
from tests.shared.multiclass import SCHEMES, blobs, class_book, class_problems, padded
from tests.shared.strategies import bits, exact_rule, full_state, quietly, trained

LAYOUTS = {"dense": np.asarray, "float32": lambda X: np.asarray(X, np.float32), "csr": csr_array}


def chunked(clf, X, y, sizes, *, classes=None, weight=None):
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        part = None if weight is None else weight[start:end]
        clf.partial_fit(X[start:end], y[start:end], classes=classes, sample_weight=part)
    return clf


def one_by_one(clf, X, y, *, classes=None):
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label, classes=classes)
    return clf


@pytest.mark.parametrize("layout", [LAYOUTS["dense"], *slowly(LAYOUTS["float32"], LAYOUTS["csr"])], ids=LAYOUTS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_declared_classes_on_floats(scheme, average, layout):
    X, y = blobs(60, 5, 41)
    rows = X.astype(np.float32) if layout is LAYOUTS["float32"] else X
    X = layout(X)
    rule = {"multiclass": scheme, "average": average, "eta0": 0.3}
    whole = trained(X, y, order="cyclic", max_iter=1, **rule)
    for sizes in ([60], [1] * 60, [7, 1, 30, 22]):
        stream = chunked(rb.Perceptron(**rule), X, y, sizes, classes=range(5))
        assert bits(stream) == bits(whole)
        assert stream.n_mistakes_ == whole.n_mistakes_
    if layout is not csr_array:
        single = one_by_one(rb.Perceptron(**rule), rows, y, classes=range(5))
        assert bits(single) == bits(whole)
        assert [single.predict_one(x) for x in rows] == whole.predict(rows).tolist()


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(50))
@given(
    class_problems(),
    st.sampled_from(["mistake", "half", "correct", "sign"]),
    st.sampled_from(["zero", "first", "random"]),
    st.sampled_from([0.0, 1.0]),
    st.data(),
)
def test_declared_classes_under_every_rule(scheme, problem, tie, init, margin, data):
    X, y, K = problem
    rule = {"multiclass": scheme, "tie": tie, "init": init, "margin": margin, "average": data.draw(st.booleans())}
    rule |= {"zero": data.draw(st.sampled_from([-1, 1])), "trace": "mistakes"}
    some = st.sampled_from([0.0, 0.5, 1.0])
    weight = np.array([1.0, *data.draw(st.lists(some, min_size=len(y) - 1, max_size=len(y) - 1))])
    last = int(np.flatnonzero(weight)[-1])  # a chunk of no weight is refused
    cut = data.draw(st.integers(1, last)) if last else 0
    sizes = [cut, len(y) - cut] if cut else [len(y)]
    whole = trained(X, y, fit={"sample_weight": weight}, order="cyclic", max_iter=1, **rule)
    stream = chunked(rb.Perceptron(**rule), X, y, sizes, classes=range(K), weight=weight)
    assert bits(stream) == bits(whole)
    for name in ("visit", "index", "score", "step", "machine"):
        assert getattr(stream.trace_, name).tolist() == getattr(whole.trace_, name).tolist()


@settings(max_examples=examples(100))
@given(
    class_problems(most_classes=6, most_rows=14),
    st.sampled_from(["mistake", "half", "correct"]),
    st.sampled_from(["zero", "first"]),
    st.sampled_from([0.0, 1.0]),
    st.data(),
)
def test_growing_chunks_equal_single_rows(problem, tie, init, margin, data):
    """A class is nobody's rival before it is met, wherever a chunk ends."""
    X, y, _ = problem
    labels = data.draw(st.sampled_from([range(6), "fcadbe", (0, "a", 1, "b", (2,), 7)]))
    y = [labels[code] for code in y]
    rule = {"tie": tie, "init": init, "margin": margin, "average": data.draw(st.booleans()), "trace": "mistakes"}
    rule["class_weight"] = data.draw(st.sampled_from([None, "balanced"]))
    rule["zero"] = data.draw(st.sampled_from([-1, 1]))
    cut = data.draw(st.integers(1, len(y) - 1))
    single = one_by_one(rb.Perceptron(**rule), X, y, classes="grow")
    whole = rb.Perceptron(**rule).partial_fit(X, y, classes="grow")
    for stream in (
        whole,
        chunked(rb.Perceptron(**rule), X, y, [cut, len(y) - cut], classes="grow"),
        chunked(rb.Perceptron(**rule), csr_array(X), y, [cut, len(y) - cut], classes="grow"),
    ):
        assert bits(stream) == bits(single)
        assert stream.classes_.tolist() == single.classes_.tolist()
        assert stream.n_mistakes_ == single.n_mistakes_
        for name in ("visit", "index", "score", "step", "machine"):
            assert getattr(stream.trace_, name).tolist() == getattr(single.trace_, name).tolist()
        assert stream.predict(X).tolist() == [single.predict_one(x) for x in X]
    assert single.trace_.replay(X, y).weights.tolist() == padded(single).tolist()
    assert set(single.classes_.tolist()) == set(y)


@settings(max_examples=examples(100))
@given(problem=class_problems(most_classes=6, most_rows=14), average=st.booleans())
def test_growing_is_the_reference_with_rivals_met_so_far(problem, average):
    """Class by class: what is trained on the rows up to a new label goes on with one more vector of zeros."""
    X, y, K = problem
    stream = rb.Perceptron(trace="mistakes", average=average).partial_fit(X, y, classes="grow")
    new = sorted(int(np.flatnonzero(y == label)[0]) for label in range(K))
    w, mistakes = np.zeros((K, X.shape[1] + 1)), []
    for start, end in zip(new, [*new[1:], len(y)], strict=True):
        # The first class alone is told apart from the one that will come second.
        met = sorted(set(y[: max(start, new[1]) + 1].tolist()))
        part = problem._replace(X=X[start:end], y=np.searchsorted(met, y[start:end]), K=len(met))
        book = class_book("direct", part, range(end - start), exact_rule(), w=w[met])
        w[met] = book.weights
        mistakes += [(start + m.index, met[m.machine], m.step) for m in book.result.mistakes]
    told = stream.trace_
    assert list(zip(told.index.tolist(), told.machine.tolist(), told.step.tolist(), strict=True)) == mistakes
    if not average:
        assert padded(stream).tolist() == w.tolist()


def test_the_label_predicted_is_recorded_from_the_first_mistake_on():
    X, y = np.array([[1.0], [-1.0], [2.0], [-3.0], [0.5]]), ["m", "z", "a", "m", "z"]
    clf = one_by_one(rb.Perceptron(trace="mistakes"), X, y, classes="grow")
    trace = clf.trace_
    assert trace.classes.tolist() == ["a", "m", "z"]
    # The first of all was taken for a class still to come: the one that came second.
    assert trace.index.tolist()[:3] == [0, 1, 2]
    assert trace.predicted.tolist()[:3] == ["z", "m", "m"]
    W, b = trace.path(X, y)
    for k, (i, wrong) in enumerate(zip(trace.index, trace.machine, strict=True)):
        scores = W[k] @ X[i] + b[k]
        own = trace.classes.tolist().index(y[i])
        assert scores[own] - scores[wrong] == trace.score[k]
        assert trace.score[k] <= 0
    assert W[-1].tolist() == clf.coef_.tolist()


def test_one_class_so_far_replays():
    """It is taken for the positive side until the other is met."""
    X = [[1.0, 2.0], [-1.0, -3.0]]
    clf = rb.Perceptron(trace="mistakes").partial_fit(X, ["a", "a"])
    assert clf.trace_.replay(X, ["a", "a"]).weights.tolist() == padded(clf)[0].tolist()
    assert clf.n_mistakes_ == 2


def test_growing_goes_on_from_a_fit_of_two_classes():
    X, y = blobs(60, 3, 4)
    two = y[:40] % 2
    labels = np.concatenate([two, y[40:]])
    clf = trained(X[:40], two, order="cyclic", max_iter=1, trace="mistakes")
    fork = copy.deepcopy(clf)
    clf.partial_fit(X[40:], y[40:], classes="grow")
    one_by_one(fork, X[40:], y[40:], classes="grow")
    whole = rb.Perceptron(trace="mistakes").partial_fit(X, labels, classes="grow")
    for stream in (clf, fork):
        assert bits(stream) == bits(whole)
        assert stream.classes_.tolist() == [0, 1, 2]
        assert stream.trace_.replay(X[40:], y[40:]).weights.tobytes() == padded(stream).tobytes()


def test_growing_goes_on_from_a_fit_of_three_classes():
    X, y = blobs(60, 5, 4)
    clf = trained(X, y % 3, max_iter=3)
    before = padded(clf)
    clf.partial_fit(X[:1], [9], classes="grow")
    assert clf.classes_.tolist() == [0, 1, 2, 9]
    moved = padded(clf)
    assert moved[3, :3].tolist() == X[0, :3].tolist()
    assert np.count_nonzero((moved[:3] != before).any(axis=1)) == 1


def test_a_stream_may_begin_to_grow_on_the_way():
    X, y = blobs(60, 5, 4)
    first = y % 2
    clf = rb.Perceptron().partial_fit(X, first, classes=[0, 1])
    with pytest.raises(LabelError, match="not one of the classes"):
        clf.partial_fit(X, y)
    clf.partial_fit(X, y, classes="grow").partial_fit(X, y)
    again = rb.Perceptron().partial_fit(X, first, classes="grow")
    one_by_one(one_by_one(again, X, y), X, y)
    assert bits(clf) == bits(again)


@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_only_direct_comparison_grows(scheme):
    X, y = blobs(20, 3, 2)
    clf = rb.Perceptron(multiclass=scheme)
    for call in (
        lambda: clf.partial_fit(X, y, classes="grow"),
        lambda: clf.learn_one(X[0], y[0], classes="grow"),
    ):
        with pytest.raises(ParameterError, match="needs multiclass='direct'"):
            call()
    assert not clf.__sklearn_is_fitted__()


@pytest.mark.parametrize(("before", "after"), [(a, b) for a in SCHEMES for b in SCHEMES if a != b])
def test_a_stream_does_not_go_on_from_another_scheme(before, after):
    X, y = blobs(40, 3, 4)  # three machines by each of the schemes: only their meaning differs
    clf = trained(X, y, multiclass=before, max_iter=2)
    held = bits(clf)
    clf.set_params(multiclass=after)
    for call in (lambda: clf.partial_fit(X, y), lambda: clf.learn_one(X[0], y[0])):
        with pytest.raises(ParameterError, match=f"multiclass={after!r} cannot continue from {before!r}"):
            call()
    assert bits(clf) == held
    stream = rb.Perceptron(multiclass=before).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ParameterError, match="multiclass cannot change"):
        stream.set_params(multiclass=after)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_mappings_of_many_classes(scheme, average):
    X, y = blobs(40, 4, 5)
    X = np.round(X * 4) / 4  # dyadic, so that a missing zero adds nothing to the bits either
    X[np.abs(X) < 0.5] = 0
    names, classes = list("caebd"), [10, 11, 12, 13]
    rows = [{name: value for name, value in zip(names, x.tolist(), strict=True) if value} for x in X]
    clf = rb.Perceptron(multiclass=scheme, average=average, trace="mistakes")
    for row, label in zip(rows, y, strict=True):
        clf.learn_one(row, label + 10, classes=classes)
    known = [names.index(name) for name in clf.feature_names_in_]
    whole = trained(X[:, known], y + 10, multiclass=scheme, order="cyclic", max_iter=1, average=average)
    assert bits(clf) == bits(whole)
    frame = pd.DataFrame(X[:, known], columns=clf.feature_names_in_)
    assert [clf.predict_one(row) for row in rows] == clf.predict(frame).tolist()
    assert clf.predict_one({"unheard": 1e9}) == clf.predict_one({})
    assert clf.trace_.replay(X[:, known], y + 10).weights.tobytes() == padded(clf).tobytes()
    clf.learn_one(X[0, known], 10)  # a vector, though the stream has room for more features
    clf.partial_fit(frame, y + 10)
    assert clf.t_ == 81


def test_mappings_grow_features_and_classes_together():
    words = [("cheap pills", "spam"), ("see you", "ham"), ("big news today", "news"), ("cheap news", "spam")]
    clf = rb.Perceptron(trace="mistakes")
    for text, label in words * 4:
        clf.learn_one(dict.fromkeys(text.split(), 1.0), label, classes="grow")
    names = clf.feature_names_in_.tolist()
    X = np.array([[float(name in text.split()) for name in names] for text, _ in words])
    assert names == ["cheap", "pills", "see", "you", "big", "news", "today"]
    assert clf.coef_.shape == (3, 7)
    assert [clf.predict_one(dict.fromkeys(text.split(), 1.0)) for text, _ in words] == [y for _, y in words]
    labels = [y for _, y in words] * 4
    assert clf.trace_.replay(np.tile(X, (4, 1)), labels).weights.tobytes() == padded(clf).tobytes()


@pytest.mark.parametrize("sizes", [[40], [1] * 40, [3, 17, 20]], ids=str)
@pytest.mark.parametrize("classes", ["grow", range(4)], ids=["grown", "declared"])
def test_balance_does_not_depend_on_chunks(classes, sizes):
    X, y = blobs(40, 4, 3)
    rule = {"class_weight": "balanced", "trace": "mistakes"}
    single = one_by_one(rb.Perceptron(**rule), X, y, classes=classes)
    stream = chunked(rb.Perceptron(**rule), X, y, sizes, classes=classes)
    assert bits(stream) == bits(single)
    assert stream.trace_.step.tolist() == single.trace_.step.tolist()


def test_balance_by_running_counts():
    """Each example weighs n / (classes met · its count), itself included; a whole set ends where "balanced" is."""
    X, y = np.ones((6, 1)), ["a", "a", "b", "a", "c", "b"]
    expected = [1 / 1, 2 / 2, 3 / (2 * 1), 4 / (2 * 3), 5 / (3 * 1), 6 / (3 * 2)]
    clf = rb.Perceptron(class_weight="balanced", margin=1e9, trace="mistakes").partial_fit(X, y, classes="grow")
    assert clf.trace_.step.tolist() == pytest.approx(expected)
    last = trained(X, y, class_weight="balanced", margin=1e9, order="cyclic", max_iter=1)
    assert last.trace_.step[-1] == clf.trace_.step[-1]


@given(problem=class_problems())
def test_balance_along_equal_turns_is_no_weight_at_all(problem):
    """Where every class has come equally often, its next example weighs what it weighs in the batch so far."""
    X, y, K = problem
    turns = np.concatenate([np.flatnonzero(y == c)[:1] for c in range(K)] * 3)
    X, y = X[turns], y[turns]
    running = rb.Perceptron(class_weight="balanced", margin=1e6, trace="mistakes").partial_fit(
        X, y, classes=range(K)
    )
    steps = running.trace_.step
    for visit, step in enumerate(steps):
        seen = y[: visit + 1]
        assert step == len(seen) / (len(set(seen.tolist())) * np.count_nonzero(seen == y[visit]))
    assert steps[K - 1 :: K].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("classes", ["grow", range(5)], ids=["grown", "declared"])
def test_a_chunk_that_fails_leaves_the_stream_as_it_was(classes):
    X, y = blobs(40, 5, 3)
    y[20:] = np.sort(y[20:])
    clf = rb.Perceptron(class_weight="balanced", trace="mistakes").partial_fit(X[:10], y[:10] % 2, classes=classes)
    before = full_state(clf)
    bad = X[10:].copy()
    bad[-1, 1] = np.nan
    with pytest.raises(NonFiniteError, match="row 29, column 1"):
        clf.partial_fit(bad, y[10:])
    with pytest.raises(NonFiniteError):
        clf.learn_one(bad[-1], 4)
    assert full_state(clf) == before


def test_a_new_label_in_a_row_that_fails_is_no_class():
    X, y = blobs(20, 3, 3)
    clf = rb.Perceptron().partial_fit(X, y, classes="grow")
    with pytest.raises(NonFiniteError):
        clf.learn_one(np.array([1.0, np.nan, 0.0]), 7)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.learn_one(X[0], 7).classes_.tolist() == [0, 1, 2, 7]


def test_asymmetric_rules_may_grow_once_two_classes_are_declared():
    X, y = blobs(20, 3, 3)
    with pytest.raises(LabelError, match="known from the beginning"):
        rb.Perceptron(tie="sign").partial_fit(X, y, classes="grow")
    clf = rb.Perceptron(tie="sign").partial_fit(X, y % 2, classes=[0, 1])
    assert clf.partial_fit(X, y, classes="grow").classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("classes", ["grow", range(4)], ids=["grown", "declared"])
def test_a_pickled_stream_goes_on_bit_for_bit(classes):
    X, y = blobs(40, 4, 3)
    clf = rb.Perceptron(average=True, class_weight="balanced")
    for k in range(40):
        clf.learn_one(X[k], y[k], classes=classes)
        if k in (0, 1, 2, 17):
            clf = pickle.loads(pickle.dumps(clf))
    whole = rb.Perceptron(average=True, class_weight="balanced").partial_fit(X, y, classes=classes)
    assert bits(clf) == bits(whole)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_stream_goes_on_from_a_fit_and_a_fit_from_a_stream(scheme):
    X, y = blobs(60, 4, 5)
    rule = {"multiclass": scheme, "order": "cyclic", "average": True}
    three = trained(X, y, max_iter=3, **rule)
    after_fit = trained(X, y, max_iter=2, **rule).partial_fit(X, y)
    after_stream = rb.Perceptron(max_iter=2, warm_start=True, **rule).partial_fit(X, y, classes=range(4))
    quietly(after_stream.fit, X, y)
    assert bits(after_fit) == bits(after_stream) == bits(three)


def test_other_classes_than_declared_are_refused():
    X, y = blobs(20, 4, 3)
    clf = rb.Perceptron().partial_fit(X, y % 3, classes=[0, 1, 2])
    with pytest.raises(LabelError, match=r"3 is not one of the classes \[0, 1, 2\]"):
        clf.partial_fit(X, y)
    with pytest.raises(LabelError, match="not the same as on last call"):
        clf.partial_fit(X, y, classes=[0, 1, 2, 3])
    assert clf.classes_.tolist() == [0, 1, 2]


def test_classes_that_do_not_sort_may_be_listed_in_any_order():
    X, _ = blobs(20, 4, 3)
    clf = rb.Perceptron().partial_fit(X[:3], [1, "a", (2,)], classes=[1, "a", (2,)])
    clf.partial_fit(X[:2], ["a", 1], classes=iter(["a", (2,), 1]))
    assert clf.classes_.tolist() == [1, "a", (2,)]
    with pytest.raises(LabelError, match=r"classes=\['a', 1\] is not the same"):
        clf.partial_fit(X[:2], ["a", 1], classes=iter(["a", 1]))


@pytest.mark.parametrize("classes", [3, "grown", 1.5])
def test_classes_that_are_no_list(classes):
    with pytest.raises(LabelError, match="must be a list of labels, 'grow' or None"):
        rb.Perceptron().partial_fit([[1.0], [2.0]], [0, 1], classes=classes)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("x", [[np.nan, 0.0, 0.0], np.array([0.0, np.inf, 0.0])], ids=["nan", "inf"])
def test_single_rows_that_are_not_finite(scheme, x):
    X, y = blobs(20, 4, 3)
    clf = rb.Perceptron(multiclass=scheme).partial_fit(X, y, classes=range(4))
    before = full_state(clf)
    with pytest.raises(NonFiniteError, match="Input x contains"):
        clf.predict_one(x)
    with pytest.raises(NonFiniteError, match="Input x contains"):
        clf.learn_one(x, 0)
    assert full_state(clf) == before


def test_files_of_equal_streams_are_equal():
    """Room that a stream writes in holds what was in memory before, and is no part of it."""
    X, y = blobs(20, 4, 3)
    kept = {pickle.dumps(rb.Perceptron().partial_fit(X, y, classes=range(4))) for _ in range(5)}
    assert len(kept) == 1
