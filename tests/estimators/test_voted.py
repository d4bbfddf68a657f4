"""The vote: exactly that of all hypotheses, each kept and asked by the reference."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.learning import vote as voted
from rosenblatt.learning import vote as voted_learner
from tests.oracles import family
from tests.shared.examples import examples
from tests.shared.relatives import CONVENTIONS, LAYOUTS, interrupt_at, laid_out, problems, told
from tests.shared.strategies import noisy, quietly, separable, trained

SCHEMES = st.sampled_from(["direct", "ovr", "ovo"])


def votes_by_hand(clf, X, y, queries):
    """Return the votes for each class by all hypotheses that the trace tells of."""
    hypotheses = told(clf.trace_, X, y)
    K = len(clf.classes_)
    total = int(clf.trace_.visits_per_pass.sum())
    return np.array(
        [
            family.votes(hypotheses.path, total, K, lambda w, x=x: hypotheses.predict(w, x))
            for x in np.asarray(queries, float).tolist()
        ]
    )


def voting(X, y, *, fit=None, **parameters):
    return quietly(rb.VotedPerceptron(**parameters).fit, X, y, **(fit or {}))


def _assert_votes(clf, votes, queries):
    total = votes.sum(axis=1)
    assert (total == clf.t_).all()
    decision = clf.decision_function(queries)
    if len(clf.classes_) == 2:
        assert decision.tolist() == ((votes[:, 1] - votes[:, 0]) / clf.t_).tolist()
    else:
        assert decision.tolist() == (votes / clf.t_).tolist()
    best = votes == votes.max(axis=1, keepdims=True)
    codes = [np.flatnonzero(row)[-1 if clf.zero > 0 else 0] for row in best]
    assert clf.predict(queries).tolist() == clf.classes_[codes].tolist()


@settings(max_examples=examples(300))
@given(st.data(), problems(), CONVENTIONS, SCHEMES, LAYOUTS, LAYOUTS, st.integers(1, 5))
def test_every_hypothesis_votes_once_for_each_visit_it_survived(
    data, problem, conventions, scheme, layout, asked, passes
):
    X, y, weight = problem
    conventions = conventions | {"multiclass": scheme}
    clf = voting(laid_out(X, layout), y, fit={"sample_weight": weight}, max_iter=passes, **conventions)
    d = X.shape[1]
    rows = st.lists(st.lists(st.integers(-4, 4), min_size=d, max_size=d), min_size=1, max_size=4)
    queries = np.array(data.draw(rows), float)
    _assert_votes(clf, votes_by_hand(clf, X, y, queries), laid_out(queries, asked))
    assert clf.survived_.sum() == clf.t_
    assert clf.n_hypotheses_ == len(clf.survived_) == len(np.unique(clf.trace_.visit)) + 1


@given(problems(), CONVENTIONS)
def test_the_run_is_the_perceptrons(problem, conventions):
    X, y, weight = problem
    clf = voting(X, y, fit={"sample_weight": weight}, max_iter=4, **conventions)
    plain = trained(X, y, fit={"sample_weight": weight}, max_iter=4, **conventions)
    for name in ("visit", "index", "score", "step"):
        assert getattr(clf.trace_, name).tolist() == getattr(plain.trace_, name).tolist()
    assert (clf.t_, clf.n_iter_, clf.stop_reason_) == (plain.t_, plain.n_iter_, plain.stop_reason_)
    assert clf.mistakes_per_pass_.tolist() == plain.mistakes_per_pass_.tolist()


def test_starts_take_part():
    X, y = np.array([[1.0], [-1.0], [2.0]]), [1, 0, 1]
    clf = rb.VotedPerceptron().fit(X, y, coef_init=[1.0], intercept_init=[0.0])
    assert (clf.survived_.tolist(), clf.t_) == ([3], 3)
    assert clf.decision_function([[0.5], [-0.5]]).tolist() == [1.0, -1.0]


@pytest.mark.parametrize("rows_at_once", [1, 7, 32])
@pytest.mark.parametrize("layout", ["dense", "dense32", "csr"])
def test_rows_predicted_side_by_side_do_not_mix(monkeypatch, rows_at_once, layout):
    rng = np.random.default_rng(3)
    for classes in (2, 5):
        X, y = rng.normal(size=(70, 41)), rng.integers(classes, size=70)
        clf = voting(laid_out(X, layout), y, max_iter=3)
        whole = clf.decision_function(X)
        monkeypatch.setattr(voted, "ROWS_AT_ONCE", rows_at_once)
        assert clf.decision_function(X).tobytes() == whole.tobytes()
        one = [clf.decision_function(X[i : i + 1])[0] for i in range(70)]
        assert np.array(one).tobytes() == whole.tobytes()
        assert [clf.predict_one(x) for x in X] == clf.predict(X).tolist()


@settings(max_examples=examples(150))
@given(st.data(), problems(weights=False), CONVENTIONS, LAYOUTS)
def test_streams_vote_as_a_fit_of_the_same_visits(data, problem, conventions, layout):
    X, y, _ = problem
    conventions = {name: value for name, value in conventions.items() if name not in ("order", "bias")}
    whole = voting(X, y, order="cyclic", max_iter=1, **conventions)
    rows, classes = laid_out(X, layout), sorted(set(y.tolist()))
    stream = rb.VotedPerceptron(**conventions)
    first = 0
    while first < len(y):
        last = data.draw(st.integers(first + 1, len(y)))
        if data.draw(st.booleans()):
            for i in range(first, last):
                stream.learn_one(X[i].copy(), y[i], classes=classes)
        else:
            stream.partial_fit(rows[first:last], y[first:last], classes=classes)
        if data.draw(st.booleans()):
            stream.predict(X)  # puts together what has come so far
        first = last
    assert stream.survived_.tolist() == whole.survived_.tolist()
    assert stream.decision_function(X).tolist() == whole.decision_function(X).tolist()


@given(problems(weights=False), CONVENTIONS, st.integers(1, 3))
def test_a_stream_goes_on_from_a_fit(problem, conventions, passes):
    """The votes of both are added."""
    X, y, _ = problem
    clf = voting(X, y, max_iter=passes, **conventions)
    before = votes_by_hand(clf, X, y, X)
    clf.partial_fit(X[::-1].copy(), y[::-1])
    after = votes_by_hand(clf, X[::-1], y[::-1], X)
    _assert_votes(clf, before + after, X)
    assert clf.survived_.sum() == clf.t_ == before[0].sum() + len(X)


def test_labels_and_features_met_on_the_way():
    words = [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap lunch", "offer"), ("pills", "spam")] * 3
    clf = rb.VotedPerceptron()
    rows = [dict.fromkeys(text.split(), 1.0) for text, _ in words]
    for x, (_, label) in zip(rows, words, strict=True):
        clf.learn_one(x, label, classes="grow" if clf.__sklearn_is_fitted__() is False else None)
    names = clf.feature_names_in_.tolist()
    X = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    y = np.array([clf.classes_.tolist().index(label) for _, label in words])
    by_hand = votes_by_hand(clf, X, y, X)
    assert [clf.predict_one(row) for row in rows] == clf.classes_[by_hand.argmax(axis=1)].tolist()
    frame = pd.DataFrame(X, columns=names)
    assert clf.decision_function(frame).tolist() == (by_hand / 12).tolist()
    assert clf.predict_one({"unheard": 3.0}) == clf.predict_one({})


def test_a_vector_handed_in_may_be_written_to_again():
    clf, twin, x = rb.VotedPerceptron(), rb.VotedPerceptron(), np.array([1.0, 2.0])
    for values, label in (([1.0, 2.0], 1), ([-1.0, 3.0], 0), ([2.0, -2.0], 0)):
        x[:] = values
        clf.learn_one(x, label)
        twin.learn_one(x.copy(), label)
    queries = [[1.0, 2.0], [-1.0, 0.0], [3.0, 3.0]]
    assert clf.decision_function(queries).tolist() == twin.decision_function(queries).tolist()


def test_one_class_so_far():
    clf = rb.VotedPerceptron().learn_one([1.0, 2.0], "only")
    assert clf.predict([[1.0, 2.0], [-1.0, -2.0]]).tolist() == ["only", "only"]


def test_the_start_decides_before_the_first_visit(monkeypatch):
    for y, start in (([0, 1, 0, 1], [[1.0]]), ([0, 1, 2, 2], [[1.0], [0.0], [-1.0]])):
        clf = rb.VotedPerceptron()
        with monkeypatch.context() as patch:
            interrupt_at(patch, 1)
            with pytest.raises(KeyboardInterrupt):
                clf.fit([[1.0], [2.0], [-1.0], [-2.0]], y, coef_init=start)
        assert (clf.t_, clf.survived_.tolist()) == (0, [0])
        queries = [[3.0], [-3.0]]
        if len(start) == 1:
            assert clf.decision_function(queries).tolist() == [1.0, -1.0]
            assert clf.predict(queries).tolist() == [1, 0]
        else:
            assert clf.decision_function(queries).tolist() == [[1.0, 0, 0], [0, 0, 1.0]]
            assert clf.predict(queries).tolist() == [0, 2]
        clf.partial_fit([[1.0]], [0])
        assert np.abs(clf.decision_function(queries)).sum() == 2  # the start has no more than its visits


def test_a_stream_asked_after_each_example_votes_as_one_asked_at_the_end():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(120, 3)), rng.choice(["b", "a", "c"], size=120, p=[0.1, 0.5, 0.4])
    asked, silent = rb.VotedPerceptron(), rb.VotedPerceptron()
    for x, label in zip(X, y, strict=True):
        grow = None if asked.__sklearn_is_fitted__() else "grow"
        asked.learn_one(x, label, classes=grow)
        silent.learn_one(x, label, classes=grow)
        asked.predict_one(x)
        assert asked.survived_.sum() == asked.t_
    before = asked.decision_function(X)
    assert before.tolist() == silent.decision_function(X).tolist()
    copy = pickle.loads(pickle.dumps(asked))
    asked.partial_fit(X[:9], y[:9])
    asked.predict(X)
    assert copy.decision_function(X).tolist() == before.tolist()


def test_the_history_is_put_together_once_for_each_mistake(monkeypatch):
    X, y = separable(40, 3)
    clf, mistakes = rb.VotedPerceptron(), -1
    while mistakes < (mistakes := clf.partial_fit(X, y).n_mistakes_):
        clf.predict(X)
    file = pickle.dumps(clf)
    clf.predict(X)
    assert pickle.dumps(clf) == file
    monkeypatch.setattr(voted_learner, "_hypotheses", None)
    for x, label in zip(X, y, strict=True):
        clf.learn_one(x, label)
        clf.predict_one(x)
    assert (clf.n_mistakes_, clf.survived_.sum()) == (mistakes, clf.t_)


def test_a_vote_warns_of_nothing_and_ends_as_an_average_does():
    X, y = noisy(100, 3, flip=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rb.VotedPerceptron(max_iter=2).fit(X, y).stop_reason_ == "max_iter"
        clf = rb.VotedPerceptron().fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_) == ("plateau", rb.Perceptron(average=True).fit(X, y).n_iter_)


def test_there_are_no_weights_to_be_taken_for_the_votes():
    X, y = noisy(40, 3)
    clf = voting(X, y, max_iter=3)
    for name in ("coef_", "intercept_"):
        assert not hasattr(clf, name)
        with pytest.raises(AttributeError, match="not linear"):
            getattr(clf, name)
    assert clf.trace_.replay(X, y).coef.shape == (3,)


def test_rows_that_are_not_finite():
    X, y = noisy(40, 3)
    clf = voting(X, y, max_iter=3)
    with pytest.raises(rb.exceptions.NonFiniteError, match="row 1, column 2"):
        clf.predict([[0.0, 0, 0], [0, 0, np.nan]])
    with pytest.raises(rb.exceptions.PredictionOverflowError, match="row 1"):
        clf.predict([[0.0, 0, 0], [1e308, 1e308, 1e308]])
    with pytest.raises(rb.exceptions.ShapeError, match="2 features"):
        clf.predict([[0.0, 0]])


def test_the_vote_is_better_than_its_last_hypothesis():
    X, y = noisy(2000, 20, flip=0.1)
    clf = voting(X[:500], y[:500], max_iter=10)
    last = trained(X[:500], y[:500], max_iter=10)
    assert clf.score(X[500:], y[500:]) > last.score(X[500:], y[500:]) + 0.03


@pytest.mark.parametrize(
    ("name", "value"),
    [("eta0", 0), ("margin", -1), ("max_iter", 0), ("zero", 0), ("multiclass", "all"), ("tie", 3), ("bias", "x")],
)
def test_values_a_parameter_cannot_take(name, value):
    X, y = noisy(20, 2)
    clf = rb.VotedPerceptron().set_params(**{name: value})
    for train in (clf.fit, clf.partial_fit):
        with pytest.raises(rb.exceptions.ParameterError, match=name):
            train(X, y)
    assert not clf.__sklearn_is_fitted__()
