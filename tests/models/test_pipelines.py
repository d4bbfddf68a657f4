"""Whole models: pipelines are saved and loaded, and serve in Python and on the command line alike."""

import json
import random
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.codecs import Tensors, read_container
from rosenblatt.exceptions import InputError, ModelFileError, ParameterError
from rosenblatt.models import OpenedModel
from tests.golden.trained.make import FOLDER, MODEL, PREDICTED, TRAINED
from tests.models.models import NOISY, THREE, TWO, X
from tests.models.mutations import changed_document, changed_tensors
from tests.models.test_refusals import put
from tests.shared.strategies import quietly

THINGS = pd.DataFrame(
    {
        "size": [1.5, 2.5, 0.5, 0.25, 3.0, 0.75],
        "colour": ["red", "green", "red", "brown", "brown", "green"],
        "zip": ["0815", "4711", "0815", "99", "4711", "99"],
        "note": ["win a prize", "see you", "free prize", "home", "win win", "at home"],
        "heavy": [True, True, False, False, True, True],
    }
)
KIND = np.array(["apple", "apple", "coin", "coin", "apple", "coin"])
GAPS = THINGS.assign(size=[1.5, np.nan, 0.5, 0.25, 3.0, np.nan])
ROLES = {"text": ["note"], "hashed": ("zip",), "bits": 4}


NAMED = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
NOTES = list(THINGS["note"])
MORE = StandardScaler(), rb.MonomialMap(2), StandardScaler(), rb.KernelPerceptron("rbf")
UNFITTED = {
    "encoder": ((rb.TableEncoder(**ROLES), rb.Perceptron()), THINGS, KIND),
    "filled": ((rb.TableEncoder(missing="mean", **ROLES), rb.Perceptron()), GAPS, KIND),
    "scaled": (
        (rb.TableEncoder(scale=True, missing="zero", **ROLES), rb.VotedPerceptron(max_iter=3)),
        GAPS,
        KIND,
    ),
    "words": ((rb.TableEncoder(vocabulary=True, bits=4), rb.Perceptron()), NOTES, KIND),
    "rows": ((rb.TableEncoder(categorical=[1]), rb.Perceptron()), X[:, :3].round(), TWO),
    "sparse": ((rb.TableEncoder(scale=True, missing="zero"), rb.Perceptron()), csr_array(X), TWO),
    "sparse-only": ((rb.TableEncoder(), rb.Perceptron()), csr_array(X), TWO),
    "standard": ((StandardScaler(), rb.Perceptron()), X, TWO),
    "standard-named": ((StandardScaler(), rb.Perceptron()), NAMED, TWO),
    "standard-single": ((StandardScaler(), rb.Perceptron()), X.astype(np.float32), THREE),
    "no-mean-sparse": ((StandardScaler(with_mean=False), rb.Perceptron()), csr_array(X), THREE),
    "no-std": ((StandardScaler(with_std=False), rb.Perceptron()), X, TWO),
    "neither": ((StandardScaler(with_mean=False, with_std=False), rb.Perceptron()), X, TWO),
    "monomials": ((rb.MonomialMap(2), rb.Perceptron()), X[:, :3], NOISY),
    "monomials-named": ((rb.MonomialMap(2, 0.5), rb.Perceptron()), NAMED, NOISY),
    "monomials-sparse": ((rb.MonomialMap(2), rb.Perceptron()), csr_array(X[:, :3]), NOISY),
    "hierarchy": ((rb.VisualHierarchy((6, 5, 4)), rb.Perceptron()), X, TWO),
    "hierarchy-named": ((rb.VisualHierarchy((6, 5, 4)), rb.Perceptron()), NAMED, TWO),
    "all": ((rb.TableEncoder(), *MORE), NAMED, THREE),
    "network": ((StandardScaler(), rb.MultilayerPerceptron(hidden_layer_sizes=(3,), max_iter=3)), X, TWO),
    "unit": ((Normalizer(), rb.Perceptron()), X, TWO),
    "unit-single": ((Normalizer(), rb.Perceptron()), X.astype(np.float32), THREE),
    "unit-sparse": ((rb.TableEncoder(), Normalizer(), rb.Perceptron()), csr_array(X), THREE),
    "skipped": (("passthrough", StandardScaler(), rb.Perceptron()), X, TWO),
}


