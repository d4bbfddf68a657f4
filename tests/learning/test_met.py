"""Weights of the features met only: the same bits as weights of all features, in less memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import InputError, NonFiniteError
from rosenblatt.learning import state as module
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.state import MetFeatures, State, is_wide, with_zeros
from rosenblatt.loops.layout import CSR
from rosenblatt.rows.batch import as_batch
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.blocks import MemoryBlocks

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
WIDTH = 5_000


def text(seed, rows=60, words=9, used=120):
    """Return sparse rows of small floats in few of many columns."""
    rng = np.random.default_rng(seed)
    vocabulary = np.sort(rng.choice(WIDTH, used, replace=False))
    columns = np.concatenate([np.sort(rng.choice(vocabulary, words, replace=False)) for _ in range(rows)])
    return csr_array(
        (rng.normal(size=rows * words), columns, np.arange(0, rows * words + 1, words)), (rows, WIDTH)
    )


def labels(seed, rows=60, classes=4):
    return np.array(["a", "b", "c", "d"])[np.random.default_rng(seed).integers(0, classes, rows)]


@pytest.fixture
def narrow(monkeypatch):
    """Return a function that makes a model twice: with weights of all features, and of those met."""

    def make(model):
        plain = model()
        monkeypatch.setattr(module, "MET_ONLY_BYTES", 0)
        met = model()
        assert met._state.met is not None
        assert plain._state.met is None
        return plain, met

    return make


def same(plain, met, X):
    """Require the same bits of all that two models say."""
    for one, other in [
        (plain.coef_, met.coef_),
        (plain.intercept_, met.intercept_),
        (plain.decision_function(X), met.decision_function(X)),
        (plain.decision_function(X.toarray()), met.decision_function(X.toarray())),
    ]:
        assert one.tobytes() == other.tobytes()
    assert plain.n_mistakes_ == met.n_mistakes_


@given(st.data())
def test_columns_are_numbered_as_a_dictionary_would(data):
    width = data.draw(st.integers(1, 40))
    columns = sorted(data.draw(st.sets(st.integers(0, width - 1))))
    indices = np.array(data.draw(st.lists(st.integers(0, width - 1), max_size=12)), np.uint32)
    spare = data.draw(st.sampled_from([0, 64]))  # by search, and by a table
    places = {column: place for place, column in enumerate(columns)}
    X = CSR(np.ones(len(indices)), indices, np.array([0, len(indices)], np.uint32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TABLE_FEATURES_A_COLUMN", spare)
        met = MetFeatures(np.array(columns, np.int64), width)
        found = met.numbered(X)
        assert found.indices.tolist() == [places.get(int(column), len(columns)) for column in indices]
        grown, inserted = met.with_columns_of(X, found)
    assert grown.columns.tolist() == sorted({*columns, *indices.tolist()})
    weights = np.arange(1.0, len(columns) + 2)
    before = met.spread(weights)
    after = grown.spread(np.insert(weights, inserted, 0.0))
    assert before.tolist() == after.tolist()


@given(st.integers(1, 4), st.integers(1, 9), st.lists(st.integers(0, 9), max_size=5), st.sampled_from("CF"))
def test_zeros_are_inserted_as_numpy_does(machines, n, places, order):
    weights = np.asarray(np.arange(1.0, machines * n + 1).reshape(machines, n), order=order)
    where = np.array(sorted(min(place, n - 1) for place in places), np.int64)
    made = with_zeros(weights, where)
    assert made.tolist() == np.insert(weights, where, 0.0, axis=-1).tolist()
    assert made.flags.f_contiguous or order == "C"


def test_only_large_weights_are_those_of_features_met():
    assert is_wide((52, 2**18 + 1))
    assert not is_wide((52, 2**18 + 1), stored=2**25)  # the copy of column numbers would be larger
    assert not is_wide((2**18 + 1,))


def test_rows_beyond_the_first_part_of_a_matrix_are_numbered(narrow):
    X = text(1)
    met = MetFeatures(np.unique(X.indices).astype(np.int64), WIDTH)
    part = as_rows(X).part(slice(20, 30))
    plain = as_rows(X[20:30])
    weights = np.random.default_rng(0).normal(size=len(met.columns) + 1)
    model = LinearModel(
        weights, rb.Perceptron().fit(X[:20], labels(1)[:20])._scheme, np.array(["a", "b"]), met=met
    )
    assert model.scores(part).tobytes() == model.scores(plain).tobytes()


@pytest.mark.parametrize("parameters", [
    {}, {"average": True}, {"penalty": "elasticnet", "alpha": 0.01}, {"multiclass": "ovr"}, {"init": "first"},
    {"multiclass": "ovo", "average": True}, {"early_stopping": True, "max_iter": 8}, {"class_weight": "balanced"},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("classes", [2, 4])
def test_a_fit_has_the_same_bits(narrow, parameters, classes):
    X, y, other = text(1), labels(1, classes=classes), text(2)
    plain, met = narrow(lambda: rb.Perceptron(**{"max_iter": 30} | parameters).fit(X, y))
    same(plain, met, X)
    same(plain, met, other)
    assert met._state.w.shape[-1] - 1 == len(np.unique(X.indices))


def test_a_trace_replays_to_the_same_bits(narrow, tmp_path):
    X, y = text(1), labels(1)
    plain, met = narrow(lambda: rb.Perceptron(average=True, max_iter=5).fit(X, y))
    assert (
        plain.trace_.replay(X, y).coef.tobytes() == met.trace_.replay(X, y).coef.tobytes() == met.coef_.tobytes()
    )
    assert plain.trace_.path(X, y)[0].tobytes() == met.trace_.path(X, y)[0].tobytes()
    assert len(met.trace_.after_each_pass(X, y)) == 5
    met.trace_.save(tmp_path / "run.npz")
    assert rb.Trace.load(tmp_path / "run.npz").replay(X, y).coef.tobytes() == met.coef_.tobytes()


@pytest.mark.parametrize("parameters", [{}, {"average": True}, {"penalty": "l1", "alpha": 0.01}], ids=str)
def test_a_stream_meets_features_as_they_come(narrow, parameters):
    chunks = [(text(seed), labels(seed)) for seed in (1, 2, 3)]

    def model():
        clf = rb.Perceptron(**parameters)
        for X, y in chunks:
            clf.partial_fit(X, y, classes="grow")
        return clf

    plain, met = narrow(model)
    same(plain, met, text(4))
    assert plain.predict_one(text(4).toarray()[0]) == met.predict_one(text(4).toarray()[0])
    used = np.unique(np.concatenate([X.indices for X, _ in chunks]))
    assert met._state.met.columns.tolist() == used.tolist()
    X = text(5).toarray()
    for clf in (plain, met):  # a dense row has all features
        clf.learn_one(X[0], "a").partial_fit(X, labels(5))
    assert met._state.met is None
    same(plain, met, text(4))


def test_a_stream_goes_on_from_a_fit_and_a_warm_start_too(narrow):
    X, y, more = text(1), labels(1), text(2)
    made = narrow(lambda: rb.Perceptron(average=True, max_iter=3, warm_start=True, trace="mistakes").fit(X, y))
    for clf in made:
        clf.fit(more, labels(2)).partial_fit(text(3), labels(3))
    same(*made, text(4))
    assert made[0].trace_.replay(text(3), labels(3)).coef.tobytes() == made[1].coef_.tobytes()


def test_files_hold_the_features_met(narrow, tmp_path):
    X, y = text(1), labels(1)
    plain, met = narrow(lambda: rb.Perceptron(average=True, max_iter=5).fit(X, y))
    files = []
    for clf, name in ((plain, "plain"), (met, "met")):
        rb.save(clf, tmp_path / name)
        assert (tmp_path / name).stat().st_size < plain._state.w.nbytes
        again = rb.load(tmp_path / name)
        used = again._state.met.columns
        assert np.isin(used, X.indices).all()
        assert again.coef_[:, used].any(axis=0).all()  # others were met, but never on a mistake
        same(plain, again, text(2))
        assert again.trace_.replay(X, y).coef.tobytes() == plain.coef_.tobytes()
        files.append(again._state)
    assert files[0].w.tobytes() == files[1].w.tobytes()
    gone_on = [clf.partial_fit(text(3), labels(3)) for clf in (rb.load(tmp_path / "plain"), met)]
    same(*gone_on, text(2))


def test_a_pass_reports_a_model_of_all_features(narrow):
    X, y, seen = text(1), labels(1), []
    narrow(lambda: rb.Perceptron(max_iter=3, callbacks=[seen.append]).fit(X, y))
    assert [report.model.coef.shape for report in seen] == [(4, WIDTH)] * 6
    assert seen[0].model.coef.tobytes() == seen[3].model.coef.tobytes()


@pytest.mark.parametrize("in_blocks", [False, True])
def test_blocks_and_checkpoints(narrow, tmp_path, in_blocks, monkeypatch):
    X, y = text(1), labels(1)
    blocks = MemoryBlocks(as_batch(X, y), np.array([0, 13, 40, 60]))
    if in_blocks:  # visited block by block, as if they were in a file
        monkeypatch.setattr("rosenblatt.estimators._fitting.MemoryBlocks", type("Other", (), {}))

    def model(max_iter=6, **how):
        return rb.Perceptron(max_iter=max_iter, average=True, random_state=3, trace="mistakes").fit_blocks(
            blocks, **how
        )

    plain, met = narrow(model)
    same(plain, met, text(2))
    where = {"checkpoint": tmp_path / "point"}
    model(2, **where)
    same(plain, model(**where, resume=True), text(2))
    model(2, **where)
    monkeypatch.setattr("rosenblatt.estimators._fitting.is_wide", lambda *_: False)  # rows of many more values
    again = model(**where, resume=True)
    assert again._state.met is None
    same(plain, again, text(2))


def test_sparse_coefficients_are_never_dense(narrow, monkeypatch):
    X, y = text(1), labels(1)
    plain, met = narrow(lambda: rb.Perceptron(max_iter=5).fit(X, y))
    monkeypatch.setattr(MetFeatures, "spread", None)
    sparse = met.sparsify().coef_
    assert sparse.shape == (4, WIDTH)
    assert (sparse != plain.sparsify().coef_).nnz == 0


def test_a_value_that_is_not_finite_is_found_in_a_feature_that_was_never_met(narrow):
    X, y = text(1), labels(1)
    _, met = narrow(lambda: rb.Perceptron(max_iter=5).fit(X, y))
    unmet = np.setdiff1d(np.arange(WIDTH), X.indices)[0]
    with pytest.raises(NonFiniteError, match=f"column {unmet}"):
        met.predict(csr_array(([np.nan], ([0], [unmet])), (1, WIDTH)))


def test_weights_of_all_features_are_refused_where_they_do_not_fit():
    with pytest.raises(InputError, match="The weights of all features would take"):
        MetFeatures.none_of(2**52).spread(np.zeros(1))


def test_a_state_with_minus_zero_keeps_it():
    w = np.zeros(9)
    w[3], w[5], w[-1] = -0.0, 2.0, 7.0
    gathered = State(w).gathered()
    assert gathered.met.columns.tolist() == [3, 5]
    assert gathered.spread().w.tobytes() == w.tobytes()
    assert gathered.grown(20).n_features == 20
    assert gathered.narrowed(5).spread().w.tolist() == [0.0, 0.0, 0.0, -0.0, 0.0, 7.0]
