"""The encoder of tables: the same features from files and from frames, as scikit-learn expects a transformer."""

import datetime
import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.exceptions import FormatError, InputError, ParameterError, ShapeError
from rosenblatt.tables.collect import collect, measure, transform_blocks
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from rosenblatt.tables.scaling import Transformation
from tests.shared.examples import examples

THINGS = pd.DataFrame(
    {
        "size": [1.5, 2.5, 0.5, 0.25],
        "colour": ["red", "green", "red", "brown"],
        "zip": ["0815", "4711", "0815", "99"],
        "note": ["Win a prize", "see you", "free prize for you", "home"],
        "heavy": [True, True, False, False],
    }
)


def plain(X):
    return X.toarray() if issparse(X) else np.asarray(X)


def from_file(path, scale=False, **options):
    """Return features of a file as training sees them, and as prediction does."""
    source = open_source([str(path)], Options(**options))
    blocks = collect(source, memory=2**40, cache="no")
    fill = options.get("missing") == "mean"
    numbers = source.recipe.n_numbers
    done = Transformation()
    if fill or scale:
        done = Transformation.of(measure(blocks), fill=fill, scale=scale, numbers=numbers)
    trained = plain(transform_blocks(blocks, *done).whole.native())
    again = open_source([str(path)], Options(labelled=False), source.recipe)
    predicted = np.concatenate([plain(done.features(chunk).native()) for chunk in again.chunks()])
    np.testing.assert_array_equal(trained, predicted)
    return trained


NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.integers(-1000, 1000).map(float), st.none())
NAMES = st.sampled_from(["red", "green", "Ärger", "a b", "new york"])
TEXTS = st.text(st.sampled_from("abc XYZ ä!,;'"), max_size=20).map(lambda text: f"w {text}")


@st.composite
def tables(draw):
    n = draw(st.integers(1, 12))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    return pd.DataFrame(
        {
            # A column without any value is left out of a file.
            "a": np.array([1.5, *(np.nan if each is None else each for each in column(NUMBERS)[1:])]),
            "name": column(NAMES),
            "b": [0.5, *column(NUMBERS.filter(lambda each: each is not None))[1:]],
            "code": column(st.sampled_from(["x1", "y2", "z3"])),
            "words": column(TEXTS),
            "target": column(st.sampled_from(["yes", "no"])),
        }
    )