@pytest.fixture(scope="module")
def models():
    return {
        name: (quietly(make_pipeline(*clone(list(steps), safe=False)).fit, table, y), table)
        for name, (steps, table, y) in UNFITTED.items()
    }


def scores(model, table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.predict(table).tolist(), model.decision_function(table).tobytes()


@pytest.mark.parametrize("name", UNFITTED)
def test_a_pipeline_is_the_same_after_a_file(name, models, tmp_path):
    model, table = models[name]
    rb.save(model, tmp_path / "m", provenance={"created": "then"})
    loaded = rb.load(tmp_path / "m")
    assert scores(loaded, table) == scores(model, table)
    kept = [step for step in model.steps if step[1] != "passthrough"]
    assert [type(step) for _, step in loaded.steps] == [type(step) for _, step in kept]
    for (_, one), (_, other) in zip(loaded.steps, kept, strict=True):
        assert repr(one.get_params()) == repr(other.get_params())
    rb.save(loaded, tmp_path / "again", provenance={"created": "then"})
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    opened = OpenedModel.open(tmp_path / "m")
    assert opened.predict(table).tolist() == model.predict(table).tolist()
    assert opened.decision(table).tobytes() == model.decision_function(table).tobytes()


def test_a_normalizer_keeps_the_names_of_a_frame(tmp_path):
    model = quietly(make_pipeline(StandardScaler(), Normalizer(), rb.Perceptron()).fit, NAMED, TWO)
    rb.save(model, tmp_path / "m")
    loaded = rb.load(tmp_path / "m")
    assert [name for name, _ in loaded.steps] == ["scaler", "normalizer", "learner"]
    assert scores(loaded, NAMED) == scores(model, NAMED)
    opened = OpenedModel.open(tmp_path / "m")
    np.testing.assert_allclose(opened.decision(NAMED), model.decision_function(NAMED), rtol=1e-13)
    with pytest.raises(InputError):
        opened.predict(NAMED[["b", "a", "c"]])


def test_steps_are_named(models, tmp_path):
    rb.save(models["all"][0], tmp_path / "m")
    loaded = rb.load(tmp_path / "m")
    assert [name for name, _ in loaded.steps] == ["encoder", "scaler", "monomials", "scaler2", "learner"]
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    rb.save(make_pipeline(rb.Perceptron()).fit(X, TWO), tmp_path / "m")
    assert isinstance(rb.load(tmp_path / "m"), rb.Perceptron)


def test_a_loaded_encoder_goes_on(models, tmp_path):
    for name in ("encoder", "filled", "scaled", "words"):
        model, table = models[name]
        rb.save(model, tmp_path / "m")
        one, other = rb.load(tmp_path / "m")[0], clone(model[0]).fit(table)
        more = ["new words"] if name == "words" else THINGS.assign(colour="blue")
        for each in (one, other):
            each.partial_fit(more)
        assert one.transform(table).toarray().tobytes() == other.transform(table).toarray().tobytes()
        assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "steps, named",
    [
        ([("small", MinMaxScaler())], "its step 'small' is MinMaxScaler"),
        ([("scale", StandardScaler()), ("table", rb.TableEncoder())], "its step 'table' is TableEncoder"),
        ([("unit", Normalizer("l1"))], "its step 'unit' is Normalizer"),
        ([("inner", make_pipeline(StandardScaler()))], "its step 'inner' is Pipeline"),
        ([("mine", type("StandardScaler", (StandardScaler,), {})())], "its step 'mine'"),
    ],
)
def test_steps_that_no_file_holds(steps, named, tmp_path):
    model = Pipeline([*steps, ("learner", rb.Perceptron())]).fit(X, TWO)
    with pytest.raises(ParameterError, match=named):
        rb.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_learners_that_have_no_place_in_a_pipeline(tmp_path):
    with pytest.raises(ParameterError, match="cannot be saved"):
        rb.save(make_pipeline(StandardScaler(), MinMaxScaler()).fit(X), tmp_path / "m")
    with pytest.raises(NotFittedError):
        rb.save(make_pipeline(StandardScaler(), rb.Perceptron()), tmp_path / "m")
    with pytest.raises(NotFittedError):
        rb.save(Pipeline([("a", StandardScaler().fit(X)), ("b", rb.Perceptron())]), tmp_path / "m")
    filtered = Pipeline([("a", StandardScaler().fit(X)), ("b", rb.AdaptiveFilter(2).fit(X[:, 0], X[:, 1]))])
    with pytest.raises(ParameterError, match="reads signals"):
        rb.save(filtered, tmp_path / "m")


