"""What is no model, or cannot be one in a file, is refused with the reason and the way out."""

import json
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, QuantileTransformer, StandardScaler

import rosenblatt as rb
from rosenblatt.codecs import KEY, LARGEST_HEADER, pack_file, read_container
from rosenblatt.exceptions import ModelFileError, ParameterError
from rosenblatt.loops.rules import Dual, Variance
from rosenblatt.models import open_model
from tests.models.models import NAMES, X, answers, bits, made, survives
from tests.models.mutations import changed_bytes, changed_document, changed_tensors
from tests.shared.examples import examples
from tests.shared.strategies import quietly

CASES = examples(40)  # of each kind for each model: thousands in `make test-all`


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Give the path of any model's file, as ``files / name``."""
    return Files(tmp_path_factory.mktemp("models"))


class Files:
    """A folder of models, each trained when it is first asked for."""

    def __init__(self, folder):
        self.folder = folder

    def __truediv__(self, name):
        path = self.folder / name
        if not path.exists():
            rb.save(made(name), path)
        return path


def put(path, document, tensors):
    """Write a file without waiting for the disk."""
    path.write_bytes(pack_file(path, document, tensors))


def loaded(path):
    """Return the model of a file, or None if it is refused with its name."""
    try:
        return rb.load(path)
    except ModelFileError as error:
        if str(path) not in str(error):
            raise
        return None


def a_function(X, Y):
    return np.asarray(X @ Y.T)


@pytest.mark.parametrize(
    "parameters, way_out",
    [
        ({"callbacks": [print]}, "set_params.callbacks=None"),
        ({"random_state": np.random.default_rng(0)}, "set_params.random_state=0"),
        ({"random_state": np.random.RandomState(0)}, "set_params.random_state=0"),
        ({"order": lambda epoch: [0, 1, 2]}, "set_params.order='shuffle'"),
    ],
)
def test_what_would_have_to_be_executed(parameters, way_out, tmp_path):
    model = quietly(rb.Perceptron(max_iter=1, **parameters).fit, X, X[:, 0] > 0)
    with pytest.raises(ParameterError, match=way_out):
        rb.save(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name, value",
    [
        ("degree", "two"),
        ("degree", 2.5),
        ("degree", 0),
        ("c", None),
        ("c", -1),
        ("max_bytes", "x"),
        ("max_bytes", [1]),
    ],
)
def test_a_mistyped_parameter_of_a_monomial_map(name, value, tmp_path):
    path = tmp_path / "m"
    rb.save(rb.MonomialMap(2).fit(X), path)
    document, tensors = read_container(path)
    document["parameters"][name] = value
    put(path, document, tensors)
    with pytest.raises(ModelFileError, match=f"parameters cannot be used: {name}="):
        rb.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_that_a_constructor_takes(name, files, tmp_path):
    document, tensors = read_container(files / name)
    declared = getattr(type(rb.load(files / name)), "_declared", {})
    path, mistyped = tmp_path / "m", {"no": 1}
    for parameter in document["parameters"].keys() & declared.keys():
        check = declared[parameter].check
        try:
            if check is None or check(parameter, mistyped) is None:
                continue
        except ParameterError:
            pass
        given = document["parameters"] | {parameter: {"json": mistyped}}
        put(path, document | {"parameters": given}, dict(tensors))
        with pytest.raises(ModelFileError, match=f"parameters cannot be used: {parameter}="):
            rb.load(path)


def test_a_beam_of_a_stored_tagger_and_of_one_to_store(tmp_path):
    path = tmp_path / "m"
    tagger = rb.SequencePerceptron(templates="words", beam=2).fit([["a", "b"]], [["x", "y"]])
    rb.save(tagger, path)
    document, tensors = read_container(path)
    document["parameters"]["beam"] = [1, 2]
    put(path, document, tensors)
    with pytest.raises(ModelFileError, match="parameters cannot be used: beam="):
        rb.load(path)
    with pytest.raises(ParameterError, match="beam="):
        rb.save(tagger.set_params(beam=[1, 2]), tmp_path / "other")
    assert not (tmp_path / "other").exists()


