"""Every sentence of the card "This step" is true: recomputed here, for every learner that the lab serves."""

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt import registry
from rosenblatt.estimators._fitting import make_rule
from rosenblatt.exceptions import InputError
from rosenblatt.lab.questions import RunMessage
from rosenblatt.lab.replies import Answers
from rosenblatt.loops.reference import share_of_step, sides, step_of
from rosenblatt.loops.rules import Passive, margin_of
from rosenblatt.tasks.training import parameters_of
from tests.lab.lab_engine import CHROMIUM, NODE, WEB, Engine, needs_browser, needs_node

pytestmark = [
    pytest.mark.slow,
    needs_node,
    pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning"),
]
SIX, XOR, SPAM = (
    load() for load in (rb.datasets.load_six_points, rb.datasets.load_xor, rb.datasets.load_spam_table)
)
DATA = {
    "six points": (*SIX, ["-1", "1"]),
    "XOR": (*XOR, ["-1", "1"]),
    "five features": (*SPAM, ["mail", "spam"]),
    "three against two": (SIX[0][:5], SIX[1][:5], ["-1", "1"]),
    "three classes": (SIX[0], np.array([0, 1, 2, 0, 1, 2]), ["a", "b", "c"]),
    "three apart": (
        np.array([[0, 0], [0, 1], [4, 0], [4, 1], [2, 5], [2, 6]], float),
        np.array([0, 0, 1, 1, 2, 2]),
        ["green", "red", "blue"],
    ),
}
SERVED = [name for name in registry.commands() if name not in registry.able("numbers")]
STEPPED = {"averaged", "averaged-pa1", "perceptron", "pocket", "lifted", "pa", "pa1", "pa2"}
"""The learners whose runs the page can step through; the pocket's only where its last line is its best."""
SETTINGS = [
    ("perceptron", ["order=cyclic"]),
    ("perceptron", ["order=cyclic", "tie=half", "eta0=0.3"]),
    ("perceptron", ["order=cyclic", "tie=correct", "margin=0.5", "bias=radius"]),
    ("perceptron", ["order=cyclic", "tie=sign", "zero=1"]),
    ("perceptron", ["order=cyclic", "margin=[0.25, 1.5]", "init=first"]),
    ("perceptron", ["order=cyclic", "multiclass=ovr", "shuffle=false"]),
    ("perceptron", ["multiclass=ovo"]),
    ("perceptron", ["order=cyclic", "multiclass=ovo", "max_iter=3"]),
    ("perceptron", ["order=cyclic", "class_weight=balanced", "tie=half"]),
    ("pa1", ["C=0.1", "class_weight=balanced", "order=cyclic"]),
    ("pa2", ["C=0.1", "class_weight=balanced"]),
    ("averaged", ["bias=null", "order=cyclic"]),
    ("pa", ["order=cyclic", "eta0=0.5"]),
    ("pa", ["order=cyclic", "bias=null", "margin=2"]),
    ("pa1", ["C=0.05", "order=cyclic", "bias=radius"]),
    ("pa1", ["C=0.1", "multiclass=ovr", "order=cyclic"]),
    ("pa2", ["C=0.1", "multiclass=ovo", "order=cyclic"]),
    ("lifted", ["order=cyclic", "a=0.3"]),
    ("lifted", ["a=0.9", "bias=null"]),
]
N = r"−?[\d.]+(?:e[+−]\d+)?"
T = rf"(?:{N}|\({N}\))"
VECTOR = rf"\({N}(?:, {N})*(?:, …)?\)"


def counted(wrong, n):
    """Return the sentence that tells how many points are wrong."""
    return f"{wrong} of {n} points {'is' if wrong == 1 else 'are'} wrong."


def value(text):
    return float(text.strip("()").replace("−", "-"))


def numbers(text):
    return [value(each) for each in re.findall(N, text)]


def require_shown(sign, text, exact, digits=6):
    """A number that is called equal is equal; one that is called near is so in all its digits."""
    shown = value(text)
    if sign == "=":
        assert shown == exact, f"{text} is not {exact!r}"
    near = 5.001 * 10.0 ** -(4 if "e" in text else digits)
    assert abs(shown - exact) <= near * abs(exact) + 1e-14, f"{text} is not near {exact!r}"


