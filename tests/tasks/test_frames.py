"""Data frames are trained on, evaluated and cross-validated as files of their columns are."""

import datetime
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.exceptions import FormatError, InputError, ParameterError

RNG = np.random.default_rng(5)
SIZE, WEIGHT = RNG.normal(size=60), 100 * RNG.normal(size=60)
PEAKS = pd.DataFrame(
    {
        "size": SIZE,
        "weight": WEIGHT,
        "island": RNG.choice(["Biscoe", "Dream"], 60),
        "species": np.where(SIZE + WEIGHT / 100 > 0, "Adelie", "Gentoo"),
    }
)
KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.fixture(params=KINDS)
def of_kind(request):
    return KINDS[request.param]


@pytest.fixture
def file(tmp_path):
    PEAKS.to_parquet(tmp_path / "peaks.parquet")
    return tmp_path / "peaks.parquet"


def test_a_frame_is_trained_on_as_its_file_is(of_kind, file):
    frame, said = of_kind(PEAKS), []
    trained = rb.train(frame, target="species", scale=True, log=said.append)
    other = rb.train(file, target="species", scale=True)
    assert trained.model[-1].coef_.tobytes() == other.model[-1].coef_.tobytes()
    assert said == ["the data frame: a table in memory; target 'species'; 2 numbers, 1 category column"]
    assert rb.evaluate(trained.model, frame).accuracy == rb.evaluate(other.model, file).accuracy > 0.9
    assert rb.evaluate(trained.model, frame, target="species").accuracy > 0.9
    X, y, names = rb.read_table(frame, target="species")
    assert names == rb.read_table(file, target="species").names
    assert (X != rb.read_table(file, target="species").X).nnz == 0
    assert y.tolist() == PEAKS["species"].tolist()
    found, expected = (rb.evaluate_folds("averaged", each, target="species", scale=True) for each in (frame, file))
    assert str(found) == str(expected)
    told = [io.BytesIO(), io.BytesIO()]
    for data, stream in zip((frame, file), told, strict=True):
        rb.predict_file(trained.model, data, stream)
    assert told[0].getvalue() == told[1].getvalue()


def test_a_pipeline_that_encodes_tables_is_cross_validated(of_kind):
    pipeline = make_pipeline(rb.TableEncoder(scale=True), rb.Perceptron(average=True))
    X, y = PEAKS.drop(columns="species"), PEAKS["species"]
    found = rb.evaluate_folds(pipeline, of_kind(X), y, folds=4)
    assert found.learner == "Perceptron"
    assert found.total.n_rows == 60
    assert found.total.accuracy > 0.9
    assert not hasattr(pipeline[-1], "coef_")
    # The same folds by hand: the encoder learns from the rows that are trained on.
    from rosenblatt.tasks.evaluating import deal

    fold = deal(np.unique(y, return_inverse=True)[1], 4, seed=0)
    for k, each in enumerate(found.folds):
        model = make_pipeline(rb.TableEncoder(scale=True), rb.Perceptron(average=True))
        model.fit(X[fold != k], y[fold != k])
        assert each.accuracy == (model.predict(X[fold == k]) == y[fold == k]).mean()
    again = rb.evaluate_folds(pipeline, of_kind(X), y, folds=4, n_jobs=2)
    assert str(again) == str(found)


def test_other_tables_in_memory_are_cross_validated():
    mail = ["win a prize", "home at six", "free prize", "see you at home", "a prize for you", "at six then"]
    labels = ["spam", "ham"] * 3
    pipeline = make_pipeline(rb.TableEncoder(bits=8), rb.Perceptron(max_iter=20))
    texts = rb.evaluate_folds(pipeline, mail, labels, folds=3)
    assert texts.total.n_rows == 6
    mappings = [{"n": 0.1 * k, "kind": "ab"[k % 2]} for k in range(6)]
    assert rb.evaluate_folds(pipeline, mappings, labels, folds=3).total.accuracy == 1.0
    with pytest.raises(ParameterError, match="The learner is a pipeline"):
        rb.evaluate_folds(pipeline, mail, labels, scale=True)


@pytest.mark.parametrize("data", [np.zeros((3, 2)), 5, [[0.0, 1.0]], PEAKS["species"], {"species": ["a", "b"]}])
def test_what_is_neither_a_place_nor_a_frame(data):
    with pytest.raises(ParameterError, match=r"must name files or be a data frame.*Perceptron\(\)\.fit\(X, y\)"):
        rb.train(data)


def test_a_list_of_mappings_is_a_table():
    rows = PEAKS.to_dict("records")
    found, twin = rb.train(rows, target="species"), rb.train(PEAKS, target="species")
    assert (found.model[-1].coef_ == twin.model[-1].coef_).all()
    assert rb.evaluate(found.model, rows).accuracy == rb.evaluate(twin.model, PEAKS).accuracy
    assert rb.open_data(rows, target="species").names == rb.open_data(PEAKS, target="species").names


def test_the_result_names_the_target():
    result = rb.train(PEAKS, target="species")
    assert result.summary.target == result.summary.to_json()["target"] == "species"
    for text in (str(result), str(result.summary), result.summary.details()):
        assert ", target 'species', 2 classes (" in text.splitlines()[0]
    for page in (result._repr_html_(), result.summary._repr_html_()):
        assert "target &#x27;species&#x27;, 2 classes" in page


def test_labels_are_no_learner_and_a_result_is_no_model():
    with pytest.raises(ParameterError, match=r"learner is of type Series, .*Labels are a column of the data"):
        rb.train(PEAKS, PEAKS["species"])
    with pytest.raises(ParameterError, match="learner is the class Perceptron, but must be the name of a learner"):
        rb.train(PEAKS, rb.Perceptron)
    result = rb.train(PEAKS, target="species", scale=True)
    with pytest.raises(ParameterError, match=r"model is a TrainingResult, .*the model of a TrainingResult"):
        rb.evaluate(result, PEAKS)
    assert rb.evaluate(result.model, PEAKS).n_rows == len(PEAKS)


def test_what_a_frame_has_not(tmp_path):
    with pytest.raises(
        ParameterError, match="header=True is an option of reading files, but the data is a data frame"
    ):
        rb.train(PEAKS, target="species", header=True)
    with pytest.raises(ParameterError, match="must be passed alone"):
        rb.train([PEAKS, PEAKS], target="species")
    with pytest.raises(FormatError, match=r"the data frame: .*no column 'specie' .did you mean 'species'"):
        rb.train(PEAKS, target="specie")
    with pytest.raises(ParameterError, match="missing='guess'"):
        rb.train(PEAKS, target="species", missing="guess")
    (tmp_path / "two.svm").write_text("1 1:1\n-1 2:1\n")
    rb.train(tmp_path / "two.svm").save(tmp_path / "two.model")
    with pytest.raises(InputError, match="trained on sparse rows"):
        rb.evaluate(tmp_path / "two.model", PEAKS)


def test_missing_values_and_dates_of_a_frame():
    frame = PEAKS.assign(day=[datetime.date(2024, 1, 1 + k % 28) for k in range(60)])
    frame.loc[3, "size"] = None
    with pytest.raises(FormatError, match="the data frame:4:1: 'size' is missing"):
        rb.train(frame, target="species", missing="error")
    said = []
    trained = rb.train(frame, target="species", missing="mean", scale=True, log=said.append)
    assert trained.summary.n_rows == 60
    assert any("dates became numbers: 'day' (days, weekday)" in line for line in said)
    strict = rb.train(frame, target="species", missing="error", skip_bad=True, scale=True)
    assert strict.summary.n_rows == 59
