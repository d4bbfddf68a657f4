"""Parameters are declared once: signature, checks, docstring and options follow from the declaration."""

import inspect
import json
import math
import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.cli.options import SHARED
from rosenblatt.estimators.calibrated import CalibratedModel
from rosenblatt.exceptions import ParameterError
from rosenblatt.parameters import (
    Declared,
    PerceptronParameters,
    fixed,
    learned,
    like,
    or_infinite,
    param,
    positional,
)
from rosenblatt.registry import BUILT_IN, class_of
from tests.golden.make import SIGNATURES, signature_of

DECLARED = [*BUILT_IN, "CalibratedModel", "TableEncoder"]


def declared_class(name):
    return class_of(name) if name in BUILT_IN else {"CalibratedModel": CalibratedModel}.get(name, rb.TableEncoder)


class Shape(Declared):
    """A shape."""

    sides: int = positional(default=3, kw_only=False, doc="How many sides.")
    size: float = param(1.0, "How large. Not small.", above=0)
    colour: str = param("red", "The colour.", one_of=("red", "blue"))
    filled: bool = param(False, "Whether it is filled.")
    name: str | None = param(None, "Its name.")
    area_: float = learned()


class Square(Shape):
    """A square.

    Attributes
    ----------
    area_ : float
        Its area.
    """

    round: bool = param(True, "Whether its corners are round.")
    sides: int = fixed(4)
    size: float = param(2.0, more="It is the length of a side.")
    border: float | None = param(None, "The border.", least=0, below=9)


# What a class makes of its fields


def test_a_constructor_stores_its_arguments_and_nothing_else():
    name = "".join(["a", "b"])
    shape = Shape(5, name=name)
    assert vars(shape) == {"sides": 5, "size": 1.0, "colour": "red", "filled": False, "name": "ab"}
    assert shape.name is name
    assert Shape(sides=5).sides == 5
    with pytest.raises(TypeError, match=r"takes from 1 to 2 positional arguments"):
        Shape(5, 1.0)
    with pytest.raises(TypeError, match=r"Square\.__init__\(\) got an unexpected keyword argument 'sise'"):
        Square(sise=1.0)


def test_a_subclass_takes_its_own_parameters_first_and_not_those_it_fixed():
    assert list(inspect.signature(Square).parameters) == ["round", "border", "size", "colour", "filled", "name"]
    assert (Square().sides, Square().size) == (4, 2.0)
    assert not hasattr(Shape, "size"), "a class has no parameter, only its objects do"
    assert not hasattr(Square, "area_")


def test_a_signature_can_be_given_its_order():
    class Ordered(Shape, signature="name size sides filled colour"):
        sides: int = param(3)

    assert list(inspect.signature(Ordered).parameters) == ["name", "size", "sides", "filled", "colour"]
    with pytest.raises(TypeError, match="Wrong and its fields differ: filled, sise, size"):

        class Wrong(Shape, signature="name sise sides colour"):
            pass


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": 0}, r"size=0 must be a finite number above 0\."),
        ({"size": math.inf}, "size=inf must be a finite number"),
        ({"size": True}, "size=True must be a finite number"),
        ({"colour": "green"}, r"colour='green' is not one of 'red', 'blue'\."),
        ({"filled": 1}, r"filled=1 must be True or False\."),
        ({"border": -1}, r"border=-1 must be a finite number of at least 0 and below 9\."),
        ({"border": 9.0}, "border=9.0 must be"),
    ],
)
def test_a_condition_holds_for_every_value(wrong, message):
    Square(size=np.float32(1.0), filled=np.bool_(True), border=0, colour=np.str_("blue"))._check_parameters()
    with pytest.raises(ParameterError, match=message):
        Square(**wrong)._check_parameters()