def require_vector(text, exact, digits):
    shown = numbers(text)
    assert len(shown) == (5 if len(exact) > 7 else len(exact))
    for each, wanted in zip(shown, exact, strict=False):
        require_shown("≈", repr(each).replace("-", "−"), wanted, min(digits, 4 if "e" in repr(each) else digits))


@dataclass
class Facts:
    """One machine at one visit, computed here: what the rule compares, and how far it steps."""

    row: int
    side: int
    z: float
    limit: float
    share: float
    step: float
    weight: float
    machine: int = 0
    f: float = 0.0
    own: float = 0.0


class Audit:
    """The run of a model, computed anew from its start, to compare sentences with."""

    def __init__(self, model: Any, document: dict[str, Any], learner: str) -> None:
        self.model, self.document, self.learner = model, document, learner
        data, self.order = document["data"], document["order"]
        self.X, self.y, self.labels = np.array(data["X"]), data["y"], [str(each) for each in data["labels"]]
        self.scheme = document.get("scheme", "binary")
        start = document["start"]
        self.W = np.column_stack([np.atleast_2d(np.array(start["w"], float)), np.ravel(start["b"])])
        self.lifted = learner == "lifted"
        self.rule = make_rule(model, lambda: float((self.X**2).sum(axis=1).max()), model.trace_)[0]
        assert self.rule.beta == document["rule"]["beta"]
        self.own = np.zeros(len(self.X))
        self.square = model.a**2 if self.lifted else None
        counts = np.unique(self.y, return_counts=True)[1]
        balanced = getattr(model, "class_weight", None) == "balanced"
        self.weights = (len(self.y) / (len(counts) * counts) if balanced else np.ones(len(counts))).tolist()
        k = len(self.labels)
        self.sides = None if self.scheme in ("binary", "direct") else sides(self.scheme, k)
        self.updates = list(
            zip(*(document["mistakes"][name] for name in ("visit", "index", "score", "step")), strict=True)
        )
        self.machines = document["mistakes"].get("machine", [0] * len(self.updates))

    def scores(self, row):
        """Return the score of each machine, summed from the first feature to the last as a textbook does."""
        found = []
        for w in self.W.tolist():
            f = 0.0
            for w_j, x_j in zip(w[:-1], self.X[row].tolist(), strict=True):
                f += w_j * x_j
            found.append(f + w[-1])
        return found

    def judge(self, row, side, f, machine):
        """Judge one machine by the textbook; f is y·f where two classes are compared."""
        x = self.X[row].tolist()
        direct = self.scheme == "direct"
        signed = side * f if direct else f
        if self.lifted:
            g = self.square * f + (1 - self.square) * self.own[row]
            return Facts(
                row, side, side * g, 0.0, float(side * g <= 0), float(side * g <= 0), 1.0, 0, f, self.own[row]
            )
        weight = self.weights[self.y[row] if self.scheme != "binary" else int(side > 0)]
        step = step_of(self.rule, side, signed, x, weight, 2 if direct else 1)
        share = share_of_step(self.rule, side, signed)
        return Facts(row, side, side * signed, margin_of(self.rule, side), share, step, weight, machine, f)

    def take(self, k):
        """Take update k."""
        _, row, _, step = self.updates[k]
        machine = self.machines[k]
        x = np.append(self.X[row], self.rule.beta)
        if self.scheme == "binary":
            moved = [(0, self.y[row])]
        elif self.scheme == "direct":
            moved = [(self.y[row], 1), (machine, -1)]
        else:
            moved = [(machine, self.sides[machine][self.y[row]])]
        for m, sign in moved:
            self.W[m] = [w + step * sign * each for w, each in zip(self.W[m], x, strict=True)]
        if self.lifted:
            self.own[row] += self.y[row]
        return [(m, sign * step) for m, sign in moved]

    def side_of(self, row, machine):
        if self.scheme == "binary":
            return self.y[row]
        if self.scheme == "direct":
            return 1 if self.y[row] > machine else -1
        return self.sides[machine][self.y[row]]

    def visits(self):
        """Return the row and the updates of each position of the page."""
        if self.order is None:
            return [(row, [k]) for k, (_, row, _, _) in enumerate(self.updates)]
        found, t, k = [], self.document["start"]["visits"], 0
        for p, count in enumerate(self.document["passes"]["visits"]):
            rows = self.order["passes"][0 if self.order["repeat"] else p]
            for row in rows[:count]:
                made = []
                while k < len(self.updates) and self.updates[k][0] == t:
                    made.append(k)
                    k += 1
                found.append((row, made))
                t += 1
        return found

    def require_steps(self, steps):
        """Require every line of every position to be true."""
        visits = self.visits()
        assert len(steps) == len(visits)
        for step, (row, made) in zip(steps, visits, strict=True):
            assert step["row"] == row
            before, scores = self.W.copy(), self.scores(row)
            facts = []
            for k in made:
                recorded, side = self.updates[k][2], self.side_of(row, self.machines[k])
                fact = self.judge(row, side, recorded, self.machines[k])
                assert fact.step > 0, "the rule makes no such update"
                np.testing.assert_allclose(fact.step, self.updates[k][3], rtol=1e-9)
                computed = (
                    scores[self.y[row]] - scores[self.machines[k]]
                    if self.scheme == "direct"
                    else scores[self.machines[k]]
                )
                np.testing.assert_allclose(recorded, computed, rtol=1e-9, atol=1e-12)
                facts.append(fact)
            if not made:
                facts = self.unchanged(row, scores)
            moves = [move for k in made for move in self.take(k)]
            self.require_lines(step["lines"], row, facts, bool(made), moves, before, scores)

    def unchanged(self, row, scores):
        if self.scheme == "binary":
            return [self.judge(row, self.y[row], scores[0], 0)]
        if self.scheme == "direct":
            code = self.y[row]
            rival = max((c for c in range(len(scores)) if c != code), key=lambda c: (scores[c], -c))
            return [self.judge(row, 1 if code > rival else -1, scores[code] - scores[rival], rival)]
        return []

    def require_lines(self, lines, row, facts, changed, moves, before, scores):
        names = [name for name, _ in lines]
        want = ["scores"] if self.scheme != "binary" else ["score", *(["own", "lifted"] if self.lifted else [])]
        passive = ["loss", "step"] if isinstance(self.rule, Passive) and changed else []
        still = not self.X[row].any() and self.rule.beta == 0
        passive = passive[still:]  # no loss is shown where no step can help
        if not passive and changed and self.weights[0 if self.scheme != "binary" else int(self.y[row] > 0)] != 1:
            passive = ["step"]
        if self.sides is None or changed:
            want += [each for _ in facts for each in ["test", *passive]]
        elif self.order is not None:
            want += ["test"]
        mine = len(scores) if self.sides is None else sum(1 for each in self.sides if each[self.y[row]])
        if self.sides is not None and changed and self.order is not None and mine > len(facts):
            want += ["others"]
        want += ["update"] * len(moves) + (
            ["bias"] if self.scheme == "binary" and changed and self.rule.beta else []
        )
        want += ["weights"] if self.scheme == "binary" and not changed else []
        assert names == want, (names, want)
        for name, sort in (("test", self.require_test), ("loss", self.require_loss), ("step", self.require_step)):
            said = [text for each, text in lines if each == name]
            if name == "test" and self.sides is not None and not changed:
                assert said == [f"all {mine} need no change"]
                assert all(
                    step_of(self.rule, s[self.y[row]], f, self.X[row].tolist()) == 0
                    for s, f in zip(self.sides, scores, strict=True)
                    if s[self.y[row]]
                )
                continue
            for text, fact in zip(said, facts if said else [], strict=True):
                sort(text, fact, changed)
        texts = dict(lines)
        if "others" in texts:
            rest = mine - len(facts)
            assert texts["others"] == (
                "the other one needs no change" if rest == 1 else f"the other {rest} need no change"
            )
        if self.scheme == "binary":
            self.require_score(texts["score"], row, before[0], facts[0].f)
            if self.lifted:
                self.require_lift(texts, facts[0])
        else:
            said = texts["scores"].split("; ")
            machines = [m for m in range(len(scores)) if self.sides is None or self.sides[m][self.y[row]]]
            for text, m in zip(said, machines, strict=True):
                found = re.fullmatch(rf"f\((.+)\) ([=≈]) ({N})", text)
                assert found[1] == self.machine(m)
                require_shown(found[2], found[3], scores[m])
        for text, (m, c) in zip([text for name, text in lines if name == "update"], moves, strict=True):
            self.require_update(text, row, m, c, before[m], changed)
        if "bias" in texts:
            found = re.fullmatch(rf"b ← (.*) ([=≈]) ({N})", texts["bias"])
            require_shown(found[2], found[3], self.W[0][-1])
            said, step = numbers(found[1]), facts[0].step
            for each, wanted in zip(
                said,
                [before[0][-1], step, self.y[row], *([] if self.rule.beta == 1 else [self.rule.beta])],
                strict=True,
            ):
                require_shown("≈", repr(each).replace("-", "−"), wanted)
        if "weights" in texts:
            found = re.fullmatch(rf"w [=≈] ({VECTOR})(?:, b ([=≈]) ({N}))?", texts["weights"])
            require_vector(found[1], self.W[0][:-1], 6)

    def machine(self, m):
        if self.scheme != "ovo":
            return self.labels[m].replace("-", "−")
        low, high = (self.sides[m].index(side) for side in (-1, 1))
        return f"{self.labels[high]} against {self.labels[low]}"

    def require_score(self, text, row, w, f):
        found = re.fullmatch(rf"f ([=≈]) (.*) ([=≈]) ({N})", text)
        require_shown(found[3], found[4], f)
        said = numbers(found[2])
        wanted = [each for j, x in enumerate(self.X[row]) for each in (w[j], x)]
        wanted += [w[-1]] if self.rule.beta > 0 else []
        assert re.fullmatch(rf"{T}·{T}(?: \+ {T}·{T})*(?: \+ {T})?", found[2])
        for each, exact in zip(said, wanted, strict=True):
            require_shown(found[1], repr(each).replace("-", "−"), exact)

    def require_lift(self, texts, fact):
        assert texts["own"] == f"v = {fact.own:g}, the sum of y over the updates of this point".replace("-", "−")
        found = re.fullmatch(
            rf"g = a²·f \+ \(1 − a²\)·v ([=≈]) ({N})·({T}) \+ ({N})·({T}) ([=≈]) ({N})", texts["lifted"]
        )
        for place, exact in ((2, self.square), (3, fact.f), (4, 1 - self.square), (5, fact.own)):
            require_shown(found[1], found[place], exact)
        require_shown(found[6], found[7], fact.side * fact.z)

    def require_test(self, text, fact, changed):
        lead = "y·g" if self.lifted else "y·f"
        if self.scheme == "direct":
            lead = f"f({self.machine(self.y[fact.row])}) − f({self.machine(fact.machine)})"
        elif self.scheme != "binary":
            lead = f"{self.machine(fact.machine)}: y·f"
        found = re.fullmatch(rf"{re.escape(lead)} ([=≈]) ({N}) ([<=>]) ({N}) (.*)", text)
        assert found, text
        require_shown(found[1], found[2], fact.z)
        require_shown("=", found[4], fact.limit)
        sign = "<" if fact.z < fact.limit else ">" if fact.z > fact.limit else "="
        assert found[3] == sign, text
        said, limit = value(found[2]), value(found[4])
        assert {"<": said < limit, ">": said > limit, "=": said == limit}[sign], "what is printed is false"
        assert found[5] == self.words(fact, sign), text
        assert changed == (fact.step > 0)

    def words(self, fact, sign):
        if isinstance(self.rule, Passive):
            if sign != "<":
                return "it has its margin: nothing changes"
            return "mistake" if fact.z <= 0 else "right, but short of its margin"
        if sign == ">":
            return "right: nothing changes"
        if sign == "<":
            return "mistake" if fact.z <= 0 else "right, but short of its margin: counts as a mistake"
        if fact.share == 0:
            return "a tie counts as right: nothing changes"
        return "a tie counts as a mistake" if fact.share == 1 else "a tie: half a step"

    def require_loss(self, text, fact, changed):
        found = re.fullmatch(rf"({N}) − ({T}) ([=≈]) ({N})", text)
        require_shown("=", found[1], fact.limit)
        require_shown("≈", found[2].strip("()"), fact.z)
        require_shown(found[3], found[4], fact.limit - fact.z)
        assert fact.limit > fact.z

    def require_step(self, text, fact, changed):
        """The formula is that of the rule, and so are its numbers."""
        rule, machines = self.rule, 2 if self.scheme == "direct" else 1
        if not isinstance(rule, Passive):
            names = "η·weight" if fact.share == 1 else "η·share·weight"
            found = re.fullmatch(rf"{names} ([=≈]) ({N}(?:·{N})+) ([=≈]) ({N})", text)
            wanted = [rule.eta, *([] if fact.share == 1 else [fact.share]), fact.weight]
            for each, exact in zip(numbers(found[2]), wanted, strict=True):
                require_shown(found[1], repr(each), exact)
            require_shown(found[3], found[4], fact.step)
            return
        if not self.X[fact.row].any() and rule.beta == 0:
            assert text == "no step moves the weights: x is zero, and there is no bias"
            return
        bias = "" if rule.beta == 0 else rf" \+ ({N})"
        soft = rf" \+ ({N})" if rule.soft else ""
        inner = rf"2·\(‖x‖²{bias}\){soft}" if machines == 2 else rf"‖x‖²{bias}{soft}"
        eta = "" if rule.eta == 1 else "η·"
        limited = np.isfinite(rule.most)
        formula = (
            rf"min\({'C' if fact.weight == 1 else 'weight·C'}, loss / \({inner}\)\)"
            if limited
            else rf"loss / \({inner}\)"
        )
        numbers_ = rf"min\(({N}), ({N}) / ({N})\)" if limited else rf"({N}) / ({N})"
        front = "" if rule.eta == 1 else rf"({N})·"
        found = re.fullmatch(rf"{eta}τ = {eta}{formula} ([=≈]) {front}{numbers_} ([=≈]) ({N})", text)
        assert found, text
        square = float((self.X[fact.row] ** 2).sum())
        soft_m = rule.soft / fact.weight
        wanted = [each for each in (rule.beta, soft_m) if each]
        wanted += [None, *([] if rule.eta == 1 else [rule.eta]), *([rule.most * fact.weight] if limited else [])]
        wanted += [fact.limit - fact.z, machines * (square + rule.beta) + soft_m, None, fact.step]
        sign = "≈"
        for group, exact in zip(found.groups(), wanted, strict=True):
            if exact is None:
                sign = group
            else:
                require_shown(sign, group, exact)

    def require_update(self, text, row, m, c, before, changed):
        x, after = self.X[row], self.W[m]
        if self.scheme == "binary":
            found = re.fullmatch(rf"w ← ({VECTOR}) \+ ({T})·({T})·({VECTOR}) ([=≈]) ({VECTOR})", text)
            require_shown("≈", found[2], abs(c))
            assert value(found[3]) == self.y[row]
            vectors = (found[1], before[:-1], 4), (found[4], x, 4), (found[6], after[:-1], 6)
        else:
            found = re.fullmatch(
                rf"w\[(.+)\] ← ({VECTOR}) ([+−]) ({N})·({VECTOR}) ([=≈]) ({VECTOR})(?:, b ([=≈]) ({N}))?", text
            )
            assert found[1] == self.machine(m)
            assert (found[3] == "+") == (c > 0)
            require_shown("≈", found[4], abs(c))
            vectors = (found[2], before[:-1], 4), (found[5], x, 4), (found[7], after[:-1], 6)
            assert (found[9] is not None) == (self.rule.beta > 0)
            if found[9]:
                require_shown(found[8], found[9], after[-1])
        for said, exact, digits in vectors:
            require_vector(said, exact, digits)
        sign = found[5 if self.scheme == "binary" else 6]
        if sign == "=" and len(x) <= 7:
            assert numbers(vectors[2][0]) == list(after[:-1])