# --- the command line and Python


def predicted(path, *arguments):
    out = Path("out.tsv")
    assert main(["predict", str(path), *map(str, arguments), "--scores", "-o", str(out), "-q"]) == 0
    return out.read_text()


def as_lines(model, table):
    labels, decision = model.predict(table).tolist(), model.decision_function(table).tolist()
    return "label\tscore\n" + "".join(f"{a}\t{b!r}\n" for a, b in zip(labels, decision, strict=True))


def written(table, path):
    if isinstance(table, list):
        table = pd.DataFrame({"x1": table})
    if isinstance(table, pd.DataFrame):
        table.to_csv(path.with_suffix(".csv"), index=False)
        return path.with_suffix(".csv")
    np.save(path.with_suffix(".npy"), table)
    return path.with_suffix(".npy")


@pytest.mark.parametrize(
    "name",
    [name for name in UNFITTED if "sparse" not in name and name not in ("standard-single", "unit-single", "all")],
)
def test_models_made_in_python_serve_on_the_command_line(name, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, table = models[name]
    rb.save(model, tmp_path / "m")
    assert predicted("m", written(table, tmp_path / "t")) == as_lines(model, table)


def test_features_are_found_by_the_names_that_the_first_step_knows(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("standard-named", "monomials-named", "hierarchy-named"):
        model, table = models[name]
        rb.save(model, "m")
        table.assign(more="text")[["more", "c", "b", "a"]].to_csv("t.csv", index=False)
        assert predicted("m", "t.csv") == as_lines(model, table)
        opened = OpenedModel.open("m")
        with pytest.raises(InputError, match="'a' and 'c'"):
            opened.predict(table[["c", "b", "a"]])
        assert opened.predict(table.to_numpy()).tolist() == model.predict(table).tolist()


@pytest.mark.parametrize("scaler", [StandardScaler(), rb.OnlineScaler()], ids=["standard", "online"])
@pytest.mark.parametrize("framed", [False, True], ids=["sparse_output", "set_output"])
def test_an_encoder_that_gives_dense_rows_gives_them_everywhere(framed, scaler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make_pipeline(rb.TableEncoder(sparse_output=framed, **ROLES), clone(scaler), rb.Perceptron())
    if framed:
        model.set_output(transform="pandas")
    quietly(model.fit, THINGS, KIND)
    wanted = model.decision_function(THINGS).tolist()
    rb.save(model, "m")
    loaded = rb.load("m")
    assert loaded[0].sparse_output is False
    assert scores(loaded, THINGS) == scores(model, THINGS)
    path = written(THINGS, tmp_path / "t")
    for each in (model, loaded, "m"):
        assert [row.score for row in rb.explain(each, THINGS)] == wanted
        assert rb.explain(each, THINGS)[0].names[:2] == ("size", "heavy")
    THINGS.assign(label=KIND).to_csv("labelled.csv", index=False)
    assert rb.evaluate("m", "labelled.csv").accuracy == model.score(THINGS, KIND)
    assert predicted("m", path) == as_lines(model, THINGS)
    rb.save(loaded, "again", provenance={"created": "then"})
    rb.save(model, "m", provenance={"created": "then"})
    assert Path("again").read_bytes() == Path("m").read_bytes()


def test_the_layout_of_an_encoder_is_stored_as_it_is_now(tmp_path):
    model = make_pipeline(rb.TableEncoder(sparse_output=False), rb.Perceptron()).fit(THINGS, KIND)
    model[0].set_params(sparse_output=True)
    rb.save(model, tmp_path / "m")
    assert rb.load(tmp_path / "m")[0].sparse_output is True
    assert rb.explain(model, THINGS)[0].names == rb.explain(tmp_path / "m", THINGS)[0].names


def test_models_made_in_python_are_evaluated_on_labelled_files(models, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model, _ = models["encoder"]
    rb.save(model, "m")
    THINGS.iloc[:, ::-1].assign(kind=KIND).to_csv("last.csv", index=False)
    THINGS.assign(label=KIND)[["label", *THINGS]].to_csv("label.csv", index=False)
    THINGS.to_csv("none.csv", index=False)
    for path in ("last.csv", "label.csv"):
        assert main(["evaluate", "m", path, "--json", "-q"]) == 0
        assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
    assert main(["evaluate", "m", "none.csv"]) == 2
    assert "no column of labels" in capsys.readouterr().err
    texts, mail = models["words"]
    rb.save(texts, "texts")
    pd.DataFrame({"label": KIND, "mail": mail}).to_csv("mail.csv", index=False)
    assert main(["evaluate", "texts", "mail.csv", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == texts.score(mail, KIND)
    assert predicted("texts", "mail.csv") == as_lines(texts, mail)
    rows, array = models["rows"]
    rb.save(rows, "rows")
    np.savez("rows.npz", X=array, y=TWO)
    assert predicted("rows", "rows.npz") == as_lines(rows, array)
    assert main(["evaluate", "rows", "rows.npz", "-q"]) == 0


@pytest.mark.parametrize("name", TRAINED)
def test_models_of_the_command_line_serve_in_python(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = FOLDER / MODEL.format(name=name)
    data = TRAINED[name][0]
    place = data if data.startswith("@") else FOLDER / data
    expected = (FOLDER / PREDICTED.format(name=name)).read_text()
    assert predicted(path, place) == expected
    model = rb.load(path)
    if name == "built-in":
        table = rb.datasets.load_six_points().X
    elif data.endswith(".svm"):
        table = csr_array([[1, 0, 2, 0], [0, 1.5, 0, 0], [2, 0, 0.5, 0], [0, 1, 0, 3.0]])
    elif name == "nameless":
        table = pd.read_csv(place, header=None)
    else:
        table = pd.read_csv(place, dtype={"zip": str})
    assert isinstance(model, Pipeline) == (name != "sparse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_lines(model, table) == expected
        if isinstance(table, pd.DataFrame) and name != "nameless":
            assert as_lines(model, pl.from_pandas(table)) == expected
            assert as_lines(model, table.iloc[:, ::-1].to_dict("records")) == expected
        if name == "text":
            assert model.predict(list(table["message"])).tolist() == model.predict(table).tolist()
    rb.save(model, tmp_path / "again")
    assert predicted("again", place, *(["--one-based"] if name == "sparse" else [])) == expected


def test_python_names_what_a_trained_model_lacks(tmp_path):
    model = rb.load(FOLDER / "categories.v1.model")
    assert model[0].feature_names_in_.tolist() == ["size", "colour", "shape", "zip", "heavy"]
    assert model.n_features_in_ == 5
    names = model[0].get_feature_names_out()
    assert len(names) == model[-1].n_features_in_ == model[-1].coef_.shape[1]
    with pytest.raises(InputError, match=r"no column 'shape' \(did you mean 'shapes'"):
        model.predict([{"size": 1, "colour": "red", "shapes": "flat", "zip": "1", "heavy": True}])
    filled = rb.load(FOLDER / "scaled.v1.model")
    with pytest.raises(InputError, match="partial_fit cannot go on"):
        filled[0].partial_fit([{"a": 1, "b": 2}])
    filled[0].fit([{"a": 1, "b": 2}, {"a": 3, "b": 1}]).partial_fit([{"a": 1, "b": 2}])


def test_a_fresh_process_predicts_without_scikit_learn(models, tmp_path):
    import subprocess
    import sys

    names = ("filled", "standard-named", "monomials-named")
    for name in names:
        model, table = models[name]
        rb.save(model, tmp_path / name)
        records = table.astype(object).where(table.notna(), None).to_dict("records")
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
    source = """
import json, sys
import numpy as np
from rosenblatt.models import OpenedModel
for path in sys.argv[1:]:
    rows = json.load(open(f"{path}.json"))
    model = OpenedModel.open(path)
    if model.recipe is None:
        rows = np.array([list(row.values()) for row in rows])
    np.save(f"{path}.npy", model.decision(rows))
heavy = {"numba", "sklearn", "scipy", "pandas", "rosenblatt.estimators"} & sys.modules.keys()
assert not heavy, heavy
"""
    subprocess.run(
        [sys.executable, "-c", source, *(str(tmp_path / name) for name in names)], check=True, timeout=600
    )
    for name in names:
        model, table = models[name]
        assert np.load(tmp_path / f"{name}.npy").tobytes() == model.decision_function(table).tobytes()


def test_reports_name_the_features_that_the_learner_sees(models, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model, table = models["monomials-named"]
    rb.save(model, "m")
    assert main(["inspect", "m", "--json"]) == 0
    weights = json.loads(capsys.readouterr().out)["weights"]
    assert {each["feature"] for each in weights} <= set(model[0].get_feature_names_out())
    table.assign(label=NOISY).to_csv("t.csv", index=False)
    assert main(["report", "m", "t.csv", "-q"]) == 0
    assert "√2 a b" in Path("report.html").read_text()
    rb.save(models["encoder"][0], "m")
    assert main(["inspect", "m"]) == 0
    assert "colour=" in capsys.readouterr().out


# --- damage


@pytest.mark.parametrize("name", UNFITTED)
def test_preparations_changed_with_care(name, models, tmp_path):
    model, table = models[name]
    rb.save(model, tmp_path / "m")
    document, tensors = read_container(tmp_path / "m")
    rng, path, refused = random.Random(name), tmp_path / "changed", 0
    for _ in range(60):
        changed = document | {"preparation": changed_document({"p": document["preparation"]}, rng).get("p")}
        put(path, changed, tensors if rng.random() < 0.5 else changed_tensors(tensors, rng))
        try:
            loaded, opened = rb.load(path), OpenedModel.open(path)
            _ = opened.predictor
        except ModelFileError:
            refused += 1
            continue
        for each in (loaded, opened):
            with warnings.catch_warnings(), suppress(rb.exceptions.RosenblattError, ValueError):
                warnings.simplefilter("ignore")
                each.predict(table)
    assert refused > 5


def damaged(path, document, tensors, why):
    put(path, document, tensors)
    with pytest.raises(ModelFileError, match=why):
        rb.load(path)
    with pytest.raises(ModelFileError, match=why):
        _ = OpenedModel.open(path).predictor


def first(document, **parts):
    (kind, step), *rest = document["preparation"]
    return document | {"preparation": [[kind, step | parts], *rest]}


def figures(document, tensors, arrays):
    """Return a file with other figures in its first step: `scaling_mean` is the array `mean` of `scaling`."""
    parts = {}
    for name in arrays:
        part, figure = name.split("_")
        parts.setdefault(part, {})[figure] = name
    return first(document, **parts), Tensors({**tensors, **arrays})


@pytest.mark.parametrize(
    "name, change, why",
    [
        ("scaled", lambda d: d | {"preparation": []}, "that its preparation does not use"),
        ("words", lambda d: d | {"preparation": d["preparation"] * 2}, "belongs to another part"),
        ("words", lambda d: first(d, parameters={"json": {"magic": 1}}), "not those of a TableEncoder"),
        ("words", lambda d: first(d, parameters=3), "not those of a TableEncoder"),
        ("words", lambda d: first(d, recipe={"kind": "sparse", "width": 17, "zero_based": True}), "of other"),
        ("words", lambda d: first(d, weighting=None), "the weights of its words contradict"),
        ("words", lambda d: first(d, filling={"means": [0.0] * 16}), "names an array that is missing"),
        ("standard", lambda d: first(d, with_std=False), "with_std and scale contradict"),
        ("monomials", lambda d: first(d, degree=3), "do not fit each other"),
        ("monomials", lambda d: first(d, n_features=2**31 - 1, degree=170), "is invalid"),
        ("hierarchy", lambda d: d | {"preparation": [["hierarchy", {}]]}, "parts it should have"),
    ],
)
def test_preparations_that_contradict(name, change, why, models, tmp_path):
    rb.save(models[name][0], tmp_path / "m")
    document, tensors = read_container(tmp_path / "m")
    damaged(tmp_path / "x", change(document), tensors, why)


@pytest.mark.parametrize(
    "arrays, why",
    [
        ({"filling_means": np.zeros(16)}, "its recipe and its means contradict"),
        ({"scaling_mean": np.ones(16), "scaling_deviation": np.ones(16)}, "centres sparse"),
        ({"scaling_mean": np.zeros(16), "scaling_deviation": np.zeros(16)}, "must be positive"),
        ({"scaling_mean": np.zeros(1), "scaling_deviation": np.ones(1)}, "of other features"),
        ({"scaling_mean": np.full(16, np.nan), "scaling_deviation": np.ones(16)}, "holds NaN"),
    ],
)
def test_figures_that_contradict(arrays, why, models, tmp_path):
    rb.save(models["words"][0], tmp_path / "m")
    document, tensors = read_container(tmp_path / "m")
    damaged(tmp_path / "x", *figures(document, tensors, arrays), why)
