"""The kernel perceptron as an estimator: kernels of every kind, streams, budgets, ends and errors."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel, sigmoid_kernel
from sklearn.model_selection import cross_val_score

import rosenblatt as rb
from rosenblatt import exceptions
from rosenblatt.kernels import RBF, Laplacian, Linear, Pairwise, Polynomial
from rosenblatt.kernels.kernel_fit import KernelPlan, KernelVisitor
from rosenblatt.kernels.kernel_model import KernelModel
from rosenblatt.kernels.kernel_state import KernelState, Support
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.plan import Plan
from rosenblatt.learning.trace import exact_curve
from rosenblatt.loops.order import Cyclic
from rosenblatt.loops.rules import Rule
from rosenblatt.rows.batch import as_batch
from tests.shared.strategies import RaisesAfter, quietly

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
RINGS = np.where(np.linalg.norm(X, axis=1) > 1.6, 1, 0)
NOISY = np.where(RNG.random(80) < 0.15, 1 - RINGS, RINGS)
THREE = np.digitize(np.linalg.norm(X, axis=1), [1.2, 1.9])
POLICIES = ("projection", "oldest", "random")


HALF = RBF(0.5)


def trained(X, y, kernel=HALF, fit=None, **parameters):
    return quietly(rb.KernelPerceptron(kernel, **parameters).fit, X, y, **(fit or {}))


def told(clf, X=X):
    return clf.dual_coef_.tobytes(), clf.intercept_.tobytes(), clf.decision_function(X).tobytes(), clf.t_


# Kernels


@pytest.mark.parametrize("y", [NOISY, THREE], ids=["two", "three"])
def test_precomputed_values_are_the_kernel(y):
    K = RBF(0.5)(X)
    ours, plain = trained(K, y, "precomputed", average=True), trained(X, y, average=True)
    np.testing.assert_array_equal(ours.support_, plain.support_)
    np.testing.assert_array_equal(ours.dual_coef_, plain.dual_coef_)
    new = RNG.standard_normal((7, 3))
    np.testing.assert_array_equal(ours.decision_function(RBF(0.5)(new, X)), plain.decision_function(new))
    sparse = trained(csr_array(K), y, "precomputed", average=True)
    np.testing.assert_array_equal(sparse.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(sparse.predict(csr_array(K)), plain.predict(X))
    with pytest.raises(AttributeError, match="support_"):
        _ = ours.support_vectors_


def test_precomputed_values_can_be_cross_validated():
    assert cross_val_score(rb.KernelPerceptron("precomputed"), RBF(0.5)(X), RINGS, cv=3).mean() > 0.7


def test_precomputed_values_have_no_stream():
    clf = rb.KernelPerceptron("precomputed")
    assert not hasattr(clf, "partial_fit")
    with pytest.raises(exceptions.ParameterError, match="stream"):
        clf.learn_one(X[0], 1)
    with pytest.raises(exceptions.ShapeError, match="square"):
        clf.fit(X, RINGS)


def test_any_function_may_be_the_kernel():
    ours = trained(X, NOISY, lambda a, b: rbf_kernel(a, b, gamma=0.5))
    plain = trained(X, NOISY)
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    alone = trained(X[:20], RINGS[:20], Pairwise(lambda a, b: float(np.exp(-0.5 * ((a - b) ** 2).sum()))))
    np.testing.assert_array_equal(alone.predict(X), trained(X[:20], RINGS[:20]).predict(X))


def sigmoid(a, b):
    return sigmoid_kernel(a, b, gamma=2.0, coef0=-1.0)


def negative_distance(a, b):
    return -np.linalg.norm(np.asarray(a)[:, None] - np.asarray(b)[None], axis=2)


@pytest.mark.parametrize("function", [sigmoid, negative_distance, lambda a, b: np.asarray(a @ b.T) + a[:, :1]])
def test_a_function_that_is_no_kernel_is_warned_of(function):
    with pytest.warns(exceptions.KernelWarning, match="not positive semidefinite"):
        quietly(rb.KernelPerceptron(function, max_iter=3).fit, X, RINGS)
    with pytest.warns(exceptions.KernelWarning):
        rb.KernelPerceptron(function).partial_fit(X, RINGS)
    K = function(X, X)
    with pytest.warns(exceptions.KernelWarning):
        quietly(rb.KernelPerceptron("precomputed", max_iter=3).fit, K, RINGS)


def test_no_function_that_is_a_kernel_is_warned_of():
    many = np.repeat(RNG.standard_normal((100, 2)), 4, axis=0)  # singular matrices, on a sample of the rows
    labels = np.arange(400) % 2
    trained(many, labels, lambda a, b: (np.asarray(a @ b.T) + 1.0) ** 3, max_iter=1)
    trained(many, labels, lambda a, b: rbf_kernel(a, b), max_iter=1)


# What is the same bit for bit


@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(3, 1.0), Laplacian(0.3)], ids=repr)
@pytest.mark.parametrize("y", [NOISY, THREE], ids=["two", "three"])
def test_the_cache_changes_nothing_but_time(kernel, y):
    expected = told(trained(X, y, kernel, max_iter=20))
    for cache_size in (0, 80 * 8 * 5 / 2**20):
        assert told(trained(X, y, kernel, max_iter=20, cache_size=cache_size)) == expected


@pytest.mark.parametrize("y", [NOISY, THREE], ids=["two", "three"])
def test_float32_rows_train_the_bits_of_their_copy(y):
    narrow = X.astype(np.float32)
    clf, wide = trained(narrow, y, "rbf", average=True), trained(narrow.astype(float), y, "rbf", average=True)
    assert clf.support_vectors_.dtype == np.float32
    assert told(clf, narrow) == told(wide, narrow.astype(float))


@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("order", ["cyclic", "shuffle", "random"])
def test_training_goes_on_as_if_it_had_not_ended(multiclass, average, order):
    rule = {"multiclass": multiclass, "average": average, "order": order}
    whole = trained(X, THREE, max_iter=9, **rule)
    clf = trained(X, THREE, max_iter=4, warm_start=True, **rule)
    quietly(clf.set_params(max_iter=5).fit, X, THREE)
    assert told(clf) == told(whole)
    again = clf.trace_.replay(X, THREE)
    np.testing.assert_array_equal(again.alpha, clf.dual_coef_)


def test_training_goes_on_from_other_rows():
    clf = trained(X[:40], NOISY[:40], max_iter=3, warm_start=True, order="cyclic")
    before = clf.n_mistakes_, len(clf.support_)
    quietly(clf.set_params(max_iter=1).fit, X[40:], NOISY[40:])
    stream = trained(X[:40], NOISY[:40], max_iter=3, order="cyclic").partial_fit(X[40:], NOISY[40:])
    assert told(clf) == told(stream)
    assert (clf.support_ == -1).sum() <= before[1]
    np.testing.assert_array_equal(clf.trace_.replay(X[40:], NOISY[40:]).alpha, clf.dual_coef_[0])
    with pytest.raises(exceptions.ParameterError, match="kernel"):
        clf.set_params(kernel=RBF(0.7)).fit(X, NOISY)


@pytest.mark.parametrize("y, kernel", [(RINGS, RBF(2.0)), (NOISY, Polynomial(3, 1.0)), (THREE, RBF(0.5))])
@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_replay_is_the_run(y, kernel, multiclass, kind):
    clf = trained(kind(X), y, kernel, multiclass=multiclass, average=True, max_iter=60)
    trace = clf.trace_
    again = trace.replay(kind(X), y)
    np.testing.assert_array_equal(np.atleast_2d(again.alpha), clf.dual_coef_)
    np.testing.assert_array_equal(np.atleast_1d(again.intercept), clf.intercept_)
    models = trace.after_each_pass(kind(X), y)
    assert len(models) == clf.n_iter_
    assert trace.alpha.sum() == clf.n_mistakes_
    with pytest.raises(exceptions.InputError, match="not the data"):
        trace.replay(kind(X[::-1]), y)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_replay_is_the_run_under_a_budget(policy):
    clf = trained(X, THREE, budget=7, budget_policy=policy, max_iter=4)
    np.testing.assert_array_equal(clf.trace_.replay(X, THREE).alpha, clf.dual_coef_)
    stream = rb.KernelPerceptron(RBF(0.5), budget=7, budget_policy=policy, trace="mistakes")
    for _ in range(3):
        stream.partial_fit(X, THREE, classes=[0, 1, 2])
    thrice, labels = np.tile(X, (3, 1)), np.tile(THREE, 3)
    np.testing.assert_array_equal(stream.trace_.replay(thrice, labels).alpha, stream.dual_coef_)


def test_what_separates_in_training_separates_in_prediction():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        table = rng.standard_normal((25, 2))
        y = np.arange(25) % 2
        clf = trained(table, y, RBF(5.0), margin=1e-3)
        assert clf.converged_
        z = np.where(y == 1, 1, -1) * clf.decision_function(table)
        assert (z > 1e-3).all()


# Streams and budgets


def test_an_order_of_visits_is_a_stream_of_its_rows():
    order = RNG.permutation(80)
    clf = trained(X, NOISY, order=[order], average=True)
    stream = rb.KernelPerceptron(RBF(0.5), average=True).partial_fit(X[order], NOISY[order])
    assert told(clf) == told(stream)


def test_a_stream_takes_any_layout_and_goes_on_after_a_fit():
    clf = rb.KernelPerceptron(RBF(0.5))
    clf.partial_fit(csr_array(X[:30]), NOISY[:30]).partial_fit(X[30:60], NOISY[30:60])
    clf.partial_fit(X[60:].astype(np.float32), NOISY[60:])
    assert clf.support_vectors_.shape[1] == 3
    after = trained(X, NOISY, max_iter=2).partial_fit(X, NOISY)
    assert after.t_ == 240


def test_a_stream_of_mappings_meets_features_and_classes_as_they_come():
    clf = rb.KernelPerceptron(Polynomial(2, 1.0))
    rows = [{"a": 1.0}, {"b": 1.0}, {"a": 1.0, "c": 2.0}, {"b": -1.0, "d": 1.0}] * 6
    labels = ["x", "y", "z", "x"] * 6
    for row, label in zip(rows, labels, strict=True):
        clf.learn_one(row, label, classes="grow")
    assert clf.classes_.tolist() == ["x", "y", "z"]
    assert [clf.predict_one(row) for row in rows] == labels
    names = ["a", "b", "c", "d"]
    table = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    batch = quietly(rb.KernelPerceptron(Polynomial(2, 1.0), order="cyclic", max_iter=1).fit, table, labels)
    assert sorted(batch.classes_) == clf.classes_.tolist()


def test_gamma_of_a_stream_is_known_or_asked_for():
    with pytest.raises(exceptions.ParameterError, match="'auto'"):
        rb.KernelPerceptron().partial_fit(X, NOISY)
    with pytest.raises(exceptions.ParameterError, match="'auto'"):
        rb.KernelPerceptron().learn_one(X[0], 1)
    assert rb.KernelPerceptron(RBF("auto")).partial_fit(X, NOISY).kernel_ == RBF(1 / 3)
    fitted = trained(X, NOISY, "rbf", max_iter=2)
    gamma = fitted.kernel_.gamma
    assert fitted.partial_fit(X, NOISY).kernel_.gamma == gamma


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_budget_is_kept(policy, kind):
    clf = rb.KernelPerceptron(RBF(0.5), budget=10, budget_policy=policy, average=policy == "projection")
    for _ in range(8):
        clf.partial_fit(kind(X), THREE, classes=[0, 1, 2])
        assert len(clf.support_) <= 10
    state = clf._state
    sizes = state.w.shape, state.support._ids.shape, len(pickle.dumps(state.support._rows))
    for _ in range(8):
        clf.partial_fit(kind(X), THREE, classes=[0, 1, 2])
    now = clf._state
    assert (now.w.shape, now.support._ids.shape) == sizes[:2]
    if kind is np.asarray:
        assert len(pickle.dumps(now.support._rows)) == sizes[2]
    if policy == "projection":
        assert clf.score(X, THREE) > 0.6


def test_rows_that_give_way_cannot_be_averaged():
    for policy in ("oldest", "random"):
        with pytest.raises(exceptions.ParameterError, match="projection"):
            rb.KernelPerceptron(RBF(0.5), budget=5, budget_policy=policy, average=True).fit(X, RINGS)


def test_the_oldest_gives_way():
    table, y = np.arange(1.0, 9.0)[:, None], np.array([1, 0] * 4)
    clf = rb.KernelPerceptron(Linear(), budget=3, budget_policy="oldest", margin=1e9, tie="mistake")
    clf.partial_fit(table, y)
    assert sorted(clf.support_vectors_[:, 0]) == [6.0, 7.0, 8.0]
    np.testing.assert_array_equal(np.abs(clf.dual_coef_), 1.0)


def test_a_random_row_gives_way_each_as_likely():
    table, y = np.arange(1.0, 401.0)[:, None], np.arange(400) % 2
    left = np.zeros(400)
    for seed in range(40):
        clf = rb.KernelPerceptron(
            Linear(), budget=50, budget_policy="random", margin=1e9, random_state=seed
        ).partial_fit(table, y)
        left[clf.support_vectors_[:, 0].astype(int) - 1] += 1
    assert left.sum() == 40 * 50
    # A row that came k mistakes before the end is left with probability (1 − 1/50)^k: about 1/e after fifty.
    assert 0.28 < left[325:375].mean() / 40 < 0.5
    assert left[-1] == 40


def test_a_projection_is_the_best_that_the_rows_kept_can_do():
    clf = rb.KernelPerceptron(RBF(0.5), budget=6, margin=1e9).partial_fit(X[:6], RINGS[:6])
    assert len(clf.support_) == 6
    kept, before = clf.support_vectors_, clf.dual_coef_[0]
    clf.partial_fit(X[6:7], RINGS[6:7])
    np.testing.assert_array_equal(clf.support_vectors_, kept)
    K, k = RBF(0.5)(kept), RBF(0.5)(kept, X[6:7])[:, 0]
    best = np.linalg.solve(K, k)
    step = 1.0 if RINGS[6] == 1 else -1.0
    np.testing.assert_allclose(clf.dual_coef_[0] - before, step * best, rtol=1e-3, atol=1e-4)


def test_a_projection_keeps_no_row_twice():
    clf = rb.KernelPerceptron(RBF(0.5), budget=20, margin=1e9)
    clf.partial_fit(np.repeat(X[:5], 3, axis=0), np.repeat(RINGS[:5], 3))
    assert len(clf.support_) == 5
    np.testing.assert_allclose(np.abs(clf.dual_coef_), 3.0, rtol=1e-4)


def test_a_budget_that_is_never_reached_changes_nothing():
    plain = trained(X, NOISY, max_iter=3)
    for policy in ("oldest", "random"):
        assert told(trained(X, NOISY, max_iter=3, budget=80, budget_policy=policy)) == told(plain)


def test_a_budget_cannot_shrink_what_is_there():
    clf = trained(X, NOISY, max_iter=2)
    with pytest.raises(exceptions.ParameterError, match="budget=3"):
        clf.set_params(budget=3).partial_fit(X, NOISY)


# Ends and errors


def test_ends():
    assert trained(X, RINGS).stop_reason_ == "separated"
    assert trained(X, NOISY, max_iter=1).stop_reason_ == "max_iter"
    assert trained(X, NOISY, Linear(), n_iter_no_change=3).stop_reason_ == "plateau"
    assert trained(X, NOISY, Linear(), max_time=1e-9).stop_reason_ == "max_time"
    early = trained(X, NOISY, early_stopping=True, n_iter_no_change=3, max_iter=500)
    assert early.stop_reason_ in ("validation", "separated")
    assert early.curve_.validation is not None
    contradiction = trained([[0.0], [0.0]], [0, 1], RBF(1.0), tie="correct", margin=0.0)
    assert contradiction.stop_reason_ == "plateau"


def test_rows_held_out_are_not_learned_from():
    clf = trained(X, NOISY, early_stopping=True, validation_fraction=0.3)
    assert not set(clf.support_) & set(clf._drawn.held_out)


def test_an_interruption_leaves_the_last_completed_pass():
    clf = rb.KernelPerceptron(RBF(0.5), callbacks=[RaisesAfter(3, KeyboardInterrupt)])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, NOISY)
    assert (clf.stop_reason_, clf.n_iter_) == ("interrupted", 3)
    assert told(clf) == told(trained(X, NOISY, max_iter=3))


def test_weights():
    weight = np.where(np.arange(80) < 40, 0.0, 1.0)
    clf = trained(X, NOISY, fit={"sample_weight": weight}, order="cyclic", max_iter=5)
    assert (clf.support_ >= 40).all()
    only = trained(X[40:], NOISY[40:], order="cyclic", max_iter=5)
    np.testing.assert_array_equal(clf.dual_coef_, only.dual_coef_)
    heavy = trained(X, NOISY, class_weight={1: 4.0}, max_iter=1)
    assert set(np.abs(heavy.dual_coef_[0])) == {1.0, 4.0}


def test_the_radius_is_that_of_the_kernels_space():
    clf = trained(X, NOISY, Polynomial(2, 1.0), bias="radius", max_iter=2)
    assert clf.trace_.bias == pytest.approx(((X**2).sum(axis=1).max() + 1) ** 2)
    assert trained(X, NOISY, bias="radius", max_iter=1).trace_.bias == 1.0


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "sigmoid"},
        {"kernel": None},
        {"budget": 0},
        {"budget": 2.5},
        {"budget_policy": "best"},
        {"cache_size": -1},
        {"init": "random"},
        {"margin": -1.0},
        {"multiclass": "one"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters):
    name = next(iter(parameters))
    with pytest.raises(exceptions.ParameterError, match=name):
        rb.KernelPerceptron(**({"kernel": RBF(0.5)} | parameters)).fit(X, RINGS)
    with pytest.raises(exceptions.ParameterError, match=name):
        rb.KernelPerceptron(**({"kernel": RBF(0.5)} | parameters)).learn_one(X[0], 1)


def test_values_that_overflow_are_told_of():
    huge = 1e200 * X
    with pytest.raises(exceptions.TrainingOverflowError):
        trained(huge, RINGS, RBF(0.5))
    with pytest.raises(exceptions.TrainingOverflowError):
        trained(huge, RINGS, Polynomial(2, 1.0))


def test_attributes():
    clf = trained(X, NOISY, Linear(), max_iter=3)
    np.testing.assert_allclose(clf.coef_, clf.dual_coef_ @ clf.support_vectors_)
    np.testing.assert_array_equal(clf.support_vectors_, X[clf.support_])
    rbf = trained(X, NOISY, max_iter=3)
    assert not hasattr(rbf, "coef_")
    assert not hasattr(rbf, "sparsify")
    assert not hasattr(rb.KernelPerceptron(), "support_")
    sparse = trained(csr_array(X), NOISY, max_iter=3)
    np.testing.assert_array_equal(sparse.support_vectors_.toarray(), X[sparse.support_])


def test_the_record_of_a_run_in_files(tmp_path):
    clf = trained(X, NOISY, max_iter=3)
    clf.trace_.save(tmp_path / "run.csv")
    assert len((tmp_path / "run.csv").read_text().splitlines()) == clf.n_mistakes_ + 1
    with pytest.raises(exceptions.ParameterError, match="csv"):
        clf.trace_.save(tmp_path / "run.npz")
    with pytest.raises(exceptions.InputError, match="after_each_pass"):
        clf.trace_.path(X, NOISY)
    curve = exact_curve(clf.trace_, X, NOISY)
    assert curve.training[-1] == np.mean(clf.predict(X) != NOISY)


# What is decided by sums whose last bits depend on their order


@pytest.mark.parametrize("kind", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", ["shuffle", "cyclic", "random"])
@pytest.mark.parametrize("passes", [1, 3])
def test_the_last_pass_is_as_any_other(kind, order, passes):
    for y in (NOISY, THREE):
        last = trained(kind(X), y, order=order, max_iter=passes, average=True)
        one_of_many = trained(
            kind(X), y, order=order, callbacks=[lambda report: report.epoch == passes], average=True
        )
        assert told(last) == told(one_of_many)


def _visited(y):
    batch = as_batch(X, y)
    state = KernelState.empty(None, Support(3), average=False)
    plan = Plan(Rule(), Cyclic(80), Scheme("binary", 2))
    return KernelVisitor(batch, plan, state, own=KernelPlan(RBF(0.1))), batch


def test_scores_are_summed_as_in_prediction_after_a_pass_without_a_mistake():
    visitor, batch = _visited(RINGS)
    order = np.arange(80, dtype=np.uint64)
    mistakes = 1
    while mistakes:
        kept = visitor.scores.copy()
        mistakes = sum(len(stretch.log.at) for stretch in visitor.visit(order))
    model = KernelModel.of(visitor.state, RBF(0.1), Scheme("binary", 2), batch.classes, -1)
    np.testing.assert_array_equal(visitor.scores[0] + visitor.state.w[-1], model.scores(batch))
    assert (kept != visitor.scores).any()  # or this test could not fail
    np.testing.assert_allclose(kept, visitor.scores, atol=1e-9)


def test_what_is_wrong_by_these_sums_is_visited_again(monkeypatch):
    plain = trained(X, RINGS, order="cyclic")
    sum_anew, calls = KernelVisitor.sum_anew, []

    def turned_once(self):
        sum_anew(self)
        calls.append(len(calls))
        if len(calls) == 1:
            self.scores[0, 7] = -100.0 if RINGS[7] == 1 else 100.0

    monkeypatch.setattr(KernelVisitor, "sum_anew", turned_once)
    clf = trained(X, RINGS, order="cyclic")
    assert len(calls) >= 2
    assert clf.n_iter_ > plain.n_iter_
    assert clf.mistakes_per_pass_[plain.n_iter_ - 1] == 0
    assert 7 in clf.trace_.index[clf.trace_.epoch > plain.n_iter_]
    assert (clf.converged_, clf.score(X, RINGS)) == (True, 1.0)