@given(tables(), st.sampled_from(["zero", "mean"]), st.booleans(), st.sampled_from(["all", "numbers", "names"]))
@settings(max_examples=examples(40))
def test_the_same_bits_as_from_a_file(tmp_path, frame, missing, scale, which):
    ignore = {"all": (), "numbers": ("name", "code", "words"), "names": ("words", "code")}[which]
    roles = (
        {"text": ("words",), "hashed": ("code",), "bits": 6, "ngrams": 2, "weighting": "count"}
        if which == "all"
        else {}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = from_file(
        tmp_path / "t.csv", scale=scale, target="target", missing=missing, ignore=ignore, header=True, **roles
    )
    encoder = rb.TableEncoder(missing=missing, scale=scale, ignore=ignore, **roles)
    X = frame.drop(columns="target")
    for each in (X, pl.from_pandas(X), pa.Table.from_pandas(X), X[["words", *X.columns[:-1]]]):
        if each is X or which != "names":  # the order of columns is the order in which categories are met
            found = encoder.fit_transform(each)
            if list(getattr(each, "columns", X.columns)) == list(X.columns):
                assert plain(found).tobytes() == expected.tobytes()
        encoder.fit(X)
        assert plain(encoder.transform(each)).tobytes() == expected.tobytes()
    files = rb.TableEncoder(missing=missing, scale=scale, ignore=ignore, **roles)
    files.fit_files(tmp_path / "t.csv", target="target", header=True)
    assert plain(files.transform(X)).tobytes() == expected.tobytes()


@pytest.mark.slow
def test_many_rows_have_the_statistics_of_a_file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60_000, 40)) * 100).round(4).rename(columns="c{}".format)
    frame.iloc[::7, 3] = np.nan
    frame["target"] = np.where(frame["c0"] > 0, "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = from_file(tmp_path / "t.csv", scale=True, missing="mean")
    found = rb.TableEncoder(missing="mean", scale=True).fit_transform(frame.drop(columns="target"))
    assert found.tobytes() == expected.tobytes()


def test_every_kind_of_table_gives_the_same():
    encoder = rb.TableEncoder(text=["note"], hashed=["zip"], bits=5)
    expected = plain(encoder.fit_transform(THINGS))
    assert expected.shape == (4, 2 + 32 + 32 + 3)
    rows = THINGS.to_dict("records")
    for table in (
        pl.from_pandas(THINGS),
        pa.Table.from_pandas(THINGS),
        rows,
        THINGS.assign(colour=THINGS["colour"].astype("category")),
        THINGS.convert_dtypes(),
        THINGS.astype({"colour": object, "note": object}),
        THINGS.set_index("size", drop=False),
    ):
        np.testing.assert_array_equal(plain(encoder.fit_transform(table)), expected)
    mixed = THINGS.to_numpy().tolist()
    by_position = rb.TableEncoder(text=[3], hashed=[-3], bits=5).fit(mixed)
    found = plain(by_position.transform(mixed))
    np.testing.assert_array_equal(found, plain(by_position.transform(THINGS.to_numpy())))
    assert found.sum() == expected.sum()
    assert by_position.get_feature_names_out()[0] == "x1"
    assert by_position.n_features_in_ == 5


@pytest.mark.parametrize(
    "texts",
    [
        ["win a prize", "see you", "win"],
        np.array(["win a prize", "see you", "win"]),
        np.array(["win a prize", "see you", "win"], dtype=object),
        pd.Series(["win a prize", "see you", "win"]),
        pl.Series(["win a prize", "see you", "win"]),
        pa.array(["win a prize", "see you", "win"]),
        ("win a prize", "see you", "win"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_lists_of_texts(texts):
    encoder = rb.TableEncoder(bits=4, vocabulary=True, weighting="count").fit(texts)
    X = encoder.transform(texts).toarray()
    assert X.sum(axis=1).tolist() == [3, 2, 1]
    assert "x1=win" in [name.split("|")[0] for name in encoder.get_feature_names_out()]
    assert rb.TableEncoder(bits=4).fit_transform(["", None, "a"]).toarray().sum(axis=1).tolist() == [0, 0, 1]
    names = rb.TableEncoder(categorical=[0]).fit(texts)
    assert names.get_feature_names_out().tolist() == ["x1=win a prize", "x1=see you", "x1=win"]


def test_columns_are_found_by_name_and_others_ignored():
    encoder = rb.TableEncoder(ignore=["note", "zip"]).fit(THINGS)
    expected = encoder.transform(THINGS).toarray()
    shuffled = THINGS[["colour", "heavy", "size"]].assign(more=["what", "ever", "else", "?"])
    np.testing.assert_array_equal(encoder.transform(shuffled).toarray(), expected)
    with pytest.raises(
        FormatError, match=r"^X: there is no column 'colour' \(did you mean 'color'\?\); the columns are"
    ):
        encoder.transform(THINGS.rename(columns={"colour": "color"}))
    with pytest.raises(FormatError, match="there is no column 'size'"):
        encoder.transform([{"colour": "red", "heavy": True}])
    assert encoder.feature_names_in_.tolist() == list(THINGS)
    assert encoder.n_features_in_ == 5


def test_unseen_categories_and_missing_values():
    encoder = rb.TableEncoder(missing="zero").fit(THINGS[["size", "colour"]])
    row = encoder.transform([{"size": None, "colour": "violet"}, {"colour": "red"}]).toarray()
    assert row.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0]]
    means = rb.TableEncoder(missing="mean").fit(THINGS[["size", "colour"]])
    assert means.transform([{"colour": None}]).toarray().tolist() == [[1.1875, 0, 0, 0]]
    assert rb.TableEncoder(missing="mean").fit_transform([[1.0], [np.nan], [3.0]]).tolist() == [[1], [2], [3]]


def test_errors_name_row_column_and_parameter():
    encoder = rb.TableEncoder(missing="error").fit(THINGS)
    broken = THINGS.copy()
    broken.loc[2, "size"] = np.nan
    with pytest.raises(FormatError) as caught:
        encoder.transform(broken)
    assert str(caught.value) == (
        "X, row 2, column 'size': 'size' is missing; fill it in (NaN is no number), or use missing='zero' or "
        "missing='mean'."
    )
    broken = THINGS.copy()
    broken.loc[1, "colour"] = None
    names = rb.TableEncoder(ignore=["size", "zip", "note", "heavy"]).fit(broken).get_feature_names_out()
    assert names.tolist() == ["colour=red", "colour is missing", "colour=brown"]
    with pytest.raises(FormatError, match=r"column 'when' holds values of type time64.*ignore=\['when'\], or"):
        rb.TableEncoder().fit(THINGS.assign(when=datetime.time(12, 30)))
    with pytest.raises(FormatError, match=r"row 0, column 'id'.*beyond 2\^53.*ignore=\['id'\].*hashed=\['id'\]"):
        rb.TableEncoder().fit(pd.DataFrame({"id": [2**60 + 1, 3]}))
    many = pd.DataFrame({"name": [f"n{k}" for k in range(1001)]})
    assert rb.TableEncoder().fit(many).transform(many).shape == (1001, 1001)
    with pytest.raises(ValueError, match="column 'mixed' holds bytes, int"):
        rb.TableEncoder().fit([{"mixed": 1}, {"mixed": b"a"}])
    with pytest.raises(FormatError, match="row 1, column 'a': 'a' is inf"):
        rb.TableEncoder().fit(pd.DataFrame({"a": [1.0, np.inf]}))


@pytest.mark.parametrize(
    "parameters, problem",
    [
        ({"text": "note"}, r"text='note' must be a list of columns"),
        ({"text": [1.5]}, "names of columns, or positions"),
        ({"text": ["notes"]}, r"text: there is no column 'notes' \(did you mean 'note'"),
        ({"hashed": [5]}, "hashed: there is no column 5; positions run from 0 to 4, or from -1 backwards"),
        ({"text": ["zip"], "hashed": [2]}, "is in text and in hashed; choose one"),
        ({"ignore": [0, 1, 2, 3, 4]}, "no column is left: ignore names all of them"),
        ({"missing": "guess"}, "missing='guess' is not one of"),
        ({"bits": 29}, "bits=29 must be at most 28"),
        ({"ngrams": 0}, "ngrams=0 must be"),
        ({"scale": "yes"}, "scale='yes' must be True or False"),
        ({"vocabulary": 2}, "vocabulary=2"),
    ],
)
def test_parameters_that_make_no_sense(parameters, problem):
    with pytest.raises(InputError, match=problem):
        rb.TableEncoder(**parameters).fit(THINGS)


def test_what_is_no_table():
    encoder = rb.TableEncoder().fit(THINGS)
    with pytest.raises(ShapeError, match="a list of texts, which is one column, but 5 are read"):
        encoder.transform(["one"])
    with pytest.raises(InputError, match=r"Pass a list of texts, \[X\]"):
        encoder.transform("one")
    with pytest.raises(InputError, match="X is sparse, but the encoder reads a table"):
        encoder.transform(csr_array(np.eye(5)))
    with pytest.raises(ShapeError, match="0 sample"):
        encoder.transform(THINGS.iloc[:0])
    with pytest.raises(InputError, match="row 1: it is 3, but must be a mapping"):
        encoder.transform([{"size": 1}, 3])
    with pytest.raises(ShapeError, match="minimum of 1"):
        encoder.transform([{}])
    with pytest.raises(NotFittedError, match="Call fit or partial_fit first"):
        rb.TableEncoder().transform(THINGS)
    with pytest.raises(AttributeError, match="before it is trained"):
        _ = rb.TableEncoder().n_features_in_
    with pytest.raises(InputError, match="collect"):
        encoder.transform(pl.from_pandas(THINGS).lazy())


def test_the_weights_of_words_stay_in_partial_fit():
    texts = ["win a prize", "see you at home", "a free prize"]
    encoder = rb.TableEncoder(bits=10).fit(texts)
    before = encoder.transform(texts).toarray()
    encoder.partial_fit(["a prize", "a home"] * 20)
    assert (encoder.transform(texts).toarray() == before).all()


def test_partial_fit_accumulates():
    whole = rb.TableEncoder(missing="mean", scale=True, vocabulary=True, text=["note"], bits=4)
    whole = whole.set_params(weighting="count").fit(THINGS)
    parts = clone(whole)
    for part in (THINGS[:1], THINGS[1:3].iloc[:, ::-1], THINGS[3:]):
        parts.partial_fit(part)
    assert parts.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    assert parts.encoding_.statistics.n_rows == 4
    np.testing.assert_allclose(parts.transform(THINGS).toarray(), whole.transform(THINGS).toarray(), rtol=1e-12)
    before = parts.encoding_
    with pytest.raises(FormatError):
        parts.partial_fit(THINGS.drop(columns="size"))
    assert parts.encoding_ is before
    chosen = rb.TableEncoder(categorical=["name"]).fit(pd.DataFrame({"name": ["a", "b"]}))
    many = pd.DataFrame({"name": [f"n{k}" for k in range(1500)]})
    assert chosen.partial_fit(many).transform(many).shape == (1500, 1502)
    assert rb.TableEncoder().fit(many[:900]).partial_fit(many[900:]).transform(many).shape == (1500, 1500)


def test_numbers_stay_numbers():
    X = np.arange(6.0).reshape(3, 2)
    encoder = rb.TableEncoder().fit(X)
    found = encoder.transform(X)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, X)
    found[:] = 7  # a copy, to be written to
    assert X[0, 0] == 0
    assert rb.TableEncoder().fit_transform(X.astype(np.float32)).dtype == np.float32
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b"])
    assert rb.TableEncoder().fit_transform(frame).dtype == np.float32
    assert rb.TableEncoder().fit_transform(pd.DataFrame(X)).tolist() == X.tolist()  # columns named by numbers
    Z = rb.TableEncoder(scale=True).fit_transform(X)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) / X.std(axis=0))


