"""The engine of the lab page computes what Python computes, bit for bit."""

import json
import struct
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.certify.check import ProofError, check, read_proof
from rosenblatt.loops.reference import train
from rosenblatt.loops.rules import Rule, tie_shares
from tests.lab.lab_engine import Engine, needs_node

pytestmark = [
    pytest.mark.slow,
    needs_node,
    pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::rosenblatt.exceptions.TrivialSeparationWarning"),
]
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    yield engine
    engine.close()


def bits(values):
    return [struct.pack("<d", float(value)) for value in np.ravel(values)]


def random_problem(rng):
    """Return data, parameters, visits and start: integers, decimals, wide ranges, zeros of both signs."""
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 8))
    kind = rng.integers(4)
    if kind == 0:
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == 1:
        X = np.round(rng.normal(size=(n, d)), 1)
    elif kind == 2:
        X = rng.normal(size=(n, d))
    else:
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 13, (n, d))
    X = np.where(rng.random((n, d)) < 0.1, -0.0, X)
    y = rng.choice([-1, 1], n)
    y[:2] = -1, 1
    if rng.random() < 0.5:  # separable by a hidden hyperplane, so that runs also end
        f = X @ rng.normal(size=d) + rng.normal()
        y = np.where(f > 0, 1, -1)
        if abs(y.sum()) == n:
            y[0] = -y[0]
    passes = int(rng.integers(1, 30))
    match rng.integers(4):
        case 0:
            order = [list(range(n))] * passes
        case 1:
            order = [rng.permutation(n).tolist() for _ in range(passes)]
        case 2:
            order = [rng.integers(n, size=n).tolist() for _ in range(passes)]
        case _:
            order = [rng.integers(n, size=int(rng.integers(1, 2 * n))).tolist() for _ in range(passes)]
    bias = [None, "unit", "radius"][rng.integers(3)]
    parameters = {
        "eta0": float(rng.choice([1.0, 0.5, 0.1, 3.0, rng.random() + 0.01])),
        "bias": bias,
        "margin": float(rng.choice([0.0, 0.0, 0.5, 1.0, rng.random()])),
        "tie": str(rng.choice(["mistake", "sign", "half", "correct"])),
        "zero": int(rng.choice([-1, 1])),
    }
    w0 = None
    if rng.random() < 0.5:
        w0 = np.round(rng.normal(size=d + 1), int(rng.integers(0, 4)))
        if bias is None:
            w0[-1] = 0.0
    return X, y, parameters, order, w0


def fit(cls, X, y, parameters, order, w0, **more):
    start = {} if w0 is None else {"coef_init": w0[:-1], "intercept_init": w0[-1:]}
    if parameters["bias"] is None:
        start.pop("intercept_init", None)
    model = cls(order=order, max_iter=len(order), n_iter_no_change=10**9, **parameters, **more)
    return model.fit(X, y, **start)


def ask_run(engine, X, y, parameters, order, w0):
    named = {**parameters, "eta": parameters["eta0"], "bias": parameters["bias"] or "none"}
    del named["eta0"]
    start = None if w0 is None else w0.tolist()
    return engine.ask(do="run", X=X.tolist(), y=y.tolist(), order=order, passes=len(order), w0=start, **named)


def compare_one(engine, rng, ends):
    X, y, parameters, order, w0 = random_problem(rng)
    said = ask_run(engine, X, y, parameters, order, w0)
    document = said["document"]
    clf = fit(rb.Perceptron, X, y, parameters, order, w0)
    trace = clf.trace_
    for name in ("visit", "index"):
        assert document["mistakes"][name] == getattr(trace, name).tolist()
    for name in ("score", "step"):
        assert bits(document["mistakes"][name]) == bits(getattr(trace, name))
    assert document["passes"]["mistakes"] == trace.mistakes_per_pass.tolist()
    assert document["passes"]["visits"] == trace.visits_per_pass.tolist()
    assert document["end"]["reason"] == clf.stop_reason_
    assert bits([*document["end"]["w"], document["end"]["b"]]) == bits([*clf.coef_[0], clf.intercept_[0]])
    assert bits(document["rule"]["beta"]) == bits(trace.bias)
    models = trace.after_each_pass(X, y)
    assert bits(said["passes"]) == bits([[*np.ravel(m.coef), *np.ravel(m.intercept)] for m in models])
    assert bits(said["scores"]) == bits(clf.decision_function(X))
    averaged = fit(rb.Perceptron, X, y, parameters, order, w0, average=True)
    assert bits(document["end"]["average"]) == bits([*averaged.coef_[0], averaged.intercept_[0]])
    assert said["predictions"] == (averaged.predict(X) > 0).astype(int).tolist()
    pocket = fit(rb.PocketPerceptron, X, y, parameters | {"averages": False}, order, w0)
    assert said["pocket"]["errors"] == pocket.pocket_errors_
    assert said["pocket"]["visits"] == pocket.pocket_visit_
    assert bits(said["pocket"]["w"]) == bits([*pocket.coef_[0], pocket.intercept_[0]])
    ends[clf.stop_reason_] += 1