def test_what_is_not_said_again_is_as_before():
    again = Square._declared["size"]
    assert (again.doc, again.kind) == ("How large. Not small. It is the length of a side.", "float")
    with pytest.raises(ParameterError, match="above 0"):
        Square(size=-1)._check_parameters()

    class Borrower(Declared):
        colour: str = like(Shape, "blue")
        size: float = like(Shape, doc="Another size.", check=or_infinite(lambda name, value: 1 / 0))

    Borrower(size=math.inf)._check_parameters()
    with pytest.raises(ZeroDivisionError):
        Borrower()._check_parameters()
    assert Borrower().colour == "blue"
    assert Borrower._declared["size"].doc == "Another size."


def test_the_docstring_has_every_parameter_before_its_other_sections():
    assert inspect.getdoc(Square).split("\n\n")[1].splitlines()[:6] == [
        "Parameters",
        "----------",
        "round : bool",
        "    Whether its corners are round.",
        "border : float or None",
        "    The border.",
    ]
    assert inspect.getdoc(Shape) == "A shape."


def test_users_may_write_constructors_of_their_own():
    class Mine(rb.Perceptron):
        def __init__(self, patience=3, margin=0.0):
            super().__init__(margin=margin, n_iter_no_change=patience)
            self.patience = patience

    assert Mine(margin=1.0).get_params() == {"margin": 1.0, "patience": 3}
    assert clone(Mine(5)).fit([[0.0], [1.0]], [0, 1]).patience == 5
    with pytest.raises(ParameterError, match="margin=-1"):
        Mine(margin=-1).fit([[0.0], [1.0]], [0, 1])


def test_users_may_declare_parameters_of_their_own():
    class Mine(rb.Perceptron):
        patience: int = param(3, "How long to wait.")

    clf = Mine(patience=0, eta0=0.5)
    assert repr(clf) == "Mine(eta0=0.5, patience=0)"
    assert clone(clf).get_params()["patience"] == 0
    with pytest.raises(ParameterError, match=r"patience=0 must be an integer of at least 1\."):
        clf.fit([[0.0], [1.0]], [0, 1])


# The estimators


@pytest.mark.parametrize("name", DECLARED)
def test_signatures_stay_as_they_are(name):
    kept = json.loads(SIGNATURES.read_text("utf-8"))
    assert name in kept, "run python -m tests.golden.make"
    assert signature_of(declared_class(name)) == kept[name]


@pytest.mark.parametrize("name", DECLARED)
def test_every_parameter_is_declared_and_documented(name):
    cls = declared_class(name)
    declared = cls._declared
    assert list(declared) == list(inspect.signature(cls).parameters)
    section = re.search(r"Parameters\n-+\n(.*?)\n\n(?=\S)", inspect.getdoc(cls), re.DOTALL)[1]
    assert re.findall(r"^(\w+) : \S", section, re.MULTILINE) == list(declared)
    assert all(each.doc.endswith(".") and each.kind not in ("", "Any") for each in declared.values())


@pytest.mark.parametrize("name", BUILT_IN)
def test_parameters_are_stored_as_they_are(name):
    cls = class_of(name)
    marks = {each: object() for each in cls._declared}
    made = cls(**marks)
    assert all(getattr(made, each) is mark for each, mark in marks.items())
    assert made.get_params(deep=False) == marks
    default = cls()
    assert pickle.loads(pickle.dumps(default)).get_params() == default.get_params()
    assert issubclass(cls, BaseEstimator)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_default_can_be_used(name):
    class_of(name)()._check_parameters()


# The command line


def test_options_follow_from_the_declaration(capsys):
    assert main(["train", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name in SHARED:
        assert PerceptronParameters._declared[name].help in text
    assert main(["train", "@or", "-o", "m", "--max-iter", "0"]) == 2
    assert main(["train", "@or", "-o", "m", "--eta0", "0"]) == 2
    assert main(["train", "@or", "-o", "m", "--multiclass", "none"]) == 2
    assert "'direct', 'ovr', 'ovo'" in capsys.readouterr().err
