"""`device=` of `Perceptron` and `MultilabelPerceptron`: the engine of the CPU stands in for that of a GPU."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.exceptions import DeviceError, InputError, NonFiniteError, ParameterError
from rosenblatt.probes import devices
from rosenblatt.probes.cpu import CpuEngine
from tests.shared.examples import examples


@pytest.fixture
def opened(monkeypatch):
    """Let the engine of the CPU answer for that of a GPU; return what was opened."""
    found = []

    def open_engine(device):
        found.append(device)
        return CpuEngine()

    monkeypatch.setattr(devices, "open_engine", open_engine)
    monkeypatch.setattr(devices, "_told", set())
    return found


KINDS = ["float64", "float32", "uint8"]


def table(seed, n, d, kind):
    """Return rows with ties and equal rows among them."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (n, d)) if kind == "uint8" or seed % 3 == 0 else rng.standard_normal((n, d))
    rows[rng.random(n) < 0.2] = rows[0]
    return rows.astype(kind), rng


def quietly(model, *data, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data, **how)


def told_while_fitting(model, *data):
    """Return the files to which it was said that the CPU is used, and how far from the call of `fit`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        model.fit(*data)
    told = [each for each in caught if "Meanwhile the CPU is used." in str(each.message)]
    return [(each.filename, each.lineno - line) for each in told]


def same_state(one, other):
    """Require the same weights, sums and visits, bit for bit."""
    assert one._state.visits == other._state.visits
    assert one._state.w.tobytes() == other._state.w.tobytes()
    assert (one._state.u is None) == (other._state.u is None)
    if one._state.u is not None:
        assert one._state.u.tobytes() == other._state.u.tobytes()


SIZES = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(4, 60),
    "d": st.sampled_from([1, 2, 7, 8, 19, 40]),
    "kind": st.sampled_from(KINDS),
    "weighted": st.booleans(),
}
COMMON = {
    "average": st.booleans(),
    "shuffle": st.booleans(),
    "fit_intercept": st.booleans(),
    "eta0": st.sampled_from([1.0, 0.1]),
    "margin": st.sampled_from([0.0, 0.7]),
    "max_iter": st.sampled_from([1, 3, 40]),
    "random_state": st.integers(0, 3),
}


@settings(max_examples=examples(150))
@given(st.fixed_dictionaries(SIZES), st.fixed_dictionaries(COMMON), st.sampled_from([None, 0.01]), st.booleans())
def test_sets_of_labels_get_the_same_bits(data, how, tol, goes_on):
    rows, rng = table(data["seed"], data["n"], data["d"], data["kind"])
    labels = (rng.random((data["n"], 4)) < 0.4).astype(int)
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], data["n"]) if data["weighted"] else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "open_engine", lambda device: CpuEngine())
        told = {"cpu": [], "cuda": []}
        made = {}
        for device in told:
            keep = told[device].append
            model = rb.MultilabelPerceptron(
                device=device, tol=tol, warm_start=True, callbacks=[lambda report, keep=keep: keep(report)], **how
            )
            for _ in range(1 + goes_on):
                quietly(model, rows, labels, sample_weight=weight)
            made[device] = model
    same_state(made["cpu"], made["cuda"])
    for name in ("n_iter_", "stop_reason_", "updates_per_pass_", "n_updates_", "t_", "_passes"):
        assert getattr(made["cpu"], name) == getattr(made["cuda"], name)
    numbers = [[(r.epoch, r.mistakes, r.visits, r.loss) for r in each] for each in told.values()]
    assert numbers[0] == numbers[1]
    assert made["cpu"].predict(rows).tolist() == made["cuda"].predict(rows).tolist()


@settings(max_examples=examples(150))
@given(
    st.fixed_dictionaries(SIZES),
    st.fixed_dictionaries(
        COMMON
        | {
            "class_weight": st.sampled_from([None, "balanced"]),
            "tie": st.sampled_from(["mistake", "correct", "sign"]),
            "zero": st.sampled_from([-1, 1]),
            "bias": st.sampled_from(["unit", "radius", 0.3]),
            "init": st.sampled_from(["zero", "first", "random"]),
            "decide": st.booleans(),
            "multiclass": st.sampled_from(["ovr", "ovo"]),
            "n_iter_no_change": st.sampled_from([None, 2]),
        }
    ),
    st.integers(2, 4),
    st.booleans(),
)
def test_classes_get_the_same_bits(data, how, n_classes, goes_on):
    rows, rng = table(data["seed"], data["n"], data["d"], data["kind"])
    classes = np.arange(data["n"]) % n_classes
    weight = rng.choice([0.5, 1.0, 3.0], data["n"]) if data["weighted"] else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "open_engine", lambda device: CpuEngine())
        made = {}
        for device in ("cpu", "cuda"):
            model = rb.Perceptron(device=device, trace="counts", warm_start=True, **how)
            for _ in range(1 + goes_on):
                quietly(model, rows, classes, sample_weight=weight)
            made[device] = model
    one, other = made["cpu"], made["cuda"]
    same_state(one, other)
    for name in ("n_iter_", "stop_reason_", "converged_", "n_mistakes_", "t_"):
        assert getattr(one, name) == getattr(other, name)
    assert one.mistakes_per_pass_.tolist() == other.mistakes_per_pass_.tolist()
    assert one.curve_.training.tolist() == other.curve_.training.tolist()
    assert one.trace_.start.w.tobytes() == other.trace_.start.w.tobytes()
    assert (one.certificate_ is None) == (other.certificate_ is None)
    assert one.predict(rows).tolist() == other.predict(rows).tolist()


ROWS, CLASSES = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 3
SETS = np.eye(3, dtype=int)[CLASSES]

REFUSED = {
    "compared directly": {"multiclass": "direct"},
    "half steps": {"tie": "half"},
    "uneven margins": {"margin": (1.0, 0.5)},
    "penalty": {"penalty": "l2"},
    "begin later": {"average": 5},
    "early_stopping": {"early_stopping": True},
    "by tol": {"tol": 0.1},
    "trace='mistakes'": {"trace": "mistakes"},
    "orders but": {"order": "random"},
    "visit a row twice": {"order": np.array([*range(30), 0])},
}


@pytest.mark.parametrize("told", REFUSED)
def test_what_no_gpu_does_is_refused(opened, told):
    """The sentence says what to do; "auto" does it, and says why once."""
    how = {"multiclass": "ovr"} | REFUSED[told]
    with pytest.raises(DeviceError, match=rf"A GPU trains no .*{told}.*\. Use device='cpu'\."):
        rb.Perceptron(device="cuda", **how).fit(ROWS, CLASSES)
    assert opened == ["cuda"]
    plain = quietly(rb.Perceptron(**how), ROWS, CLASSES)
    auto = rb.Perceptron(device="auto", **how)
    assert told_while_fitting(auto, ROWS, CLASSES) == [(__file__, 0)]
    same_state(plain, auto)
    assert (plain.trace_.mistakes is None) == (auto.trace_.mistakes is None)
    assert told_while_fitting(auto, ROWS, CLASSES) == []


@pytest.mark.parametrize(
    ("told", "how", "X"),
    [
        ("no rule but", {"rule": "pa1"}, ROWS),
        ("no rule but", {"rule": "arow"}, ROWS),
        ("sparse", {}, csr_array(ROWS)),
    ],
)
def test_what_no_gpu_does_with_sets_is_refused(opened, told, how, X):
    with pytest.raises(DeviceError, match=rf"A GPU trains {'no ' if told == 'sparse' else ''}.*{told}"):
        rb.MultilabelPerceptron(device="cuda", **how).fit(X, SETS)
    plain = quietly(rb.MultilabelPerceptron(**how), X, SETS)
    auto = rb.MultilabelPerceptron(device="auto", **how)
    assert told_while_fitting(auto, X, SETS) == [(__file__, 0)]
    same_state(plain, auto)
    assert plain.updates().visit.tolist() == auto.updates().visit.tolist()


def test_sparse_classes_cycles_and_checkpoints_are_refused(opened, tmp_path):
    with pytest.raises(DeviceError, match="sparse"):
        rb.Perceptron(device="cuda", multiclass="ovr").fit(csr_array(ROWS), CLASSES)
    with pytest.raises(DeviceError, match="stop_on_cycle"):
        rb.Perceptron(device="cuda", stop_on_cycle=True).fit(ROWS, CLASSES > 0)
    batch = rb.rows.batch.as_batch(ROWS, CLASSES)
    blocks = rb.tables.blocks.MemoryBlocks(batch)
    with pytest.raises(DeviceError, match="checkpoint"):
        rb.Perceptron(device="cuda", multiclass="ovr").fit_blocks(blocks, checkpoint=tmp_path / "state")


def test_streams_are_the_cpus(opened):
    for model, y in ((rb.Perceptron(device="cuda"), CLASSES > 0), (rb.MultilabelPerceptron(device="cuda"), SETS)):
        with pytest.raises(ParameterError, match=r"device='cuda' trains by fit alone\. .* with device='cpu'\."):
            model.partial_fit(ROWS, y)
    with pytest.raises(ParameterError, match="fit alone"):
        rb.Perceptron(device="cuda").learn_one(ROWS[0], 1)
    with pytest.raises(ParameterError, match="fit alone"):
        rb.MultilabelPerceptron(device="cuda").learn_one(ROWS[0], {1}, classes=[0, 1])
    for device in ("cpu", "auto"):
        rb.Perceptron(device=device).partial_fit(ROWS, CLASSES > 0)
    # a stream goes on from what a GPU has trained
    one, other = (
        quietly(rb.MultilabelPerceptron(device=device, average=True), ROWS, SETS).set_params(device="cpu")
        for device in ("cpu", "cuda")
    )
    same_state(one.partial_fit(ROWS, SETS), other.partial_fit(ROWS, SETS))
    assert opened == ["cuda"]


def test_only_counts_are_kept(opened):
    losses = []
    how = {"multiclass": "ovr", "device": "cuda", "callbacks": [lambda report: losses.append(report.loss)]}
    model = quietly(rb.Perceptron(**how), ROWS, CLASSES)
    assert model.trace_.mistakes is None
    assert losses
    assert np.isnan(losses).all()
    assert quietly(rb.Perceptron(device="cuda", multiclass="ovr", trace=None), ROWS, CLASSES).n_mistakes_ > 0
    sets = quietly(rb.MultilabelPerceptron(device="cuda"), ROWS, SETS)
    with pytest.raises(InputError, match="only counts"):
        sets.updates()
    with pytest.raises(InputError, match="only counts"):
        sets.replay(ROWS, SETS)


def test_a_row_that_is_not_finite_leaves_the_model_as_it_was(opened):
    broken = ROWS.copy()
    broken[4, 1] = np.inf
    for model, y in (
        (rb.MultilabelPerceptron(device="cuda"), SETS),
        (rb.Perceptron(device="cuda", multiclass="ovr"), CLASSES),
    ):
        quietly(model, ROWS, y)
        before = model.coef_.tobytes()
        with pytest.raises(NonFiniteError, match="row 4"):
            model.fit(broken, y)
        assert model.coef_.tobytes() == before


@pytest.mark.parametrize("device", ["cuda", "auto"])
def test_without_a_gpu(monkeypatch, device):
    def missing(wanted):
        assert wanted == "cuda"
        raise DeviceError("The GPU engine needs CuPy.")

    monkeypatch.setattr(devices, "open_engine", missing)
    monkeypatch.setattr(devices, "_told", set())
    for model, y in ((rb.MultilabelPerceptron(device=device), SETS), (rb.Perceptron(device=device), CLASSES > 0)):
        if device == "cuda":
            with pytest.raises(DeviceError, match="needs CuPy"):
                model.fit(ROWS, y)
            assert not model.__sklearn_is_fitted__()
        else:
            same_state(quietly(model, ROWS, y), quietly(type(model)(), ROWS, y))


def test_the_default_opens_no_engine(opened):
    quietly(rb.Perceptron(multiclass="ovr"), ROWS, CLASSES)
    quietly(rb.MultilabelPerceptron(), ROWS, SETS)
    assert opened == []
    with pytest.raises(ParameterError, match="'cpu', 'cuda', 'auto'"):
        rb.Perceptron(device="gpu").fit(ROWS, CLASSES)
