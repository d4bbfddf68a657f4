"""Every kind of error says the same in Python, on the command line and over HTTP, each in its own words."""

import ast
import inspect
import json
import pickle
import re
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt import exceptions, parameters, registry
from rosenblatt.cli.options import as_option, in_options
from rosenblatt.exceptions import (
    ClusterError,
    DeviceError,
    FormatError,
    Given,
    Message,
    MissingRoomError,
    ParameterError,
    Remedy,
    RosenblattError,
    StorageError,
    Term,
    TrainingOverflowError,
    UndecidedError,
    join_messages,
    list_ways,
    remedies_of,
)
from rosenblatt.learning.linear import overflow
from rosenblatt.parameters import contradiction
from rosenblatt.rows.memory import require_memory

msgspec = pytest.importorskip("msgspec", reason="the server needs it")
messages = pytest.importorskip("rosenblatt.server.messages", reason="the server needs msgspec")
read_message = pytest.importorskip("rosenblatt.server.limits", reason="the server needs msgspec").read_message
CallError = pytest.importorskip("rosenblatt.server.caller", reason="the server needs msgspec").CallError

PACKAGE = Path(exceptions.__file__).parent
XOR = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
TWO = [[1.0], [2.0]]
COLUMNS = [
    {"parameter": name, "value": value}
    for name, value in (("ignore", ("a",)), ("categorical", None), ("hashed", None))
]
ABC = "a,b,label\n1,2,no\n3,4,yes\n"


def fit(X=TWO, y=(0, 1), learner=None, **how):
    return lambda folder: (learner or rb.Perceptron()).fit(X, y, **how)


def read(text, name="t.csv", **options):
    """Return a function that reads a file as arrays."""

    def call(folder):
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return rb.read_table(path, **options)

    return call


def fail(error):
    def call(folder):
        raise error

    return call


def applied(data, call):
    """Return a function that trains on ABC, and gives the model and other data to `call`."""

    def made(folder):
        read(ABC)(folder)
        rb.train(folder / "t.csv", seed=0, log=lambda _: None).save(folder / "m")
        read(data, "new.csv")(folder) if "label" in data else (folder / "new.csv").write_text(data)
        return call(folder / "m", folder / "new.csv")

    return made


def word_among_dates(folder):
    (folder / "t.csv").write_text("day,label\n2024-01-03,no\n2024-02-05,yes\n2024-02-07,no\n")
    rb.train(folder / "t.csv", log=lambda _: None).save(folder / "m")
    (folder / "new.csv").write_text("day\nsoon\n")
    rb.predict_file(folder / "m", folder / "new.csv", folder / "out")


def names_as_numbers(folder):
    path = folder / "t.csv"
    path.write_text(ABC)
    return rb.train(path, "extreme", parameters={"task": "regression"}, log=lambda _: None)


def guessed(values):
    rows = "".join(f"{k},{value}\n" for k, value in enumerate(values))
    return lambda folder: read("a,b\n" + rows)(folder)