def fit(learner, settings, X, y):
    cls, fixed = registry.command(learner)
    state = {"random_state": 0} if "random_state" in cls().get_params() else {}
    return cls(**state | dict(fixed) | parameters_of(settings)).fit(X, y)


def ask(learner, settings, X, y, labels):
    points = {"X": X.tolist(), "y": np.asarray(y).astype(int).tolist(), "labels": labels}
    return Answers((), {}).answer(RunMessage(id=1, **points, learner=learner, settings=settings))


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    yield engine
    engine.close()


def audit(engine, learner, settings, data):
    """Return what the page says of a run, after requiring that it is true; None where there is no run."""
    X, y, labels = DATA[data]
    try:
        model = fit(learner, settings, X, y)
    except (InputError, ValueError) as error:
        with pytest.raises(type(error)):
            ask(learner, settings, X, y, labels)
        return None
    reply = ask(learner, settings, X, y, labels)
    if "document" not in reply:
        wrong = int(np.sum(model.predict(X) != y))
        assert reply["outcome"]["lines"][0] == counted(wrong, len(y))
        return None
    said = engine.ask(do="steps", document=reply["document"])
    assert "error" not in said, said
    passive = learner in {"averaged-pa1", "pa", "pa1", "pa2"}
    assert said["kind"] == ("passive" if passive else "lifted" if learner == "lifted" else "perceptron")
    assert said["noun"] == ("update" if passive else "mistake")
    if passive and not (
        len(labels) > 2 and model.multiclass != "direct"
    ):  # there, visits are counted, not machines
        assert said["wrong"] == model.n_mistakes_
    Audit(model, reply["document"], learner).require_steps(said["steps"])
    return said


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("learner", SERVED)
def test_every_sentence_is_true(engine, learner, data):
    said = audit(engine, learner, [], data)
    several = len(DATA[data][2]) > 2
    if learner == "pocket":
        assert said is None or said["kind"] == "perceptron"
    else:
        assert (said is not None) == (learner in STEPPED and not (learner == "lifted" and several))
    if said is not None:
        assert said["bound"] == (learner in {"averaged", "perceptron", "pocket"})


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(
    "learner, settings", SETTINGS, ids=lambda each: " ".join(each) if isinstance(each, list) else each
)
def test_every_sentence_is_true_with_other_parameters(engine, learner, settings, data):
    said = audit(engine, learner, settings, data)
    if said is not None:
        plain = learner in {"perceptron", "averaged"} and not {
            "margin=[0.25, 1.5]",
            "class_weight=balanced",
        } & set(settings)
        assert said["bound"] == plain


