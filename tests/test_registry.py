"""Learners declare themselves; one of another package is a learner like those of this one."""

import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from numba.extending import overload
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt import registry
from rosenblatt.cli.main import main
from rosenblatt.estimators._linear import perceptron_state
from rosenblatt.exceptions import ModelFileError, ParameterError
from rosenblatt.loops.rows import square
from rosenblatt.loops.visits import VERB, resized
from rosenblatt.registry import BUILT_IN, able, class_of, command, commands, declaration_of, defaults_of
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks

# A learner from outside the package, whole: a rule as a value, its arithmetic, and its estimator.


class NormalisedRule(NamedTuple):
    """A step divided by ‖x‖² + β, rounded down to a power of two, and at most `longest`."""

    eta: float = 1.0
    beta: float = 1.0
    margin: float = 0.0
    tie_plus: float = 1.0
    tie_minus: float = 1.0
    longest: float = 1.0


@overload(resized, **VERB)
def _normalised(rule, c, lead, X, i, machines):
    if rule.instance_class is not NormalisedRule:
        return None

    def resize(rule, c, lead, X, i, machines):
        size = machines * (square(X, i) + rule.beta)
        return c * min(rule.longest, math.ldexp(1.0, 1 - math.frexp(size)[1]) / 2.0 if size > 0.0 else 1.0)

    return resize


@rb.register
class NormalisedPerceptron(rb.Perceptron):
    """A perceptron whose steps are shorter on long rows."""

    _learner = replace(
        rb.Perceptron._learner,
        state=perceptron_state(NormalisedRule),
        commands={"normalised": {}, "normalised-wide": {"margin": 1.0}},
    )

    def __init__(self, *, longest=1.0, margin=0.0, average=False, order="shuffle", max_iter=1000, random_state=0,
                 multiclass="direct", trace="auto"):  # fmt: skip
        super().__init__(margin=margin, average=average, order=order, max_iter=max_iter,
                         random_state=random_state, multiclass=multiclass, trace=trace)  # fmt: skip
        self.longest = longest

    def _own_rule(self, rule):
        return NormalisedRule(*rule, longest=float(self.longest))


def textbook(X, y, passes, margin=0.0, longest=1.0):
    """Train in plain Python, in order, y = ±1."""
    w, b = [0.0] * len(X[0]), 0.0
    for _ in range(passes):
        for x, side in zip(X, y, strict=True):
            if side * (sum(a * c for a, c in zip(w, x, strict=True)) + b) <= margin:
                size = sum(a * a for a in x) + 1.0
                step = side * min(longest, 2.0 ** -math.frexp(size)[1])
                w, b = [a + step * c for a, c in zip(w, x, strict=True)], b + step
    return w, b