CASES = {
    # the class of an error says enough
    "error": (fail(RosenblattError("No.")), "No.", None, None),
    "input": (
        lambda folder: rb.TableEncoder().fit("win"),
        "X is one string. Pass a list of texts, [X].",
        None,
        None,
    ),
    "shape": (fit([1.0, 2.0]), "Expected 2D X, got 1D of shape (2,). Reshape your data: …", None, None),
    "data-type": (fit([["a"], [1.0]]), "Every value of the X argument must be a number, …", None, {"row": 0}),
    "non-finite": (
        fit([[1.0], [np.nan]]),
        "Input X contains NaN. The value at row 1, column 0 is …",
        None,
        {"row": 1},
    ),
    "label": (fit(y=[np.inf, 1.0]), "Input y contains infinity, at row 0. …", None, {"row": 0}),
    "weight": (fit(sample_weight=[1.0, -1.0]), "sample_weight is -1.0 at row 1, but must …", None, {"row": 1}),
    "order": (fit(learner=rb.Perceptron(order=[0, 7])), "…", None, None),
    "not-separable": (
        fit(*XOR, rb.MaxMarginClassifier()),
        "No hyperplane separates the classes: the convex hulls of the two classes meet, in a combination of rows "
        "0, 1, 2, 3 that is exact (the certificate of this error proves it). Use SoftMarginClassifier, "
        "which allows "
        "for rows on the wrong side.",
        "No hyperplane separates the classes: the convex hulls of the two classes meet (rosenblatt certify prints "
        "the proof). Use --learner soft-margin, which allows for rows on the wrong side.",
        {
            "detail": 'No hyperplane separates the classes: … Use learner="soft-margin", which allows for '
            "rows on the "
            "wrong side.",
            "remedies": [{"parameter": "learner", "value": "soft-margin"}],
        },
    ),
    "format": (read('{"a": 1, "y": 0}\nno\n', "t.jsonl"), "t.jsonl:2:1: is no JSON: Expecting value", None, None),
    "no-rows": (read("a,label\n"), "t.csv:1: there are names of columns, but no rows", None, None),
    "model-file": (
        lambda folder: rb.load(PACKAGE / "exceptions.py"),
        "… Save the model again, or use another copy of the file.",
        None,
        None,
    ),
    "parameter": (
        lambda folder: rb.SequencePerceptron().fit([[1]], [[0]], resume=True),
        "resume=True needs a checkpoint. Name its file with checkpoint.",
        "--resume needs a checkpoint. Name its file with --checkpoint.",
        {
            "detail": "resume=true needs a checkpoint. Name its file with checkpoint.",
            "parameter": "resume",
            "remedies": [{"parameter": "checkpoint", "value": None}],
        },
    ),
    "parameter.combination": (
        fit(learner=rb.Perceptron(order="random", shuffle=False)),
        "order='random' cannot be combined with shuffle=False. Drop one of them.",
        "--order random cannot be combined with --set shuffle=false. Drop one of them.",
        {
            "detail": 'order="random" cannot be combined with shuffle=false. Drop one of them.',
            "parameter": "order",
            "parameters": ("order", "shuffle"),
        },
    ),
    "parameter.range": (
        fit(learner=rb.Perceptron(eta0=0.0)),
        "eta0=0.0 must be a finite number above 0.",
        "--eta0 0.0 must be a finite number above 0.",
        {"parameter": "eta0"},
    ),
    "parameter.type": (
        fit(learner=rb.Perceptron(fit_intercept="no")),
        "fit_intercept='no' must be True or False.",
        "--set fit_intercept=no must be True or False.",
        {"detail": 'fit_intercept="no" must be True or False.', "parameter": "fit_intercept"},
    ),
    "parameter.unused": (
        lambda folder: rb.train([["a"]], memory=5),
        "memory is for …",
        "--memory is for …",
        {"parameter": "memory"},
    ),
    "missing-room": (fail(MissingRoomError("This installation has no server.")), "This …", None, None),
    "undecided": (fail(UndecidedError("Allow more time.")), "Allow more time.", None, None),
    "storage": (fail(StorageError("The disk is full.")), "The disk is full.", None, None),
    "cluster": (fail(ClusterError("There are no workers.")), "There are no workers.", None, None),
    "device": (fail(DeviceError("There is no GPU.")), "There is no GPU.", None, None),
    "training-overflow": (fail(TrainingOverflowError("Scale them.")), "Scale them.", None, None),
    "prediction-overflow": (
        fail(overflow(3)),
        "The score of row 3 of X exceeds the largest float, …",
        None,
        {"detail": "The score of row 3 of rows exceeds the largest float, …", "row": 3},
    ),
    # kinds that a program would tell apart
    "missing-value": (
        read("a,b,label\n1,,no\n3,4,yes\n"),
        "t.csv:2:2: 'b' is missing; fill it in, use missing='zero' or missing='mean', or leave such rows out with "
        "skip_bad=True",
        "t.csv:2:2: 'b' is missing; fill it in, use --missing zero or --missing mean, or leave such rows out with "
        "--skip-bad",
        {
            "detail": "t.csv:2:2: 'b' is missing; fill it in",
            "remedies": [
                {"parameter": "missing", "value": "zero"},
                {"parameter": "missing", "value": "mean"},
                {"parameter": "skip_bad", "value": True},
            ],
        },
    ),
    "not-a-number": (
        read("a,label\n" + "1,no\n2,yes\n" * 9 + "many,no\n"),
        "t.csv:20:1: 'a' is 'many', but the column holds numbers; correct it, use na=['many'] if it means a "
        "missing "
        "value, categorical=['a'] if the values are categories, or leave such rows out with skip_bad=True",
        "t.csv:20:1: 'a' is 'many', but the column holds numbers; correct it, use --na many if it means a missing "
        "value, --categorical a if the values are categories, or leave such rows out with --skip-bad",
        {"detail": "t.csv:20:1: 'a' is 'many', but the column holds numbers; correct it"},
    ),
    "not-a-date": (
        word_among_dates,
        "new.csv:2:1: 'day' is 'soon', but the column holds dates; correct it, use na=['soon'] if it means a "
        "missing value, categorical=['day'] if the values are names, or leave such rows out with skip_bad=True",
        "new.csv:2:1: 'day' is 'soon', but the column holds dates; correct it, use --na soon if it means a "
        "missing value, --categorical day if the values are names, or leave such rows out with --skip-bad",
        {"detail": "new.csv:2:1: 'day' is 'soon', but the column holds dates; correct it"},
    ),
    "ambiguous-number": (
        read("price;label\n950;p\n7,700;q\n800;p\n"),
        "t.csv:3:1: 'price' is '7,700', which can be read in several ways: decimal=',' reads 7.700, thousands=',' "
        "reads 7700; use the one that is meant, take the values as names with categorical=['price'], or leave the "
        "column out with ignore=['price']",
        "t.csv:3:1: 'price' is '7,700', which can be read in several ways: --decimal , reads 7.700, --thousands , "
        "reads 7700; use the one that is meant, take the values as names with --categorical price, or leave the "
        "column out with --ignore price",
        {
            "detail": "t.csv:3:1: 'price' is '7,700', which can be read in several ways: decimal=\",\" reads "
            '7.700, thousands="," reads 7700; use the one that is meant'
        },
    ),
    "inexact-integer": (
        read("id,label\n9007199254740993,no\n2,yes\n"),
        "t.csv:2:1: 'id' is '9007199254740993', an integer beyond 2^53 that float64 would round; leave the column "
        "out with ignore=['id'] if it is an identifier, or take its values as names with hashed=['id']",
        "t.csv:2:1: 'id' is '9007199254740993', an integer beyond 2^53 that float64 would round; leave the column "
        "out with --ignore id if it is an identifier, or take its values as names with --hashed id",
        {"detail": "t.csv:2:1: 'id' is '9007199254740993', an integer beyond 2^53 that float64 would round"},
    ),
    "missing-label": (
        read("a,label\n1,no\n2,\n3,yes\n"),
        "t.csv:3:2: the label is missing; give the row one, or leave such rows out with skip_bad=True",
        "t.csv:3:2: the label is missing; give the row one, or leave such rows out with --skip-bad",
        {"detail": "t.csv:3:2: the label is missing; give the row one"},
    ),
    "unlike-label": (
        read('{"a": 1, "label": 1}\n{"a": 2, "label": 2}\n{"a": 3, "label": 1e999}\n', "t.jsonl"),
        "…",
        None,
        None,
    ),
    "unknown-label": (
        lambda folder: rb.Perceptron().partial_fit(TWO, [0, 1], classes=[0, 1]).partial_fit(TWO, [0, 7]),
        "y=7 is not one of the classes [0, 1]. Name all classes …",
        None,
        None,
    ),
    "one-class": (
        fit(y=[1, 1]),
        "y has only one class, [1], but two are needed to tell apart. Add rows of another class.",
        "the target has only one class, [1], but two are needed to tell apart. Add rows of another class.",
        {"detail": "y has only one class, [1], but two are needed to tell apart. Add rows of another class."},
    ),
    "continuous-target": (
        guessed([k + 0.5 for k in range(30)]),
        "t.csv: the last column, 'b', was taken as the target and holds continuous numbers; choose another with "
        "target, or predict numbers with ExtremeLearningMachine and task='regression'.",
        "t.csv: the last column, 'b', was taken as the target and holds continuous numbers; choose another with "
        "--target, or predict numbers with --learner extreme --set task=regression.",
        {},
    ),
    "too-many-classes": (
        guessed([f"n{k}" for k in range(30)]),
        "t.csv: the last column, 'b', was taken as the target and holds 30 different values in 30 rows; choose "
        "another with target, or name this one to take each value as a class.",
        "t.csv: the last column, 'b', was taken as the target and holds 30 different values in 30 rows; choose "
        "another with --target, or name this one to take each value as a class.",
        {},
    ),
    "names-as-numbers": (
        names_as_numbers,
        "t.csv: the last column, 'label', was taken as the target and holds names such as no, but a "
        "regression predicts numbers; choose another "
        "column with target, or leave out task='regression'.",
        "t.csv: the last column, 'label', was taken as the target and holds names such as no, but a "
        "regression predicts numbers; choose another "
        "column with --target, or leave out --set task=regression.",
        {},
    ),
    "no-such-column": (
        read(ABC, ignore=["lable"]),
        "t.csv: ignore: there is no column 'lable' (did you mean 'label'?); the columns are 'a', 'b', 'label'",
        "t.csv: --ignore: there is no column 'lable' (did you mean 'label'?); the columns are 'a', 'b', 'label'",
        {},
    ),
    "column-twice": (
        read("a,label,label\n1,no,no\n3,yes,yes\n"),
        "t.csv:1:3: two columns are called 'label'; rename one, or leave one out with ignore=[3]",
        "t.csv:1:3: two columns are called 'label'; rename one, or leave one out with --ignore 3",
        {},
    ),
    "column-type": (
        lambda folder: rb.TableEncoder().fit([{"a": b"x", "b": 1}]),
        "X, column 'a': column 'a' holds values of type binary, which are no features: leave it out with "
        "ignore=['a'], or take its values as names with categorical or hashed.",
        "X, column 'a': column 'a' holds values of type binary, which are no features: leave it out with "
        "--ignore a, or take its values as names with --categorical or --hashed.",
        {"detail": "rows, column 'a': column 'a' holds values …", "remedies": COLUMNS},
    ),
    "no-features": (
        read("label\nno\nyes\n"),
        "t.csv: there is only one column, so nothing is left to learn from: the target is column 1, "
        "'label'. Check "
        "delimiter, target and ignore",
        "t.csv: there is only one column, so nothing is left to learn from: the target is column 1, "
        "'label'. Check "
        "--delimiter, --target and --ignore",
        {},
    ),
    "no-target": (
        applied("a,b\n1,2\n", rb.evaluate),
        "new.csv:1: there is no column of labels (in training it was 'label'); name it with target",
        "new.csv:1: there is no column of labels (in training it was 'label'); name it with --target",
        {},
    ),
    "no-probabilities": (
        lambda folder: applied(
            "a,b\n1,2\n", lambda m, d: rb.predict_file(m, d, folder / "out", probabilities=True)
        )(folder),
        "m has no probabilities. Train it with probabilities, or use rosenblatt.calibrate.",
        "m has no probabilities. Train it with --probabilities, or use rosenblatt.calibrate.",
        {},
    ),
    "width": (
        lambda folder: rb.TableEncoder().fit([["a", 1], ["b", 2]]).transform([["a", 1, 2]]),
        "X: X has 3 features, but TableEncoder is expecting 2 features as input. Pass the columns of "
        "training, or a "
        "table whose columns have names.",
        None,
        {"detail": "rows: …"},
    ),
    "too-many-categories": (
        mock.patch("rosenblatt.tables.encoder.MOST_CATEGORIES", 1000)(
            read("a,label\n" + "".join(f"v{k},{k % 2}\n" for k in range(1001)))
        ),
        "t.csv: column 'a' holds more than 1,000 different values. Leave it out with ignore=['a'] if it names the "
        "rows, or say what it is: text=['a'] (words), hashed=['a'] (categories, hashed)",
        "t.csv: column 'a' holds more than 1,000 different values. Leave it out with --ignore a if it names the "
        "rows, or say what it is: --text a (words), --hashed a (categories, hashed)",
        {},
    ),
    "ragged-row": (
        read("a,b,label\n1,2,no\n3,yes\n"),
        "t.csv:3: the row has 2 fields instead of 3; correct it, or leave such rows out with skip_bad=True",
        "t.csv:3: the row has 2 fields instead of 3; correct it, or leave such rows out with --skip-bad",
        {"detail": "t.csv:3: the row has 2 fields instead of 3; correct it"},
    ),
    "encoding": (
        read(b"caf\xe9,label\n1,no\n2,yes\n"),
        "t.csv:1: the header is not UTF-8; name its encoding, such as encoding='latin-1'",
        "t.csv:1: the header is not UTF-8; name its encoding, such as --encoding latin-1",
        {},
    ),
    "sentences": (
        read("1\tdog\n", "t.conllu"),
        "t.conllu: this is a file of sentences, not a table. `rosenblatt train` reads it with label, and "
        "`predict` "
        "and `evaluate` do with a model trained so",
        "t.conllu: this is a file of sentences, not a table. `rosenblatt train` reads it with --label, and "
        "`predict` "
        "and `evaluate` do with a model trained so",
        {},
    ),
    "memory": (
        lambda folder: require_memory("A table", 10**9, "Hash into fewer (" + Remedy("bits") + ").", 10**6),
        "A table would take 1 GB, but 1 MB of memory are allowed. Hash into fewer (bits).",
        "A table would take 1 GB, but 1 MB of memory are allowed. Hash into fewer (--bits).",
        {},
    ),
}
"""What raises an error of each code, and its renderings, the place without its folder.

The command line and HTTP say the same as Python where None stands; … stands for any words. Of HTTP this is what
the document has besides the words of the command line.
"""
OF_REQUESTS = {
    status: (messages.RequestError(status, "No. Set " + Remedy("grow", True) + "."), code)
    for status, (code, _) in messages.KINDS.items()
}