def test_integers_of_an_array_as_categories():
    encoder = rb.TableEncoder(categorical=[1]).fit(np.array([[1, 10], [2, 20]]))
    assert encoder.get_feature_names_out().tolist() == ["x1", "x2=10", "x2=20"]


def test_sparse_rows():
    X = csr_array(np.array([[0.0, 2.0], [4.0, 0.0], [0.0, 6.0]]))
    encoder = rb.TableEncoder(scale=True).fit(X)
    np.testing.assert_allclose(encoder.transform(X).toarray(), X.toarray() / X.toarray().std(axis=0))
    assert encoder.get_feature_names_out().tolist() == ["x1", "x2"]
    same = rb.TableEncoder().fit_transform(X)
    same.data[:] = 7
    assert X.data.max() == 6
    gaps = X.copy()
    gaps.data[0] = np.nan
    with pytest.raises(InputError, match="NaN"):
        rb.TableEncoder().fit(gaps)
    assert rb.TableEncoder(missing="zero").fit_transform(gaps).toarray()[0].tolist() == [0, 0]
    assert rb.TableEncoder(missing="mean").fit_transform(gaps).toarray()[0].tolist() == [0, 3]
    with pytest.raises(ParameterError, match="names columns of a table, but X is sparse"):
        rb.TableEncoder(text=[0]).fit(X)
    with pytest.raises(ShapeError, match="expecting 2 features"):
        encoder.transform(csr_array(np.eye(3)))
    with pytest.raises(InputError, match="fitted on sparse rows"):
        encoder.partial_fit(X.toarray())
    with pytest.raises(ShapeError, match="unlike the data before"):
        encoder.partial_fit(csr_array(np.eye(3)))
    assert encoder.partial_fit(X).encoding_.statistics.n_rows == 6