@pytest.mark.slow
@needs_browser
def test_the_served_page_says_nothing_false():
    """In the browser: each card of each learner, and nothing of one learner beside the outcome of another."""
    from tests.lab.test_page_server import Served

    names = ("six points", "XOR", "three apart")
    tables = {}
    for name in names:
        X, y, labels = DATA[name]
        codes = y if len(labels) > 2 else (np.asarray(y) > 0).astype(int)
        tables[name] = "\n".join(
            ",".join([*map(repr, row), labels[code]]) for row, code in zip(X.tolist(), codes, strict=True)
        )
    served = Served("@or")
    command = [NODE, "test/audit.mjs", served.address, CHROMIUM, json.dumps(tables)]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=900, check=False)
    served.close()
    *said, last = map(json.loads, done.stdout.splitlines())
    assert last == {"problems": []}, done.stderr[-2000:]
    assert {(each["data"], each["learner"]) for each in said} == {
        (name, learner) for name in names for learner in SERVED
    }
    for each in said:
        learner, (X, y, labels) = each["learner"], DATA[each["data"]]
        assert each["verdicts"][0] == each["verdicts"][1], each
        if "error" in each:
            with pytest.raises((InputError, ValueError)):
                fit(learner, [], X, y)
            continue
        y, labels = as_the_page_reads(y, labels)
        model = fit(learner, [], X, y)
        if "outcome" in each:
            assert counted(int(np.sum(model.predict(X) != y)), len(y)) in each["outcome"]
            assert each["left"] == 0, f"{learner} stands beside another run"
            continue
        document = ask(learner, [], X, y, labels)["document"]
        Audit(model, document, learner).require_steps(each["steps"])
        plain = learner in {"averaged", "perceptron", "pocket"}
        assert ("in any order" in each["bound"]) == (plain and len(labels) == 2), each["bound"]
        assert ("Novikoff" in each["bound"]) == (plain and each["data"] == "six points")
        assert f"{registry.title_of(learner)}, trained in Python" in each["rule"]
        if learner.startswith("pa"):
            assert each["bound"].startswith(f"Updates\n\n{model.n_updates_}\n")
            assert f"{model.n_mistakes_} in the run" in each["bound"]
        if "Novikoff" in each["bound"]:
            bound = rb.bounds(X, y)["padded"].value
            shown = int(re.search(r"≤ (\d+)", each["bound"])[1])
            assert int(bound * (1 - 1e-9)) <= shown <= bound * 1.001
            assert model.n_mistakes_ <= shown


def as_the_page_reads(y, labels):
    """The page sorts the labels of a CSV."""
    if len(labels) == 2:
        return y, labels
    places = sorted(labels)
    return np.array([places.index(labels[code]) for code in y]), places