def sources_with(pattern):
    """Return the texts of modules in which a pattern occurs: parsing all takes seconds."""
    texts = (path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    return [text for text in texts if re.search(pattern, text)]


def codes_in_the_sources():
    """Return the codes of all classes, and those that errors are given one by one."""
    found = set()
    for text in sources_with(r"\bcode=|\bProblem\("):
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") == "close":
                continue
            given = [each.value for each in node.keywords if each.arg == "code"]
            given += node.args[2:3] if getattr(node.func, "id", "") == "Problem" else []
            found |= {each.value for each in given if isinstance(each, ast.Constant) and each.value is not None}
    classes = [each for _, each in inspect.getmembers(exceptions, inspect.isclass)]
    found |= {parameters.TYPE, parameters.RANGE, parameters.UNUSED, parameters.COMBINATION}
    return found | {each.code for each in classes if issubclass(each, RosenblattError)}


def fits(told, expected):
    """Return whether words are those expected, but for … ."""
    before, more, after = expected.partition("…")
    return told.startswith(before) and told.endswith(after.lstrip(" ")) if more else told == expected


def in_json(told, remedies):
    """Return the words of Python with parameters as JSON has them."""
    for each in remedies:
        value = "" if each.value is None else f"={json.dumps(each.value, separators=(',', ':'))}"
        told = told.replace(str(each), each.parameter + value)
    return told


def test_every_code_is_tried():
    assert set(CASES) == codes_in_the_sources()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("code", CASES)
def test_three_renderings(code, tmp_path):
    make, python, options, http = CASES[code]
    with pytest.raises(RosenblattError) as caught:
        make(tmp_path)
    error = caught.value
    assert error.code == code
    where = f"{tmp_path}/"
    assert fits(str(error).replace(where, ""), python)
    shown = in_options(error.args[0]).replace(where, "")
    assert fits(shown, python if options is None else options)
    document = messages.RequestError.by(error).document()
    assert (document["status"], document["code"]) == (422, code)
    expected = {"detail": in_json(python, error.remedies)} | (http or {})
    assert not re.search(r"(?<![\w-])--[a-z]", document["detail"])
    for name, value in expected.items():
        found = document[name].replace(where, "") if name == "detail" else document[name]
        assert fits(found, value) if name == "detail" else found == value, name
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.remedies) == (str(error), code, error.remedies)
    assert (again.parameter, again.row) == (error.parameter, error.row)
    assert repr(again.value) == repr(error.value)


