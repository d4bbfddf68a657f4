"""Runs of several classes: how they end, go on, are told of and kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, ParameterError
from rosenblatt.learning.trace import exact_curve
from rosenblatt.rows.batch import as_batch
from tests.shared.examples import examples
from tests.shared.multiclass import SCHEMES, blobs, class_problems, padded
from tests.shared.strategies import RaisesAfter, bits, quietly, trained

IN_A_ROW = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])


def test_three_classes_in_a_row():
    """No line has the middle one alone on one side, so one against the rest must fail; comparing does not."""
    X, y = IN_A_ROW
    direct = rb.Perceptron(order="cyclic").fit(X, y)
    assert (direct.stop_reason_, direct.n_iter_, direct.n_mistakes_) == ("separated", 11, 20)
    assert padded(direct).tolist() == [[-3, 2], [0, 1], [3, -3]]
    assert direct.score(X, y) == 1.0
    ovo = rb.Perceptron(multiclass="ovo", order="cyclic").fit(X, y)
    assert (ovo.stop_reason_, ovo.score(X, y)) == ("separated", 1.0)
    ovr = rb.Perceptron(multiclass="ovr", order="cyclic")
    with pytest.warns(ConvergenceWarning, match="No hyperplane separates the class '1' from the rest"):
        ovr.fit(X, y)
    assert not ovr.converged_
    assert ovr.score(X, y) < 1.0
    assert 1 in ovr.trace_.machine[ovr.trace_.epoch == ovr.n_iter_]  # the middle machine never rests


@pytest.mark.parametrize("K", [3, 5, 9])
def test_a_row_of_many_classes_separates(K):
    X = np.arange(K)[:, None] - K // 2
    clf = rb.Perceptron(max_iter=10**5, n_iter_no_change=10**5).fit(X, np.arange(K))
    assert clf.score(X, np.arange(K)) == 1.0


@settings(max_examples=examples(100))
@given(
    K=st.integers(3, 6),
    d=st.integers(1, 5),
    bias=st.sampled_from(["unit", None]),
    eta=st.sampled_from([0.25, 1.0, 3.0]),
    margin=st.sampled_from([0.0, 0.0, 0.5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_mistake_bound(K, d, bias, eta, margin, seed):
    """At most 2R²/γ² mistakes, if vectors of joint length 1 put every row's own class ahead by γ.

    A mistake adds η(e_y − e_r)xᵀ. Its product with W* is at least ηγ, so <W, W*> ≥ kηγ; its square is 2η²‖x‖²,
    and the lead of a mistake is at most the margin m, so ‖W‖² ≤ k(2η²R² + 2ηm). R is of rows with the bias padded.
    """
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(K, d + 1))
    W[:, -1] *= bias is not None
    W /= np.linalg.norm(W)
    X = np.column_stack([rng.normal(size=(400, d)), np.full(400, float(bias is not None))])
    scores = np.sort(X @ W.T, axis=1)
    lead = scores[:, -1] - scores[:, -2]
    far = np.flatnonzero(lead > 0.05)[:60]
    X, y, gamma = X[far], np.argmax(X @ W.T, axis=1)[far], lead[far].min(initial=np.inf)
    if len(set(y.tolist())) < K:
        return
    clf = rb.Perceptron(bias=bias, eta0=eta, margin=margin, max_iter=10**6, n_iter_no_change=10**6)
    clf.fit(X[:, :-1], y)
    assert clf.converged_
    R2 = (X**2).sum(axis=1).max()
    assert clf.n_mistakes_ <= (2 * R2 + 2 * margin / eta) / gamma**2 * (1 + 1e-9)


@pytest.mark.parametrize("K", [3, 4, 10])
def test_the_two_in_the_mistake_bound_is_needed(K):
    """One row a class at right angles: γ² = 1 / (K − 1), by K·I less its mean, but every row needs its mistake."""
    clf = rb.Perceptron(bias=None).fit(np.eye(K), np.arange(K))
    R2, gamma2 = 1.0, 1.0 / (K - 1)
    assert clf.n_mistakes_ == K
    assert R2 / gamma2 < clf.n_mistakes_ <= 2 * R2 / gamma2


def test_every_pair_apart_but_a_sum_that_favours_another():
    X, y = np.array([[0.0, 0.0], [-1.0, 4.0], [-1.0, 1.0], [-1.0, 0.0]]), np.array([0, 1, 2, 0])
    clf = rb.Perceptron(multiclass="ovo", order="cyclic")
    with pytest.warns(
        ConvergenceWarning, match="Every pair of classes is separated, yet 1 rows are predicted wrong"
    ):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.converged_, clf.mistakes_per_pass_[-1]) == ("plateau", False, 0)
    assert clf.score(X, y) == 0.75
    f = X @ clf.coef_.T + clf.intercept_
    for m, (a, b) in enumerate(clf.trace_.scheme.pairs):
        assert (f[y == a, m] < 0).all()
        assert (f[y == b, m] > 0).all()
    assert trained(X, y, order="cyclic").score(X, y) == 1.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ties_that_are_never_corrected(scheme):
    X, y = blobs(20, 3, 2)
    clf = rb.Perceptron(multiclass=scheme, tie="correct")
    with pytest.warns(ConvergenceWarning, match="rows lie exactly on the hyperplane"):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.n_mistakes_) == ("plateau", 0)


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "random"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_warm_start_and_ctrl_c(layout, scheme, order):
    X, y = blobs(50, 4, 5)
    X = layout(X)
    rule = {"multiclass": scheme, "order": order, "average": True, "random_state": 3}
    whole = trained(X, y, max_iter=7, **rule)
    clf = rb.Perceptron(warm_start=True, callbacks=[RaisesAfter(3, KeyboardInterrupt)], **rule)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert (clf.stop_reason_, clf.n_iter_, clf.converged_) == ("interrupted", 3, False)
    assert bits(clf) == bits(trained(X, y, max_iter=3, **rule))
    assert clf.trace_.replay(X, y).weights.tobytes(order="C") == padded(clf).tobytes()
    quietly(clf.set_params(callbacks=None, max_iter=4).fit, X, y)
    assert bits(clf) == bits(whole)
    assert clf.mistakes_per_pass_.tolist() == whole.mistakes_per_pass_.tolist()[3:]
    assert clf.trace_.replay(X, y).weights.tobytes(order="C") == padded(clf).tobytes()


def test_warm_start_needs_the_same_classes_and_scheme():
    X, y = blobs(40, 4, 3)
    clf = trained(X, y, warm_start=True, max_iter=2)
    held = bits(clf)
    with pytest.raises(LabelError, match="warm_start=True continues from"):
        clf.fit(X, y % 3)
    with pytest.raises(ParameterError, match="multiclass='ovr' cannot continue from 'direct'"):
        clf.set_params(multiclass="ovr").fit(X, y)
    assert bits(clf) == held


@pytest.mark.parametrize("scheme", SCHEMES)
def test_early_stopping(scheme):
    X, y = blobs(120, 4, 3)
    clf = rb.Perceptron(multiclass=scheme, early_stopping=True, n_iter_no_change=4).fit(X, y)
    assert clf.stop_reason_ == "validation"
    held_out = clf._drawn.held_out
    assert sorted(set(y[held_out].tolist())) == [0, 1, 2, 3]
    assert not set(clf.trace_.index.tolist()) & set(held_out.tolist())
    wrong = clf.predict(X[held_out]) != y[held_out]
    assert np.mean(wrong) == clf.curve_.validation[clf.curve_.best - 1] == clf.curve_.validation.min()
    assert clf.trace_.replay(X, y).weights.tobytes() == padded(clf).tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("stop", [{}, {"tol": 1e-3, "n_iter_no_change": 2}], ids=["told", "tol"])
def test_the_loss_that_callbacks_are_told(scheme, stop):
    """Σ max(0, −lead): over machines side by side, or of a class over its best rival."""
    X, y = blobs(50, 4, 3)
    reports = []
    clf = trained(X, y, multiclass=scheme, max_iter=4, callbacks=[reports.append], **stop)
    trace = clf.trace_
    for report in reports:
        total = 0.0
        for k in np.flatnonzero(trace.epoch == report.epoch):
            label, m, f = y[trace.index[k]], trace.machine[k], trace.score[k]
            if scheme == "direct":
                lead = f
            elif scheme == "ovr":
                lead = f if m == label else -f
            else:
                lead = f if trace.scheme.pairs[m][1] == label else -f
            assert lead <= 0
            total -= lead
        assert report.loss == pytest.approx(total / 50)
        assert report.model.predict(as_batch(X, y)).shape == (50,)
    after = trace.after_each_pass(X, y)
    assert [r.model.weights.tobytes() for r in reports] == [m.weights.tobytes() for m in after]


def _traces():
    """Yield traces of each scheme, and of streams that grew, with their data."""
    X, y = blobs(30, 4, 3)
    for scheme in SCHEMES:
        yield scheme, trained(X, y, multiclass=scheme, max_iter=3, average=True), X, y
    yield "grown", rb.Perceptron(trace="mistakes").partial_fit(X, y, classes="grow"), X, y
    words = np.array(["a", "bb", "ccc", "d"])[y]
    yield "declared", rb.Perceptron(trace="mistakes").partial_fit(X, words, classes=list(set(words))), X, words
    yield "one class", rb.Perceptron(trace="mistakes").partial_fit(X, np.full(30, 7)), X, np.full(30, 7)


TRACES = {name: (clf, X, y) for name, clf, X, y in _traces()}


@pytest.mark.parametrize("name", TRACES)
def test_traces_are_kept_in_files(name, tmp_path):
    clf, X, y = TRACES[name]
    trace = clf.trace_
    trace.save(tmp_path / "run.npz")
    back = rb.Trace.load(tmp_path / "run.npz")
    for column in trace.columns:
        assert getattr(back, column).tolist() == getattr(trace, column).tolist()
    assert back.scheme == trace.scheme
    assert back.classes.tolist() == trace.classes.tolist()
    assert back.replay(X, y).weights.tobytes() == padded(clf).tobytes()
    trace.save(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0]
    assert header == ",".join(trace.columns)
    frame = trace.to_frame("pandas")
    assert list(frame.columns) == list(trace.columns)
    assert len(frame) == len(trace)


DAMAGES = {
    "a machine that does not exist": lambda held: held["machine"].__setitem__(0, 99),
    "a machine below zero": lambda held: held["machine"].__setitem__(-1, -1),
    "machines of another type": lambda held: held.update(machine=held["machine"].astype(np.int64)),
    "a machine too few": lambda held: held.update(machine=held["machine"][1:]),
    "no machines": lambda held: held.pop("machine"),
    "another scheme": lambda held: held.update(scheme=np.array("binary")),
    "an unknown scheme": lambda held: held.update(scheme=np.array("all")),
    "a class too few": lambda held: held.update(classes=held["classes"][1:]),
    "a start of one machine": lambda held: held.update(start_w=held["start_w"][0]),
    "a row that does not exist": lambda held: held["index"].__setitem__(0, 30),
    "counts that do not add up": lambda held: held["mistakes_per_pass"].__setitem__(0, 0),
    "counts below zero": lambda held: held.update(
        mistakes_per_pass=np.array([-1, len(held["index"]) + 1]), visits_per_pass=np.array([0, 1000])
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("name", ["direct", "ovr", "ovo", "grown"])
def test_damaged_files_are_refused(name, damage, tmp_path):
    TRACES[name][0].trace_.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        held = {key: file[key].copy() for key in file.files}
    damage(held)
    np.savez(tmp_path / "bad.npz", **held)
    with pytest.raises(InputError, match="not a trace written by"):
        rb.Trace.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(60))
@given(class_problems(), st.data())
def test_other_labels_are_noticed_or_harmless(scheme, problem, data):
    """A label that cannot have made a mistake is named before any loop sees it."""
    X, y, K = problem
    clf = trained(X, y, multiclass=scheme, order="cyclic", max_iter=3)
    row, machine = int(clf.trace_.index[0]), int(clf.trace_.machine[0])
    other = y.copy()
    other[row] = data.draw(st.sampled_from([c for c in range(K) if c != y[row]]))
    involved = {"direct": [c for c in range(K) if c != machine], "ovr": range(K)}
    involved["ovo"] = clf.trace_.scheme.pairs[machine] if scheme == "ovo" else ()
    if other[row] not in involved[scheme]:
        with pytest.raises(InputError, match=f"mistake 0, on row {row}, cannot be one"):
            clf.trace_.replay(X, other)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("layout", [np.asarray, csr_array])
def test_the_mistakes_alone_train_the_same_model(layout, scheme):
    X, y = blobs(60, 4, 3)
    clf = trained(layout(X), y, multiclass=scheme, max_iter=3, eta0=0.3)
    few = clf.trace_.compressed(layout(X), y)
    again = trained(few.X, few.y, multiclass=scheme, order=few.order, bias=few.bias, max_iter=1, eta0=0.3)
    assert padded(again).tobytes() == padded(clf).tobytes()


@pytest.mark.parametrize("labels", [[1, 0], [2, 0, 1, 0]])
def test_a_class_without_a_mistake_is_in_the_compressed_set_too(labels):
    X = np.array([[1.0, 0.0], [-3.0, 0.0], [-4.0, -1.0], [-9.0, 1.0]])[: len(labels)]
    clf = trained(X, labels, order="cyclic")
    few = clf.trace_.compressed(X, labels)
    assert sorted(set(few.y.tolist())) == sorted(set(labels))
    assert set(few.order.tolist()) < set(range(len(few.rows))) or len(labels) > 2
    again = trained(few.X, few.y, order=few.order, bias=few.bias, max_iter=1)
    assert padded(again).tobytes() == padded(clf).tobytes()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_curve_of_several_classes(scheme):
    X, y = blobs(40, 4, 3)
    clf = trained(X, y, multiclass=scheme, max_iter=4)
    curve = exact_curve(clf.trace_, X, y, validation=(X[:5], y[:5]))
    assert curve.training[-1] == pytest.approx(1 - clf.score(X, y))
    assert len(curve.validation) == 4