VARIANCE = {"variance": lambda w: Variance(np.ones_like(w), 0.0)}
POWER = {"dual": lambda w: Dual(np.zeros_like(w), np.array([1.0, 0.0]), 2.0)}


@pytest.mark.parametrize("kept", [VARIANCE, POWER, {}, VARIANCE | POWER])
@pytest.mark.parametrize("learner", [rb.Perceptron, rb.ConfidenceWeightedClassifier, rb.PNormPerceptron])
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_states_keep_what_their_rule_moves_and_nothing_else(learner, kept, way, tmp_path):
    model = quietly(getattr(learner(), way), X, X[:, 0] > 0)
    fits = kept.keys() == model._state.memory.keys()
    model._state.memory = {name: make(model._state.w) for name, make in kept.items()}
    rb.save(model, tmp_path / "m")
    if fits:
        assert rb.load(tmp_path / "m").partial_fit(X, X[:, 0] > 0)
        return
    with pytest.raises(ModelFileError, match="contradict the rule of the model"):
        rb.load(tmp_path / "m")


def test_the_start_of_a_stream_keeps_what_its_rule_moves(tmp_path):
    model = rb.ConfidenceWeightedClassifier().partial_fit(X, X[:, 0] > 0)
    model._stream.start.memory = {}
    rb.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match="the values of variance contradict the rule of the model"):
        rb.load(tmp_path / "m")


def test_one_vector_keeps_no_values_of_a_rule(tmp_path):
    model = quietly(rb.PassiveAggressiveRegressor().fit, X, X[:, 0])
    model._state.memory = {"variance": Variance(np.ones_like(model._state.w), 0.0)}
    rb.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match="contradict the rule of the model"):
        rb.load(tmp_path / "m")


@pytest.mark.parametrize("kernel", [a_function, rb.kernels.Pairwise(lambda x, y: float(x @ y))])
def test_kernels_that_are_functions(kernel, tmp_path):
    model = quietly(rb.KernelPerceptron(kernel, max_iter=1).fit, X, X[:, 0] > 0)
    with pytest.raises(
        ParameterError, match=r"kernel=.*nothing that would have to be executed.*rosenblatt.kernels"
    ):
        rb.save(model, tmp_path / "m")


def test_what_is_no_estimator_of_ours(tmp_path):
    class Mine(rb.Perceptron):
        pass

    Mine.__name__ = "Perceptron"
    for model in (3, make_pipeline(LinearRegression()), Mine().fit([[0], [1]], [0, 1]), rb.TableEncoder()):
        with pytest.raises(ParameterError, match="cannot be saved"):
            rb.save(model, tmp_path / "m")
    for model in (rb.Perceptron(), make_pipeline(rb.Perceptron())):
        with pytest.raises(NotFittedError, match="nothing to save"):
            rb.save(model, tmp_path / "m")
    with pytest.raises(NotFittedError, match="nothing to save"):
        rb.save(rb.AdaptiveFilter(), tmp_path / "m")