@pytest.mark.parametrize("status", OF_REQUESTS)
def test_renderings_of_requests(status):
    problem, code = OF_REQUESTS[status]
    assert str(problem) == "No. Set grow=True."
    assert in_options(problem.args[0]) == "No. Set --grow."
    document = problem.document()
    assert (document["status"], document["code"], document["detail"]) == (status, code, "No. Set grow=true.")
    assert document["remedies"] == [{"parameter": "grow", "value": True}]


def name_of_call(node):
    return getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""


def names_a_parameter(call, function):
    """Return whether an error names a parameter: by a keyword, or in its message, also by way of a variable."""
    if any(each.arg in ("parameter", "parameters") for each in call.keywords):
        return True
    searched, names = list(call.args), set()
    while searched:
        for node in ast.walk(searched.pop()):
            if name_of_call(node) == "Given":
                return True
            if isinstance(node, ast.Name) and node.id not in names:
                names.add(node.id)
                for each in ast.walk(function):
                    if isinstance(each, ast.arg) and each.arg == node.id and "Given" in ast.unparse(each):
                        return True
                    if isinstance(each, ast.Assign | ast.AugAssign):
                        targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                        stored = {to.id for every in targets for to in ast.walk(every) if isinstance(to, ast.Name)}
                        searched += [each.value] if node.id in stored else []
    return False