def compare_classes(engine, rng, ends):
    """Several classes: every mistake with its machine, every state, averages and predictions."""
    X, _, parameters, order, _ = random_problem(rng)
    n, d = X.shape
    k = int(rng.integers(3, 6))
    if n < k:
        return
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    if rng.random() < 0.5:
        scores = X @ rng.normal(size=(d, k)) + rng.normal(size=k)
        y[k:] = scores[k:].argmax(axis=1)
        order = order * 3
    scheme = str(rng.choice(["direct", "ovr", "ovo"]))
    machines = k * (k - 1) // 2 if scheme == "ovo" else k
    w0 = None
    if rng.random() < 0.5:
        w0 = np.round(rng.normal(size=(machines, d + 1)), 1)
        w0[:, -1] *= parameters["bias"] is not None
    start = {} if w0 is None else {"coef_init": w0[:, :-1], "intercept_init": w0[:, -1]}
    if parameters["bias"] is None:
        start.pop("intercept_init", None)
    limits = {"max_iter": len(order), "n_iter_no_change": 10**9}
    fitted = [
        rb.Perceptron(order=order, multiclass=scheme, average=average, **limits, **parameters).fit(X, y, **start)
        for average in (False, True)
    ]
    named = {"eta": parameters["eta0"], "bias": parameters["bias"] or "none"} | {
        name: parameters[name] for name in ("margin", "tie", "zero")
    }
    data = {"X": X.tolist(), "y": y.tolist(), "labels": [str(c) for c in range(k)]}
    start_of_page = None if w0 is None else w0.ravel().tolist()
    said = engine.ask(do="run", **data, scheme=scheme, order=order, passes=len(order), w0=start_of_page, **named)
    document, clf, trace = said["document"], fitted[0], fitted[0].trace_
    for name in ("visit", "index", "machine"):
        assert document["mistakes"][name] == getattr(trace, name).tolist()
    for name in ("score", "step"):
        assert bits(document["mistakes"][name]) == bits(getattr(trace, name))
    assert document["end"]["reason"] == clf.stop_reason_
    assert bits(document["end"]["w"]) == bits(trace.replay(X, y).coef)
    assert bits(document["end"]["b"]) == bits(trace.replay(X, y).intercept)
    averages = np.array(document["end"]["average"])
    mean = fitted[1].trace_.replay(X, y)
    assert bits(averages[:, :-1]) == bits(mean.coef)
    assert said["predictions"] == fitted[1].predict(X).tolist()
    rb.Trace.from_document(document)
    ends[clf.stop_reason_] += 1


def test_runs_of_several_classes_equal_python(engine):
    compare(engine, range(300), compare_classes)


def compare(engine, seeds, compare_one=compare_one):
    ends = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            try:
                compare_one(engine, np.random.default_rng(seed), ends)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
    assert ends["separated"]
    assert ends["max_iter"]
    return ends


def test_runs_equal_python(engine):
    compare(engine, range(300))


def test_thousands_of_runs_equal_python(engine):
    ends = compare(engine, range(1000, 6000))
    assert ends["plateau"]
    compare(engine, range(6000, 8000), compare_classes)


