"""The online scaler: rows scaled by what was met before them, to the same bits in single rows and in chunks."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.exceptions import DataTypeError, InputError, NonFiniteError, ParameterError, ShapeError

RNG = np.random.default_rng(3)
X = RNG.standard_normal((40, 3)) * [1.0, 1e3, 1e-3] + [5.0, -2e4, 0.0]
NAMES = ["a", "b", "c"]


def figures(scaler):
    return [each.tobytes() for each in (scaler.mean_, scaler.var_, scaler.n_samples_seen_)]


def streamed(rows, **parameters):
    """Return the rows, each scaled by what was met before it, and the scaler after the last."""
    scaler, found = rb.OnlineScaler(**parameters), []
    for row in rows:
        found.append(scaler.transform_one(row))
        assert scaler.learn_one(row) is scaler
    return found, scaler


@pytest.mark.parametrize("parameters", [{}, {"with_mean": False}, {"with_std": False}])
@pytest.mark.parametrize("cuts", [[], [1], [7, 8, 30]])
def test_single_rows_dicts_and_chunks_leave_the_same_bits(parameters, cuts):
    found, scaler = streamed(X, **parameters)
    dicts, by_name = streamed([dict(zip(NAMES, row, strict=True)) for row in X.tolist()], **parameters)
    assert np.array([list(each.values()) for each in dicts]).tobytes() == np.array(found).tobytes()
    chunked = rb.OnlineScaler(**parameters)
    parts = [chunked.learn_transform(part) for part in np.split(X, cuts)]
    assert np.concatenate(parts).tobytes() == np.array(found).tobytes()
    learned = rb.OnlineScaler(**parameters)
    for part in np.split(X, cuts):
        learned.partial_fit(part)
    whole = rb.OnlineScaler(**parameters).fit(X[:3]).fit(X)  # which forgets the first fit
    for other in (by_name, chunked, learned, whole):
        assert figures(other) == figures(scaler)


def test_a_row_is_scaled_by_exactly_the_rows_before_it():
    """Against means and variances of the rows before, in rationals."""
    found, _ = streamed(X)
    for i, row in enumerate(X):
        for j in range(3):
            before = [Fraction(value) for value in X[:i, j].tolist()]
            if len(set(before)) < 2:
                assert found[i][j] == 0.0
                continue
            mean = sum(before) / len(before)
            variance = sum((each - mean) ** 2 for each in before) / len(before)
            expected = float(Fraction(row[j]) - mean) / math.sqrt(variance)
            assert found[i][j] == pytest.approx(expected, rel=1e-9)


def test_transform_agrees_with_standard_scaler():
    scaler = rb.OnlineScaler().fit(X)
    assert scaler.transform(X) == pytest.approx(StandardScaler().fit_transform(X), rel=1e-9, abs=1e-12)
    assert scaler.fit_transform(X).tobytes() == scaler.transform(X).tobytes()
    assert scaler.mean_ == pytest.approx(X.mean(axis=0))
    assert scaler.var_ == pytest.approx(X.var(axis=0))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames_have_names_and_mappings_go_on_from_them(frame):
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    scaler = rb.OnlineScaler().fit(table)
    assert scaler.feature_names_in_.tolist() == NAMES
    assert scaler.get_feature_names_out().tolist() == NAMES
    assert figures(scaler) == figures(rb.OnlineScaler().fit(X))
    scaler.learn_one({"b": 1.0, "d": 2.0})
    assert scaler.n_samples_seen_.tolist() == [40, 41, 40, 1]
    assert scaler.transform_one({"d": 5.0, "e": 1.0}) == {"d": 0.0, "e": 0.0}
    with pytest.raises(ShapeError, match="expecting 4 features"):
        scaler.transform(X)


def test_set_output_makes_frames():
    table = pd.DataFrame(X, columns=NAMES)
    found = rb.OnlineScaler().set_output(transform="pandas").fit_transform(table)
    assert list(found.columns) == NAMES
    model = make_pipeline(rb.OnlineScaler(), rb.Perceptron()).set_output(transform="pandas")
    assert model.fit(table, X[:, 1] > -2e4).score(table, X[:, 1] > -2e4) == 1.0
    assert model[-1].feature_names_in_.tolist() == NAMES


def test_a_pickle_goes_on():
    scaler = rb.OnlineScaler().partial_fit(X[:20])
    again = pickle.loads(pickle.dumps(scaler))
    assert figures(again.partial_fit(X[20:])) == figures(rb.OnlineScaler().fit(X))


@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=8), st.integers(0, 3))
def test_equal_values_are_zero_and_scores_are_finite(values, repeats):
    rows = np.repeat(np.array(values), repeats + 1)[:, None]
    found = rb.OnlineScaler().learn_transform(rows)
    assert np.isfinite(found).all()
    assert not found[: repeats + 1].any()


def test_what_is_no_number_is_refused_and_nothing_is_learned():
    scaler = rb.OnlineScaler().partial_fit(pd.DataFrame(X, columns=NAMES))
    before = figures(scaler)
    for x, error in [
        ({"a": 1.0, "b": "red"}, DataTypeError),
        ({"a": 1.0, "b": math.nan}, NonFiniteError),
        ({"a": math.inf}, NonFiniteError),
        ([1.0, 2.0], ShapeError),
        ([[1.0, 2.0, 3.0]], ShapeError),
        ([1.0, math.nan, 2.0], NonFiniteError),
    ]:
        with pytest.raises(error):
            scaler.learn_one(x)
        with pytest.raises(error):
            scaler.transform_one(x)
    with pytest.raises(DataTypeError, match="cannot be centred"):
        scaler.partial_fit(csr_array(X))
    with pytest.raises(InputError, match="feature names"):
        scaler.transform(pd.DataFrame(X, columns=list("cab")))
    with pytest.raises(NonFiniteError, match="variance of column 0"):
        rb.OnlineScaler().fit([[1e200], [-1e200]])
    scaler.learn_one({"big": 1e200})
    before = figures(scaler)
    with pytest.raises(NonFiniteError, match="variance of feature 'big'"):
        scaler.learn_one({"a": 1.0, "big": -1e200})
    with pytest.raises(InputError, match="no names"):
        rb.OnlineScaler().fit(X).learn_one({"a": 1.0})
    with pytest.raises(NotFittedError, match="met no row"):
        rb.OnlineScaler().transform(X)
    with pytest.raises(ParameterError, match="with_std"):
        rb.OnlineScaler(with_std="yes").fit(X)
    assert figures(scaler) == before


def test_it_helps_where_features_differ_in_scale():
    """Three features of sizes 1, 1000 and 0.001 that matter alike: a stream of 600 readings."""
    rows = RNG.standard_normal((600, 3))
    labels = rows.sum(axis=1) > 0
    rows = rows * [1.0, 1e3, 1e-3] + [5.0, -2e4, 0.0]

    def right(scaler):
        model, found = rb.Perceptron(average=True), 0
        for row, label in zip(rows, labels.tolist(), strict=True):
            x = row if scaler is None else scaler.transform_one(row)
            found += model.predict_one(x) == label
            model.learn_one(x, label)
            if scaler is not None:
                scaler.learn_one(row)
        return found / len(rows)

    assert right(rb.OnlineScaler()) > 0.9 > 0.7 > right(None)


def test_a_pipeline_is_saved_with_it_and_goes_on(tmp_path):
    table = pd.DataFrame(X, columns=NAMES)
    model = make_pipeline(rb.OnlineScaler(), rb.Perceptron()).fit(table, y := X[:, 0] > 5.0)
    rb.save(model, tmp_path / "m")
    loaded = rb.load(tmp_path / "m")
    assert [name for name, _ in loaded.steps] == ["online", "learner"]
    assert figures(loaded[0]) == figures(model[0])
    assert (loaded.predict(table) == model.predict(table)).all()
    assert (rb.load(tmp_path / "m").decision_function(table) == model.decision_function(table)).all()
    for each in (model, loaded):
        scaler, learner = (step for _, step in each.steps)
        for row, label in zip(X, y, strict=True):
            learner.learn_one(scaler.transform_one(row), label)
            scaler.learn_one(row)
    assert figures(loaded[0]) == figures(model[0])
    assert loaded.decision_function(table).tobytes() == model.decision_function(table).tobytes()


def test_the_names_of_a_step_are_texts(tmp_path):
    scaler = rb.OnlineScaler().learn_one({1: 2.0})
    rb.save(scaler, tmp_path / "alone")
    assert rb.load(tmp_path / "alone").transform_one({1: 2.0}) == {1: 0.0}
    with pytest.raises(rb.exceptions.InputError, match="names are texts"):
        rb.save(make_pipeline(scaler, rb.Perceptron().learn_one([1.0], 0).learn_one([2.0], 1)), tmp_path / "m")


def test_figures_that_no_rows_have_are_refused(tmp_path):
    scaler = rb.OnlineScaler().fit(X)
    scaler._squares[0] = -1.0
    rb.save(scaler, tmp_path / "m")
    with pytest.raises(rb.exceptions.ModelFileError, match="negative"):
        rb.load(tmp_path / "m")