def errors_without_a_parameter(text):
    """Return the line of each error about parameters that names none."""
    tree, found = ast.parse(text), []
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    for node in ast.walk(tree):
        if name_of_call(node) == "ParameterError":
            around = [each for each in functions if each.lineno <= node.lineno <= each.end_lineno]
            if not names_a_parameter(node, around[-1] if around else tree):
                found.append(node.lineno)
    return found


def test_every_error_about_parameters_names_one():
    """An error about data, a model or this machine is of another class, such as `InputError`."""
    found = {str(path): errors_without_a_parameter(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}
    without = [
        'def f(a):\n    told = "no"\n    told += " way"\n    raise ParameterError(told)',
        'def f(p):\n    given = Given("a", p)\n\ndef g(given):\n    raise ParameterError("no" + given)',
        'raise ParameterError("b is not a.", code="x")',
    ]
    assert [errors_without_a_parameter(text) for text in without] == [[4], [5], [1]]
    named = [
        'raise ParameterError("no", parameter="a")',
        'def f(a):\n    told = Given("a", a) + " is"\n    told += " no"\n    raise ParameterError(told)',
        'def f(given: Given):\n    raise ParameterError(given + " is no")',
    ]
    assert [errors_without_a_parameter(text) for text in named] == [[], [], []]


def test_parameters_that_do_not_fit_together():
    error = contradiction(Given("checkpoint"), Given("warm_start", True), " here")
    assert str(error) == "checkpoint cannot be combined with warm_start=True here. Drop one of them."
    told = in_options(error.args[0])
    assert told == "--checkpoint cannot be combined with --set warm_start=true here. Drop one of them."
    assert (error.parameters, error.parameter, error.value) == (("checkpoint", "warm_start"), "checkpoint", None)
    document = messages.RequestError.by(error).document()
    assert document["detail"] == "checkpoint cannot be combined with warm_start=true here. Drop one of them."
    assert (document["parameter"], document["parameters"]) == ("checkpoint", ("checkpoint", "warm_start"))
    again = CallError(422, json.loads(messages.RequestError.by(error).body()))
    assert tuple(again.parameters) == error.parameters == pickle.loads(pickle.dumps(error)).parameters
    one = messages.RequestError.by(ParameterError(Given("eta0", 0.0) + " is no step.")).document()
    assert (one["parameter"], "parameters" in one) == ("eta0", False)
    other = ParameterError("It is no step for " + Given("margin", 2) + ".", parameter="eta0", value=0)
    assert (other.parameters, other.parameter, other.value) == (("eta0", "margin"), "eta0", 0)


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ("{}", "rows"),
        ('{"rows": "x"}', "rows"),
        ('{"rows": [5]}', "rows"),
        ('{"rows": [[1]], "min_version": -1}', "min_version"),
        ('{"rows": [[1]], "mim_version": 1}', "mim_version"),
    ],
)
def test_a_request_that_does_not_fit_names_its_field(body, parameter):
    with pytest.raises(messages.RequestError) as caught:
        read_message(msgspec.json.Decoder(messages.PredictRequest), body.encode())
    assert caught.value.document()["parameter"] == parameter == caught.value.parameter