def rows(n=60, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(4 * rng.standard_normal((n, d))) / 4  # dyadic, so that sums are exact in any order
    return X, np.concatenate([np.arange(classes), rng.integers(classes, size=n - classes)])


@pytest.fixture
def trained():
    X, y = rows()
    return X, y, NormalisedPerceptron(order="cyclic", max_iter=3).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestNormalisedPerceptron:
    @pytest.mark.parametrize("table", [np.asarray, csr_array])
    @pytest.mark.parametrize("longest", [1.0, 0.125])
    def test_it_is_its_textbook(self, table, longest):
        X, y = rows()
        clf = NormalisedPerceptron(order="cyclic", max_iter=3, margin=0.5, longest=longest).fit(table(X), y)
        w, b = textbook(X.tolist(), (2 * y - 1).tolist(), 3, 0.5, longest)
        assert clf.coef_[0].tolist() == w
        assert clf.intercept_.tolist() == [b]
        plain = rb.Perceptron(order="cyclic", max_iter=3, margin=0.5).fit(X, y)
        assert not np.array_equal(plain.coef_, clf.coef_)

    def test_blocks_and_streams_leave_the_same_bits(self, trained):
        X, y, clf = trained
        blocks = NormalisedPerceptron(order="cyclic", max_iter=3).fit_blocks(MemoryBlocks(as_batch(X, y)))
        assert blocks.coef_.tobytes() == clf.coef_.tobytes()
        once = NormalisedPerceptron(order="cyclic", max_iter=1).fit(X, y)
        stream = NormalisedPerceptron().partial_fit(X[:9], y[:9])
        for x, label in zip(X[9:], y[9:], strict=True):
            stream.learn_one(x, label)
        assert stream.coef_.tobytes() == once.coef_.tobytes()

    @pytest.mark.parametrize("classes", [2, 3])
    @pytest.mark.parametrize("multiclass", ["direct", "ovr"])
    def test_its_trace_replays(self, classes, multiclass):
        X, y = rows(classes=classes)
        clf = NormalisedPerceptron(max_iter=4, multiclass=multiclass).fit(X, y)
        assert len(set(clf.trace_.step.tolist())) > 1
        assert np.atleast_2d(clf.trace_.replay(X, y).coef).tobytes() == clf.coef_.tobytes()

    def test_large_rows_are_screened_to_the_same_bits(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20_000, 32))
        y = (X[:, 0] + 0.02 * rng.standard_normal(len(X)) > 0).astype(int)
        clf = NormalisedPerceptron(order="cyclic", max_iter=6, trace="mistakes").fit(X, y)
        stream = NormalisedPerceptron().partial_fit(X, y)
        for _ in range(5):
            stream.partial_fit(X, y)
        assert clf.coef_.tobytes() == stream.coef_.tobytes()

    def test_a_file_keeps_it_and_its_stream(self, trained, tmp_path):
        X, y, clf = trained
        rb.save(clf, tmp_path / "fit")
        loaded = rb.load(tmp_path / "fit")
        assert type(loaded) is NormalisedPerceptron
        assert loaded.coef_.tobytes() == clf.coef_.tobytes()
        stream = NormalisedPerceptron(longest=0.5).partial_fit(X[:30], y[:30])
        rb.save(stream, tmp_path / "stream")
        again = rb.load(tmp_path / "stream")
        assert again._stream.rule == NormalisedRule(longest=0.5)
        assert again.partial_fit(X, y).coef_.tobytes() == stream.partial_fit(X, y).coef_.tobytes()

    @pytest.mark.parametrize("name", ["normalised", "normalised-wide"])
    def test_from_the_command_line(self, name, tmp_path, monkeypatch, capfd):
        X, y = rows(classes=3)
        monkeypatch.chdir(tmp_path)
        np.savetxt("t.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,label", comments="")
        assert (
            main(["train", "t.csv", "-o", "m", "--learner", name, "--set", "longest=0.25", "--no-scale", "-q"])
            == 0
        )
        expected = command(name)[0](longest=0.25, **command(name)[1]).fit(X, y)
        assert np.array_equal(rb.load("m")[-1].coef_, expected.coef_)
        capfd.readouterr()
        assert main(["predict", "m", "t.csv", "-q"]) == 0
        assert capfd.readouterr().out.split() == [str(each) for each in expected.predict(X)]
        assert main(["evaluate", "m", "t.csv", "-q"]) == 0
        assert main(["inspect", "m"]) == 0
        assert capfd.readouterr().out.count("NormalisedPerceptron") == 1
        assert main(["train", "--help"]) == 0
        assert "normalised-wide" in re.sub(r"\s", "", capfd.readouterr().out)

    @pytest.mark.slow
    def test_every_check(self):
        outcomes = rb.testing.check_estimator(NormalisedPerceptron(longest=0.5))
        assert [outcome for outcome in outcomes if outcome.skipped] == []


# The registry


def test_the_index_is_what_the_classes_declare():
    for name, entry in BUILT_IN.items():
        cls = class_of(name)
        assert (cls.__name__, cls.__module__) == (name, f"rosenblatt.{entry.module}")
        assert "_learner" in vars(cls), "a class declares itself, not by its base class"
        assert declaration_of(cls).commands is entry.commands
        assert declaration_of(cls).abilities is entry.abilities
        assert getattr(rb, name) is cls


def test_learners_of_other_packages_are_listed_by_what_they_can():
    assert "normalised" in able("blocks")
    assert "normalised" in able("mixing")
    assert "lifted" not in able("blocks")