def test_set_output_names_and_copies():
    numbers = THINGS[["size", "heavy"]]
    for kind, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        found = rb.TableEncoder().set_output(transform=kind).fit_transform(numbers)
        assert isinstance(found, frame)
        assert list(found.columns) == ["size", "heavy"]
    encoder = rb.TableEncoder(text=["note"], bits=3).fit(THINGS)
    for kind in ("pandas", "polars"):  # dense, although there are categories and words
        found = clone(encoder).set_output(transform=kind).fit_transform(THINGS)
        assert list(found.columns) == encoder.get_feature_names_out().tolist()
        assert found.to_numpy().tobytes() == encoder.transform(THINGS).toarray().tobytes()
    with config_context(transform_output="pandas"):
        assert isinstance(encoder.transform(THINGS), pd.DataFrame)
    again = pickle.load(io.BytesIO(pickle.dumps(encoder)))
    assert again.transform(THINGS).toarray().tobytes() == encoder.transform(THINGS).toarray().tobytes()
    assert len(encoder.get_feature_names_out()) == encoder.transform(THINGS).shape[1]
    with pytest.raises(InputError, match="feature_names_in_"):
        encoder.get_feature_names_out(list("abcde"))
    with pytest.raises(ShapeError, match="number of features"):
        encoder.get_feature_names_out(["a"])
    unnamed = rb.TableEncoder().fit(THINGS[["size", "colour"]].to_numpy())
    assert unnamed.get_feature_names_out(["s", "c"]).tolist()[:2] == ["s", "c=red"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_in_a_pipeline_with_grids_and_folds():
    rng = np.random.default_rng(1)
    words = np.array(["free", "prize", "win", "home", "mum", "dinner"])
    y = np.where(np.arange(60) % 2, "spam", "ham")
    mail = [" ".join(rng.choice(words[:4] if label == "spam" else words[2:], 6)) for label in y]
    frame = pd.DataFrame({"mail": mail, "length": [len(each) for each in mail]})
    model = make_pipeline(rb.TableEncoder(text=["mail"], bits=8, scale=True), rb.Perceptron(average=True))
    assert cross_val_score(model, frame, y, cv=3).mean() > 0.8
    grid = GridSearchCV(model, {"tableencoder__bits": [2, 8], "tableencoder__ngrams": [1, 2]}, cv=3).fit(frame, y)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()
    assert cross_val_score(make_pipeline(rb.TableEncoder(bits=8), rb.Perceptron()), mail, y, cv=3).mean() > 0.8


def test_fit_files_takes_options_of_reading_alone(tmp_path):
    THINGS.assign(kind=["a", "b", "a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ParameterError, match="bits is a parameter of the encoder"):
        rb.TableEncoder().fit_files(tmp_path / "t.csv", bits=3)
    encoder = rb.TableEncoder(text=[3], hashed=["zip"], bits=3).fit_files(tmp_path / "t.csv", target="kind")
    expected = rb.TableEncoder(text=["note"], hashed=["zip"], bits=3).fit(THINGS)
    assert encoder.feature_names_in_.tolist() == list(THINGS)
    assert encoder.transform(THINGS).toarray().tolist() == expected.transform(THINGS).toarray().tolist()


def test_dense_output_is_the_same_numbers(tmp_path):
    sparse, dense = (rb.TableEncoder(sparse_output=each).fit(THINGS) for each in (True, False))
    found = dense.transform(THINGS)
    assert isinstance(found, np.ndarray)
    assert found.tobytes() == sparse.transform(THINGS).toarray().tobytes()
    assert rb.TableEncoder(sparse_output=False).fit_transform(THINGS).tobytes() == found.tobytes()
    with pytest.raises(ParameterError, match="sparse_output"):
        rb.TableEncoder(sparse_output="no").fit(THINGS)
    pipeline = make_pipeline(dense, rb.Perceptron()).fit(THINGS, [0, 1, 0, 1])
    rb.save(pipeline, tmp_path / "m")
    again = rb.load(tmp_path / "m")
    assert again[0].sparse_output is False
    assert again.decision_function(THINGS).tobytes() == pipeline.decision_function(THINGS).tobytes()


def test_too_many_features_for_an_array_are_refused():
    encoder = rb.TableEncoder(text=["note"], bits=22, sparse_output=False)
    with pytest.raises(InputError, match=r"features as an array would take.*sparse_output=True"):
        encoder.fit_transform(pd.concat([THINGS] * 10_000))


def test_names_reach_the_learner_through_a_frame(tmp_path):
    labels = ["a", "b", "a", "b"]
    pipeline = make_pipeline(rb.TableEncoder(ignore=["note"]), rb.Perceptron()).set_output(transform="pandas")
    pipeline.fit(THINGS, labels)
    assert pipeline[-1].feature_names_in_.tolist() == pipeline[0].get_feature_names_out().tolist()
    rb.save(pipeline, tmp_path / "m")
    assert rb.load(tmp_path / "m").predict(THINGS).tolist() == pipeline.predict(THINGS).tolist()
    found = rb.explain(pipeline, THINGS)
    assert [each.score for each in found] == pipeline.decision_function(THINGS).tolist()
    assert set(found[0].names) <= set(pipeline[-1].feature_names_in_)


def test_the_means_of_a_trained_file_stay_in_partial_fit(tmp_path):
    """The command line keeps no count of rows, so that more rows add categories and leave the means."""
    rows = ["size,place,label", "1,a,x", "3,b,y", ",a,x", "2,b,y"]
    (tmp_path / "rows.csv").write_text("\n".join(rows), encoding="utf-8")
    rb.train(tmp_path / "rows.csv", scale=False).save(tmp_path / "m")
    encoder = rb.load(tmp_path / "m")[0]
    before, width = encoder.encoding_.filling.means.copy(), encoder.encoding_.n_outputs
    encoder.partial_fit([{"size": 100.0, "place": "c"}])
    assert encoder.encoding_.filling.means.tolist() == before.tolist()
    assert encoder.encoding_.n_outputs == width + 1
    assert encoder.transform([{"size": None, "place": "c"}])[0, 0] == 2.0