def test_labels_and_attributes_that_have_no_place(tmp_path):
    model = rb.Perceptron().fit([[0], [1]], [(0, 1), (1, 0)])
    with pytest.raises(ParameterError, match="only numbers and texts"):
        rb.save(model, tmp_path / "m")
    model = rb.Perceptron().fit([[0], [1]], np.array([b"a", b"b"]))
    with pytest.raises(ParameterError, match="only numbers and texts"):
        rb.save(model, tmp_path / "m")
    model = rb.Perceptron().fit([[0], [1]], [0, 1])
    model.note = "mine"
    with pytest.raises(ParameterError, match=r"note.*Delete it"):
        rb.save(model, tmp_path / "m")
    model = rb.Perceptron().learn_one({("a", 1): 2.0}, 0)
    with pytest.raises(ParameterError, match="feature_names"):
        rb.save(model, tmp_path / "m")


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_the_same_model(name, files, tmp_path):
    content, rng = (files / name).read_bytes(), random.Random(name)
    wanted = bits(answers(rb.load(files / name)))
    for _ in range(CASES):
        path = tmp_path / "m"
        path.write_bytes(changed_bytes(content, rng))
        model = loaded(path)
        assert model is None or bits(answers(model)) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_documents_changed_with_care(name, files, tmp_path):
    document, tensors = read_container(files / name)
    rng, path = random.Random(name), tmp_path / "m"
    for _ in range(CASES):
        changed = document
        for _ in range(rng.choice([1, 1, 2])):
            changed = changed_document(changed, rng)
        put(path, changed, tensors)
        try:
            stored = open_model(path)
            model, _ = stored.estimator(), stored.predictor()
            _ = stored.parameters, stored.facts, stored.preparation
        except ModelFileError:
            continue
        if changed["parameters"] == document["parameters"]:  # these are anybody's to change
            survives(model)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_changed_with_care(name, files, tmp_path):
    document, tensors = read_container(files / name)
    rng, path = random.Random(name), tmp_path / "m"
    for _ in range(CASES):
        put(path, document, changed_tensors(tensors, rng))
        model = loaded(path)
        if model is not None:
            survives(model)


@pytest.mark.parametrize("name", NAMES)
def test_weights_that_are_no_numbers(name, files, tmp_path):
    document, tensors = read_container(files / name)
    weights = [each for each in tensors if each.split(".")[-1] in ("w", "theta", "weights", "triangle", "mean")]
    for each in weights:
        tensors = read_container(files / name)[1]
        tensors[each].flat[0] = np.nan
        put(tmp_path / "m", document, tensors)
        with pytest.raises(ModelFileError, match="holds NaN or infinity"):
            rb.load(tmp_path / "m")
    assert weights or name == "MonomialMap"


def header_of(content: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header: str, data: bytes) -> bytes:
    raw = header.encode()
    return len(raw).to_bytes(8, "little") + raw + data


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda h, d: with_header("[1, 2]", d), "no table"),
        (lambda h, d: with_header("{" * 5, d), "cannot be read"),
        (lambda h, d: with_header("[" * 100_000, d), "nested too deeply"),
        (lambda h, d: with_header('{"a": NaN}', d), "NaN is no number"),
        (lambda h, d: with_header('{"a": 1e999}', d), "1e999 is no number"),
        (lambda h, d: with_header('{"a": ' + "9" * 5000 + "}", d), "cannot be read"),
        (lambda h, d: with_header('{"a": 1, "a": 1}', d), "occurs twice"),
        (lambda h, d: with_header(json.dumps(h), d[:-1]), "but there are"),
        (lambda h, d: with_header(json.dumps(h), d + b"x"), "but there are"),
        (lambda h, d: (2**63).to_bytes(8, "little") + d, "cut short"),
        (lambda h, d: (LARGEST_HEADER + 1).to_bytes(8, "little") + bytes(LARGEST_HEADER + 9), "larger than"),
        (lambda h, d: b"", "cut short"),
        (lambda h, d: b"\x05\0\0\0\0\0\0\0\xff\xfe\xfd\xfc\xfb", "no text"),
        (
            lambda h, d: with_header(json.dumps({k: v for k, v in h.items() if k[0] != "_"} | {}), d),
            "none written",
        ),
        (
            lambda h, d: with_header(json.dumps(h | {"__metadata__": h["__metadata__"] | {"x": "y"}}), d),
            "says more",
        ),
        (lambda h, d: with_header(json.dumps(h | {"__metadata__": {KEY: "{}"}}), d), "checksum"),
    ],
)
def test_headers_of_other_kinds(change, why, files, tmp_path):
    header, data = header_of((files / "Perceptron").read_bytes())
    header = {name: header[name] for name in sorted(header, reverse=True)}
    (tmp_path / "m").write_bytes(change(header, data))
    with pytest.raises(ModelFileError, match=why):
        rb.load(tmp_path / "m")