@pytest.mark.parametrize("seed", range(40))
def test_runs_equal_the_reference_on_exact_numbers(engine, seed):
    """On small integers nothing rounds, so that the textbook on fractions must agree to the last digit as well."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 10)), int(rng.integers(1, 8))
    X, y = rng.integers(-4, 5, (n, d)), np.where(np.arange(n) % 2, 1, -1)
    tie = str(rng.choice(["mistake", "sign", "half", "correct"]))
    order = [rng.permutation(n).tolist() for _ in range(6)]
    rule = Rule(0.5, 1.0, 0.0, *tie_shares(tie))
    rows = [[Fraction(int(x)) for x in row] for row in X]
    visits = [i for each in order for i in each]
    said = engine.ask(do="run", X=X.tolist(), y=y.tolist(), order=order, passes=6, eta=0.5, tie=tie)["document"]
    made = sum(said["passes"]["visits"])
    wanted = train(rows, y.tolist(), visits[:made], rule)
    assert [*said["end"]["w"], said["end"]["b"]] == [float(w) for w in (*wanted.w, wanted.b)]
    assert said["mistakes"]["score"] == [float(mistake.score) for mistake in wanted.mistakes]
    assert said["mistakes"]["visit"] == [mistake.visit for mistake in wanted.mistakes]


def test_python_reads_the_documents_of_the_page(engine):
    rng = np.random.default_rng(5)
    for _ in range(50):
        X, y, parameters, order, w0 = random_problem(rng)
        document = ask_run(engine, X, y, parameters, order, w0)["document"]
        trace, again, labels = rb.Trace.from_document(document)
        assert bits(again) == bits(X)
        assert labels.astype(int).tolist() == y.tolist()
        assert trace.visit.tolist() == document["mistakes"]["visit"]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_a_walk_through_a_golden_document_finds_the_same_states(engine, path):
    said = engine.ask(do="walk", document=json.loads(path.read_text()), seed=3)
    assert said["same"] == 1000


def test_a_walk_through_a_long_run(engine):
    data = rb.datasets.make_separable(200, 3, margin=0.01, seed=1, flip=0.1)
    clf = rb.Perceptron(average=True, max_iter=30, random_state=0)
    clf.fit(data.X, data.y)
    assert len(clf.trace_) > 300
    said = engine.ask(do="walk", document=clf.trace_.to_document(data.X, data.y), seed=4)
    assert said == {"same": 1000, "length": len(clf.trace_)}


def plane_problem(rng):
    n = int(rng.integers(2, 30))
    kind = rng.integers(5)
    if kind == 0:
        X = rng.integers(-3, 4, (n, 2)).astype(float)
    elif kind == 1:
        X = np.round(rng.normal(size=(n, 2)), 1)
    elif kind == 2:
        X = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-150, 150)
    elif kind == 3:
        X = rng.integers(-3, 4, (n, 1)).astype(float)
    else:  # nearly on one line
        t = rng.normal(size=n)
        X = np.stack([t, 0.1 * t + rng.choice([0.0, 2.0**-52, -(2.0**-50)], n)], axis=1)
    y = rng.choice([-1, 1], n)
    if rng.random() < 0.6:
        f = X @ rng.normal(size=X.shape[1]) + rng.normal() * np.abs(X).max()
        y = np.where(f > 0, 1, -1)
    y[:2] = -1, 1
    return X, y


def compare_proofs(engine, seeds):
    verdicts = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, y = plane_problem(rng)
        bias = bool(rng.integers(2))
        said = engine.ask(do="prove", X=X.tolist(), y=y.tolist(), bias="unit" if bias else "none")
        assert "error" not in said, f"seed {seed}: {said}"
        check(read_proof(said["proof"]), X.tolist(), y.tolist())
        verdict = rb.certify(X, y, bias=bias).verdict
        assert said["verdict"] == verdict, f"seed {seed}"
        assert "holds" in engine.ask(do="check", X=X.tolist(), y=y.tolist(), proof=said["proof"]), f"seed {seed}"
        verdicts[verdict, bias] += 1
    assert len(verdicts) == 4
    return verdicts


def test_proofs_pass_the_checker(engine):
    compare_proofs(engine, range(200))


def test_thousands_of_proofs_pass_the_checker(engine):
    compare_proofs(engine, range(1000, 4000))


def test_a_corrupted_proof_is_rejected(engine):
    X, y = rb.datasets.load_xor()
    proof = json.loads(engine.ask(do="prove", X=X.tolist(), y=y.tolist())["proof"])
    changed = json.loads(json.dumps(proof))
    changed["combination"]["weights"][0] = "0x2"
    for claim, rows in ((changed, X), (proof, X + 1.0)):
        said = engine.ask(do="check", X=rows.tolist(), y=y.tolist(), proof=json.dumps(claim))
        assert said["error"].startswith("The proof is rejected")
        with pytest.raises(ProofError):
            check(read_proof(json.dumps(claim)), rows.tolist(), y.tolist())
    for text in ("", "{}", "[]", "null", '{"format": "rosenblatt-proof", "version": 1}'):
        said = engine.ask(do="check", X=X.tolist(), y=y.tolist(), proof=text)
        assert said["error"].startswith("The proof is rejected")


@pytest.mark.parametrize("bias, name", [("none", "origin"), ("unit", "padded"), ("radius", "radius_padded")])
def test_bounds_are_those_of_python(engine, bias, name):
    """The page's bound is never below the best one, which Python knows, and hardly above it."""
    for seed in range(10):
        data = rb.datasets.make_separable(30, 2, margin=0.1, seed=seed)
        found = rb.bounds(data.X, data.y)
        best = found[name].value
        said = engine.ask(do="bound", X=data.X.tolist(), y=data.y.tolist(), bias=bias)
        assert best * (1 - 1e-12) <= said["most"] <= best * 1.001