def test_names_are_listed_without_importing_much():
    source = (
        "import sys; from rosenblatt.cli.main import main; main(['evaluate', '--help']);"
        "assert 'sklearn' not in sys.modules and 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    assert commands()[:3] == ["averaged", "perceptron", "voted"]


def test_a_taken_name_is_refused():
    with pytest.raises(ParameterError, match="another learner has this name"):

        @rb.register
        class Perceptron(rb.Perceptron):
            _learner = replace(rb.Perceptron._learner, commands={})

    own = {"_learner": replace(rb.Perceptron._learner, commands={}), "__qualname__": "Elsewhere"}
    taken = type("NormalisedPerceptron", (rb.Perceptron,), own)
    with pytest.raises(ParameterError, match="another learner has this name"):
        rb.register(taken)
    with pytest.raises(ParameterError, match="'voted' is the command name of VotedPerceptron"):

        @rb.register
        class Other(rb.Perceptron):
            _learner = replace(rb.Perceptron._learner, commands={"voted": {}})

    with pytest.raises(ParameterError, match="does not declare a class attribute _learner"):

        @rb.register
        class Silent(rb.Perceptron):
            pass

    assert class_of("NormalisedPerceptron") is NormalisedPerceptron
    assert not registry.is_known("Other")


def test_the_same_class_defined_again_replaces_the_first():
    def define():
        @rb.register
        class Redefined(rb.Perceptron):
            _learner = replace(rb.Perceptron._learner, commands={"redefined": {}})

        return Redefined

    first, second = define(), define()
    assert class_of("Redefined") is second is not first


def test_a_file_of_an_unregistered_learner_is_refused(tmp_path, monkeypatch):
    X, y = rows()
    clf = NormalisedPerceptron(max_iter=1)
    with pytest.warns(match="max_iter"):
        rb.save(clf.fit(X, y), tmp_path / "m")
    monkeypatch.delitem(registry._registered, "NormalisedPerceptron")
    with pytest.raises(ModelFileError, match=r"'NormalisedPerceptron', but no learner .* rosenblatt\.register"):
        rb.load(tmp_path / "m")
    with pytest.raises(ParameterError, match="not a registered learner"):
        rb.save(clf, tmp_path / "other")


PLUGIN = """
from dataclasses import replace
import rosenblatt as rb


class Cautious(rb.Perceptron):
    _learner = replace(rb.Perceptron._learner, commands={"cautious": {"margin": 1.0}})
"""


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Iterator[None]:
    """Give an installed distribution with one learner, and one that cannot be imported."""
    (tmp_path / "cautious_learner.py").write_text(PLUGIN)
    info = tmp_path / "cautious-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cautious\nVersion: 1.0\n")
    points = "cautious = cautious_learner:Cautious\nbroken = no_such_module:Learner\n"
    (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{points}")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    registry._registered.pop("Cautious", None)
    sys.modules.pop("cautious_learner", None)


def test_an_entry_point_is_found(installed, tmp_path, monkeypatch):
    assert "cautious" in commands()
    assert "cautious_learner" not in sys.modules
    with pytest.warns(match=r"The learner broken \(no_such_module:Learner\).*ModuleNotFoundError"):
        cls, fixed = command("cautious")
    assert (cls.__name__, fixed) == ("Cautious", {"margin": 1.0})
    rb.save(cls(**fixed).fit([[0.0], [1.0]], [0, 1]), tmp_path / "m")
    monkeypatch.delitem(registry._registered, "Cautious")
    with pytest.warns(match="The learner broken"):
        assert type(rb.load(tmp_path / "m")) is cls
    with pytest.warns(match="The learner broken"), pytest.raises(ParameterError, match="is not a learner"):
        command("unheard-of")


def test_defaults_are_those_of_the_class():
    for name in ("Perceptron", "PassiveAggressiveClassifier"):
        assert dict(defaults_of(name)) == class_of(name)().get_params(deep=False)


def test_a_command_trains_what_its_name_says():
    made = {}
    for name in (each for owner in BUILT_IN.values() for each in owner.commands):
        cls, parameters = command(name)
        made[name] = cls(**parameters).get_params(deep=False)
        assert made[name].get("average", False) is name.startswith("averaged"), name
    assert {name: made[name]["C"] == math.inf for name in ("pa", "pa1", "pa2")} == {
        "pa": True,
        "pa1": False,
        "pa2": False,
    }
    assert [made[name]["loss"] for name in ("pa1", "pa2")] == ["hinge", "squared_hinge"]
    assert [made[name]["rule"] for name in ("arow", "scw")] == ["arow", "scw"]