@pytest.mark.parametrize(
    "entry, why",
    [
        ({"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 8]}, "does not fit"),
        ({"dtype": "F64", "shape": [2**61], "data_offsets": [0, 2**61 * 8]}, "no proper shape"),
        ({"dtype": "F64", "shape": [-1], "data_offsets": [8, 0]}, "no proper shape"),
        ({"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}, "has a type"),
        ({"dtype": "F64", "shape": [1.0], "data_offsets": [0, 8]}, "no proper shape"),
        ({"dtype": "F64", "shape": [1], "data_offsets": [0, 8], "x": 0}, "not described"),
        ({"dtype": "F64", "shape": [1], "data_offsets": [10**9, 10**9 + 8]}, "leave room"),
        ([], "not described"),
    ],
)
def test_arrays_described_in_other_ways(entry, why, files, tmp_path):
    header, data = header_of((files / "Perceptron").read_bytes())
    (tmp_path / "m").write_bytes(with_header(json.dumps(header | {"more": entry}), data))
    with pytest.raises(ModelFileError, match=why):
        rb.load(tmp_path / "m")


@pytest.mark.parametrize(
    "change, why",
    [
        ({"schema": 2}, "version 2 of the format, but this rosenblatt reads up to 1: update"),
        ({"preparation": None}, "is not a list of the expected length"),
        ({"preparation": [["magic", {}]]}, "has an unknown kind"),
        ({"schema": 0}, "which version"),
        ({"schema": "1"}, "which version"),
        ({"format": "other"}, "does not say that it is a model"),
        ({"learner": "os.system"}, "no learner with that name is registered"),
        ({"learner": "KernelPerceptron"}, "is not that of a KernelPerceptron|are not those of"),
        ({"learner": "Scheme"}, "no learner"),
        ({"more": 1}, "parts it should have"),
        ({"parameters": {"mine": 1}}, "are not those of a Perceptron"),
        ({"classes": {"type": "int64", "labels": [1, 1]}}, "twice"),
        ({"classes": {"type": "int8", "labels": [1, 300]}}, "not all of their type"),
        ({"classes": {"type": "text9999999", "labels": ["a", "b"]}}, "unknown type"),
        ({"classes": {"type": "int64", "labels": [1, 2, 3]}}, "classes and scheme contradict"),
        ({"feature_names": ["a"] * 9}, "are no names"),
        ({"feature_names": list("abcdefghi")}, "not those of the model"),
        ({"provenance": 3}, "provenance"),
    ],
)
def test_headers_that_say_something_else(change, why, files, tmp_path):
    document, tensors = read_container(files / "Perceptron")
    put(tmp_path / "m", document | change, tensors)
    with pytest.raises(ModelFileError, match=why):
        rb.load(tmp_path / "m")


def test_a_tower_of_lists_inside_the_text(files, tmp_path):
    document, tensors = read_container(files / "Perceptron")
    deep: list = []
    for _ in range(900):
        deep = [deep]
    put(tmp_path / "m", document | {"provenance": {"dict": [["a", deep]]}}, tensors)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        open_model(tmp_path / "m")


def test_safetensors_reads_our_files_and_others_are_none(files, tmp_path):
    tensors = load_file(files / "Perceptron")
    assert tensors["state.w"].shape == (10,)
    save_file(tensors, tmp_path / "m")
    with pytest.raises(ModelFileError, match="none written by rosenblatt"):
        rb.load(tmp_path / "m")


def test_no_file_and_no_place(tmp_path):
    with pytest.raises(FileNotFoundError):
        rb.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        rb.load(tmp_path)


@pytest.mark.slow
def test_sizes_that_a_file_claims_take_no_memory(files, tmp_path):
    document, tensors = read_container(files / "MarkOne")
    state = document["state"]
    state["wiring_"]["retina"] = state["retina"]["shape"] = [2**26, 2**26]
    put(tmp_path / "retina", document, tensors)
    document, tensors = read_container(files / "Perceptron")
    document["state"]["scheme"] = {"kind": "ovo", "n_classes": 2**31}
    put(tmp_path / "scheme", document, tensors)
    document, tensors = read_container(files / "Perceptron")
    tensors["trace.mistakes_per_pass"][:] = 2**40
    put(tmp_path / "trace", document, tensors)
    source = """
import resource, sys
import rosenblatt as rb
rb.Perceptron, rb.MarkOne
resource.setrlimit(resource.RLIMIT_AS, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + 2**32,) * 2)
for path in sys.argv[1:]:
    try:
        rb.load(path)
    except rb.exceptions.ModelFileError:
        continue
    raise SystemExit(f"{path} was taken for a model")
"""
    paths = [str(tmp_path / name) for name in ("retina", "scheme", "trace")]
    subprocess.run([sys.executable, "-c", source, *paths], check=True, timeout=600)


ROWS = pd.DataFrame(
    {
        "size": [1.5, 2.5, 0.5, 0.25, 4.0, 1.0],
        "age": [3.0, np.nan, 1.2, 5.0, np.nan, 0.9],
        "colour": pd.Series(["red", "green", "red", np.nan, "brown", "green"], dtype=object),
        "zip": [2, 1, 2, 3, 3, 1],
        "note": ["Win a prize", "see you", "free prize for you", "home", "at home", "see it"],
    }
)
NUMBERS = make_pipeline(SimpleImputer(), StandardScaler())
MARKS = SimpleImputer(add_indicator=True)
FILLED = SimpleImputer(strategy="constant", fill_value="none")


def of_columns(*parts, **settings):
    return ColumnTransformer([(f"part{k}", each, columns) for k, (each, columns) in enumerate(parts)], **settings)


EXACT = {  # what is replaced, the columns of its table, and the encoder that makes the same features
    "numbers and names": (
        of_columns(
            (make_pipeline(SimpleImputer(), StandardScaler()), ["size", "age"]), (OneHotEncoder(), ["colour"])
        ),
        ["size", "age", "colour"],
        "TableEncoder(missing='mean', scale=True, categorical=['colour'])",
    ),
    "zeros": (
        of_columns(
            (OneHotEncoder(), ["colour"]),
            (OneHotEncoder(), ["zip"]),
            (SimpleImputer(strategy="constant", fill_value=0), ["age"]),
        ),
        ["age", "colour", "zip"],
        "TableEncoder(missing='zero', categorical=['colour', 'zip'])",
    ),
    "marks": (of_columns((MARKS, ["size", "age"])), ["size", "age"], "TableEncoder(missing='indicator')"),
    "marks of none": (
        of_columns((make_pipeline(MARKS, StandardScaler()), ["size", "zip"])),
        ["size", "zip"],
        "TableEncoder(missing='indicator', scale=True)",
    ),
    "left out": (
        of_columns(("passthrough", slice("size", "size")), ("drop", ["zip"])),
        ["size", "zip"],
        "TableEncoder(ignore=['zip'])",
    ),
    "a slice": (
        of_columns((StandardScaler(), slice(0, 1)), (OneHotEncoder(), [False, True])),
        ["size", "zip"],
        "TableEncoder(scale=True, categorical=['zip'])",
    ),
    "the rest": (
        of_columns((OneHotEncoder(), ["zip"]), remainder="drop"),
        ["size", "zip", "age"],
        "TableEncoder(categorical=['zip'], ignore=['size', 'age'])",
    ),
    "an imputer alone": (SimpleImputer(), ["size", "age"], "TableEncoder(missing='mean')"),
    "one-hot alone": (OneHotEncoder(), ["colour", "zip"], "TableEncoder(categorical=['colour', 'zip'])"),
}


def columns_of(features):
    """Return the columns of features, in an order that does not depend on theirs."""
    dense = features.toarray() if hasattr(features, "toarray") else np.asarray(features, np.float64)
    return dense[:, np.lexsort(np.round(dense, 9))]


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("write", [lambda model, path: rb.save(model, path), lambda model, _: rb.to_onnx(model)])
def test_scikit_learn_s_steps_are_written_as_the_encoder_that_makes_the_same_features(name, write, tmp_path):
    step, columns, written = EXACT[name]
    table = ROWS[columns]
    model = make_pipeline(clone(step), rb.Perceptron()).fit(table, [0, 1, 0, 1, 0, 1])
    with pytest.raises(ParameterError) as refused:
        write(model, tmp_path / "m")
    assert f"Use {written} in place of" in str(refused.value)
    encoder = eval(written, {"TableEncoder": rb.TableEncoder})
    ours = make_pipeline(encoder, rb.Perceptron()).fit(table, [0, 1, 0, 1, 0, 1])
    assert columns_of(ours[0].transform(table)) == pytest.approx(columns_of(model[0].transform(table)))
    rb.save(ours, tmp_path / "m")


DIFFERENT = {  # what is replaced, the columns of its table, the nearest encoder, and how it differs
    "no mean": (
        of_columns((StandardScaler(with_mean=False), ["size"])),
        ["size"],
        "TableEncoder(scale=True)",
        "the mean is subtracted too (StandardScaler of 'part0')",
    ),
    "no deviation": (
        of_columns((StandardScaler(with_std=False), ["size"])),
        ["size"],
        "TableEncoder(scale=True)",
        "numbers are divided by their deviations too (StandardScaler of 'part0')",
    ),
    "some scaled": (
        of_columns((StandardScaler(), ["size"]), ("passthrough", ["zip"])),
        ["size", "zip"],
        "TableEncoder(scale=True)",
        "all numbers are standardised, or none",
    ),
    "two imputers": (
        of_columns((SimpleImputer(), ["size"]), (SimpleImputer(strategy="constant"), ["age"])),
        ["size", "age"],
        "TableEncoder(missing='mean')",
        "missing numbers of all columns are filled in one way",
    ),
    "median": (
        SimpleImputer(strategy="median"),
        ["size", "age"],
        "TableEncoder(missing='mean')",
        "missing numbers get the mean, not the median (SimpleImputer)",
    ),
    "a number": (
        SimpleImputer(strategy="constant", fill_value=7),
        ["age"],
        "TableEncoder(missing='mean')",
        "missing numbers get the mean, not 7 (SimpleImputer)",
    ),
    "minus one": (
        SimpleImputer(missing_values=3),
        ["zip"],
        "TableEncoder(missing='mean')",
        "NaN and None are missing, not 3 (SimpleImputer)",
    ),
    "scaled first": (
        of_columns((make_pipeline(StandardScaler(), SimpleImputer()), ["age"])),
        ["age"],
        "TableEncoder(missing='mean', scale=True)",
        "missing numbers are filled before all are scaled (SimpleImputer of 'part0')",
    ),
    "scaled marks": (
        of_columns((make_pipeline(MARKS, StandardScaler()), ["age"])),
        ["age"],
        "TableEncoder(missing='indicator', scale=True)",
        "marks of missing numbers are not scaled",
    ),
    "another scaler": (
        MinMaxScaler(),
        ["size"],
        "TableEncoder(scale=True)",
        "numbers are standardised, as by StandardScaler (MinMaxScaler)",
    ),
    "ordinal": (
        OrdinalEncoder(),
        ["zip"],
        "TableEncoder(categorical=['zip'])",
        "each category is a feature of its own, not a number (OrdinalEncoder)",
    ),
    "filled names": (
        of_columns((make_pipeline(FILLED, OneHotEncoder()), ["colour"])),
        ["colour"],
        "TableEncoder(categorical=['colour'])",
        "a missing category is a category of its own (SimpleImputer of 'part0')",
    ),
    "one left out": (
        OneHotEncoder(drop="first"),
        ["zip"],
        "TableEncoder(categorical=['zip'])",
        "each category that is met has a feature, without drop (OneHotEncoder)",
    ),
    "words": (
        of_columns((CountVectorizer(), "note"), ("passthrough", ["size"])),
        ["note", "size"],
        "TableEncoder(text=['note'], weighting='count')",
        "words are split and hashed in its own way (CountVectorizer of 'part0')",
    ),
    "used twice": (
        of_columns((StandardScaler(), ["zip"]), (OneHotEncoder(), ["zip"])),
        ["zip"],
        "TableEncoder(scale=True, categorical=['zip'])",
        "each column is used once",
    ),
}


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", DIFFERENT)
def test_where_no_encoder_does_the_same_the_nearest_is_named_with_its_difference(name, tmp_path):
    step, columns, written, difference = DIFFERENT[name]
    model = make_pipeline(clone(step), rb.Perceptron()).fit(ROWS[columns], [0, 1, 0, 1, 0, 1])
    with pytest.raises(ParameterError) as refused:
        rb.save(model, tmp_path / "m")
    told = str(refused.value)
    assert f"The nearest is {written}, with these differences: {difference}. Train again with it, or save" in told
    encoder = eval(written, {"TableEncoder": rb.TableEncoder})
    rb.save(make_pipeline(encoder, rb.Perceptron()).fit(ROWS[columns], [0, 1, 0, 1, 0, 1]), tmp_path / "m")


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_dense_features_stay_dense_where_another_step_needs_them(tmp_path):
    step = of_columns(("passthrough", ["size"]), (OneHotEncoder(sparse_output=False), ["zip"]))
    table, y = ROWS[["size", "zip"]], [0, 1, 0, 1, 0, 1]
    model = make_pipeline(step, StandardScaler(), rb.Perceptron()).fit(table, y)
    with pytest.raises(ParameterError, match=r"categorical=\['zip'\], sparse_output=False\)"):
        rb.save(model, tmp_path / "m")
    encoder = rb.TableEncoder(categorical=["zip"], sparse_output=False)
    ours = make_pipeline(encoder, StandardScaler(), rb.Perceptron()).fit(table, y)
    assert columns_of(ours[:-1].transform(table)) == pytest.approx(columns_of(model[:-1].transform(table)))
    rb.save(ours, tmp_path / "m")


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_long_lists_of_columns_are_short_in_messages(tmp_path):
    y = np.arange(30) % 2
    for rows, told in (
        (np.arange(600).reshape(30, 20) % 3, "categorical=list(range(20))"),
        (pd.DataFrame(np.arange(600).reshape(30, 20) % 3).add_prefix("c"), "categorical=['c0', 'c1', …, 'c19']"),
    ):
        with pytest.raises(ParameterError) as refused:
            rb.save(make_pipeline(OneHotEncoder(), rb.Perceptron()).fit(rows, y), tmp_path / "m")
        assert told in str(refused.value)


def test_a_column_transformer_that_no_encoder_replaces_is_refused_with_a_way_out(tmp_path):
    model = make_pipeline(ColumnTransformer([("ranks", QuantileTransformer(n_quantiles=3), [0])]), rb.Perceptron())
    with pytest.raises(ParameterError, match=r"nothing like QuantileTransformer of 'ranks'\. Save") as refused:
        rb.save(model.fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]), tmp_path / "m")
    assert "in place of" not in str(refused.value)
    model = make_pipeline(rb.OnlineScaler(), SimpleImputer(), rb.Perceptron())
    with pytest.raises(ParameterError, match=r"step 'simpleimputer' is SimpleImputer.* Save the learner alone"):
        rb.save(model.fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]), tmp_path / "m")
    with pytest.raises(ParameterError, match="This SimpleImputer is not trained yet"):
        rb.save(make_pipeline(SimpleImputer(), rb.Perceptron()), tmp_path / "m")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            of_columns((SimpleImputer(), ["size", "age"])),
            "a ColumnTransformer prepares rows .*Use Tab",
        ),
        (SimpleImputer(strategy="median"), "a SimpleImputer prepares rows.*The nearest is"),
        (rb.TableEncoder(), "a TableEncoder prepares rows and predicts nothing. Put it before a learner"),
        (LogisticRegression(), "LogisticRegression is a learner of scikit-learn.*joblib or skops"),
    ],
)
def test_what_is_no_learner_of_ours_is_named_without_its_parameters(model, told, tmp_path):
    with pytest.raises(ParameterError, match=told) as refused:
        rb.save(model.fit(ROWS[["size", "age"]].fillna(0), [0, 1, 0, 1, 0, 1]), tmp_path / "m")
    assert "transformers=" not in str(refused.value)
    assert "register" not in str(refused.value)