def test_a_field_within_another_is_named_by_the_one_of_the_request():
    with pytest.raises(messages.RequestError) as caught:
        read_message(msgspec.json.Decoder(messages.EraseRequest), b'{"versions": [{"rows": [1]}]}')
    assert caught.value.parameter == "versions"


@pytest.mark.parametrize("parameters", [None, 3])
def test_a_refusal_of_what_stands_between_is_told(parameters):
    assert CallError(422, {"title": "Refused", "parameters": parameters}).parameters == ()


def test_none_is_a_value_too():
    message = Given("templates", None) + " takes features."
    assert (str(message), ParameterError(message).value) == ("templates=None takes features.", None)
    assert in_options(message) == "--set templates=null takes features."
    assert messages.in_calls(message) == "templates=null takes features."


def remedies_in_the_sources():
    """Return the parameters that remedies name, and the learners."""
    named, learners = set(), set()
    for text in sources_with(r"\bRemedy\("):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Remedy":
                name, *value = [each.value for each in node.args if isinstance(each, ast.Constant)] or [None]
                named.add(name)
                learners |= set(value[:1]) if name == "learner" else set()
    return named - {None}, learners


def test_every_remedy_can_be_taken():
    """A parameter is an option, or a parameter of a learner; a learner can be named."""
    named, learners = remedies_in_the_sources()
    assert len(named) > 30
    assert learners <= set(registry.commands())
    of_learners = {name for each in registry.BUILT_IN for name in getattr(rb, each)._get_param_names()}
    no_options = {name for name in named if as_option(name).startswith("--set ")}
    assert no_options <= of_learners


def test_a_message_keeps_its_parts():
    mean = Remedy("missing", "mean")
    text = "use " + mean + " or " + Term("rows", "X")
    text = "note: " + text + "."
    assert text == "note: use missing='mean' or X."
    assert remedies_of(text) == (mean,) == remedies_of(pickle.loads(pickle.dumps(text)))
    assert in_options(join_messages("\n", ["a", text])) == "a\nnote: use --missing mean or X."
    assert list_ways(["do this"]) == "do this"
    assert remedies_of("use missing='mean'") == () == remedies_of(Message("use", " this"))
    with pytest.raises(TypeError, match="forget"):
        f"use {mean}"
    assert str(mean) == "missing='mean'"


def test_an_error_is_data():
    with pytest.raises(FormatError) as caught:
        rb.TableEncoder(missing="error").fit([{"age": 1.0}, {"age": None}])
    error = caught.value
    assert (error.code, error.row, error.column, error.file, error.line) == ("missing-value", 1, "age", None, None)
    assert [str(each) for each in error.remedies] == ["missing='zero'", "missing='mean'"]
    document = messages.RequestError.by(error).document()
    assert document["detail"] == "rows, row 1, column 'age': 'age' is missing; fill it in (NaN is no number)."
    assert (document["row"], document["column"]) == (1, "age")


def test_options_as_they_are_typed():
    assert as_option("ignore", ("size, cm", "it's")) == """--ignore '"size, cm"' --ignore 'it'"'"'s'"""
    assert as_option("na", ("a, b",)) == "--na 'a, b'"  # a word, not columns
    assert as_option("zero_based", False) == "--one-based"
    assert as_option("names") == "--name"
    assert as_option("penalty", "l2") == "--set penalty=l2"
    assert as_option("average", True) == "--set average=true"


def test_a_parameter_that_is_no_option_of_this_command(tmp_path, capsys):
    """Only `trace` has an option for stop_on_cycle."""
    from rosenblatt.cli.main import main

    command = [
        "train",
        "@iris",
        "-o",
        str(tmp_path / "m"),
        "--learner",
        "perceptron",
        "--set",
        "stop_on_cycle=true",
    ]
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "rosenblatt: --set stop_on_cycle=true proves that two classes cannot be separated" in said
    assert "Use --set stop_on_cycle=false and ask rosenblatt certify" in said
    assert main(["trace", "@iris", "--stop-on-cycle"]) == 2
    assert "Use --no-stop-on-cycle and ask rosenblatt certify" in capsys.readouterr().err


def test_errors_refuse_data_they_do_not_have():
    with pytest.raises(TypeError):
        ParameterError("no", place=3)
