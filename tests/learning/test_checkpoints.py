"""Fits of taggers and of one vector that were cut short go on, and end as if they never had been."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.codecs import read_container, write_container
from rosenblatt.exceptions import DeviceError, InputError, ModelFileError, ParameterError, StorageError
from rosenblatt.learning import checkpoint as module
from rosenblatt.learning.checkpoint import fingerprint
from rosenblatt.locking import hold_lock
from rosenblatt.rows.batch import as_batch
from rosenblatt.sequences.tagger_trace import replay_updates
from rosenblatt.tables.blocks import MemoryBlocks
from tests.shared.examples import examples
from tests.shared.strategies import quietly
from tests.tables.test_checkpoints import CutAfter, CutError


def rows_of(kind, seed=0, n=24):
    """Return rows and targets of a learner, with a weight for each row."""
    rng = np.random.default_rng(seed)
    n = n // 2 if kind is rb.RankingPerceptron else n  # which visits pairs
    X = rng.integers(-3, 4, (n, 3)).astype(float)
    weight = rng.integers(1, 4, n) / 2
    match kind.__name__:
        case "SequencePerceptron":
            X = [[f"w{k}" for k in rng.integers(6, size=rng.integers(0, 4))] for _ in range(n)]
            labels = [rng.choice(["AAA", "ABA", "BAA", "BAB"])[: len(each)] for each in X]  # no B after a B
            return [*X, ["w0", "w1"]], [*map(list, labels), ["A", "B"]], None
        case "OrdinalPerceptron":
            return X, np.arange(n) % 4, weight
        case "MultilabelPerceptron":
            return X, [{"abc"[k] for k in range(3) if rng.random() < 0.4} | {"c"} for _ in range(n)], weight
    return X, rng.integers(-3, 4, n).astype(float), weight


LEARNERS = {
    rb.SequencePerceptron: [
        {},
        {"average": False, "shuffle": False},
        {"tie": "mistake"},
        {"order": 2},
        {"beam": 2, "update": "early"},
        {"constraints": [("B", "B")], "margin": 0.25},
        {"hash_bits": 4, "random_state": 3},
    ],
    rb.OrdinalPerceptron: [{}, {"average": True, "tol": 1e-9}, {"shuffle": False}],
    rb.RankingPerceptron: [
        {},
        {"n_iter_no_change": 2, "max_iter": 9},
        {"average": True, "tol": 1e-9, "margin": 0.5},
    ],
    rb.MultilabelPerceptron: [{}, {"rule": "arow", "average": True}, {"rule": "pa2"}],
    rb.PassiveAggressiveRegressor: [
        {},
        {"n_iter_no_change": 2, "max_iter": 9},
        {"tol": None, "average": True},
        {"loss": "squared_epsilon_insensitive"},
    ],
}
CASES = [(kind, parameters) for kind, several in LEARNERS.items() for parameters in several]
NAMES = [f"{kind.__name__}-{'-'.join(map(str, parameters))}" for kind, parameters in CASES]
EACH = pytest.mark.parametrize(("kind", "parameters"), CASES, ids=NAMES)
FIRST = pytest.mark.parametrize("kind", LEARNERS)


def made(kind, **parameters):
    usual = {"templates": "words"} if kind is rb.SequencePerceptron else {"n_iter_no_change": 50}
    return kind(**{"max_iter": 4, "random_state": 1} | usual | parameters)


def fit(model, data, **how):
    X, y, weight = data
    return quietly(model.fit, X, y, sample_weight=weight, **how)


def told(model):
    """Return all bits of a trained learner."""
    state = model._state
    if isinstance(model, rb.SequencePerceptron):
        arrays = [state.w, state.u, state.t, state.tu, *model.trace_.log]
        kept = model.trace_.visits_per_pass.tolist(), model.state_features_, model.n_skipped_
    else:
        run = model._run
        memory = [array for each in state.memory.values() for array in vars(each).values()]
        arrays = [state.w, state.u, run.start.w, *model.updates(), *memory]
        kept = model.updates_per_pass_, run.losses, run.recorder.visits_per_pass, model._passes
    bits = [None if each is None else np.asarray(each).tobytes() for each in arrays]
    return bits, kept, model.n_iter_, model.stop_reason_, state.visits


@contextmanager
def cut_after(writes, at_once=21):
    """Let a fit write so many checkpoints, some of them within passes, and then cut it short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHECKPOINT_SECONDS", 0.0)
        patch.setattr("rosenblatt.learning.one_vector.UPDATES_AT_ONCE", at_once)
        patch.setattr("rosenblatt.sequences.tagger_fit.SENTENCES_AT_ONCE", 10)
        CutAfter(patch, writes)
        yield


def resumed_after(writes, kind, parameters, data, path):
    """Return a learner that went on after a cut, and whether there was one."""
    with cut_after(writes):
        try:
            return fit(made(kind, **parameters), data, checkpoint=path), False
        except CutError:
            assert path.exists()
    with cut_after(10**6):
        return fit(made(kind, **parameters), data, checkpoint=path, resume=True), True


def whole(kind, parameters, data):
    with cut_after(10**6):
        return told(fit(made(kind, **parameters), data))


@EACH
def test_resumed_from_anywhere(tmp_path, kind, parameters):
    data = rows_of(kind)
    expected = whole(kind, parameters, data)
    writes, was_cut = 1, True
    while was_cut:
        model, was_cut = resumed_after(writes, kind, parameters, data, tmp_path / f"c{writes}")
        assert told(model) == expected, writes
        writes += 1
    assert writes > 2 * model.n_iter_ > 2  # so that many of them were within passes


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(st.sampled_from(CASES), st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 14), st.booleans())
def test_resumed_from_anywhere_on_any_problem(tmp_path_factory, case, seed, n, writes, sparse):
    kind, parameters = case
    X, y, weight = rows_of(kind, seed, n)
    if kind is rb.OrdinalPerceptron and n < 4:
        y = np.arange(n)
    data = csr_array(X) if sparse and kind is not rb.SequencePerceptron else X, y, weight
    path = tmp_path_factory.mktemp("run") / "c"
    model, _ = resumed_after(writes, kind, parameters, data, path)
    assert told(model) == whole(kind, parameters, data)


@pytest.mark.parametrize("parameters", [{}, {"shuffle": False}, {"average": True, "tol": 1e-9}])
def test_ranks_in_blocks_go_on_without_reading_what_was_visited(tmp_path, parameters):
    X, y, _ = rows_of(rb.OrdinalPerceptron)
    read = []

    class Watched(MemoryBlocks):
        def walk(self, order, change=None):
            read.append(len(order))
            return super().walk(order, change)

    blocks = Watched(as_batch(X, y), np.array([0, 9, 10, 24]))
    expected = told(quietly(made(rb.OrdinalPerceptron, **parameters).fit_blocks, blocks))
    begun = set()
    for writes in range(1, 24):  # six in each pass, most of them within blocks
        path = tmp_path / f"c{writes}"
        with cut_after(writes, at_once=5), pytest.raises(CutError):
            quietly(made(rb.OrdinalPerceptron, **parameters).fit_blocks, blocks, checkpoint=path)
        read.clear()
        model = made(rb.OrdinalPerceptron, **parameters)
        assert told(quietly(model.fit_blocks, blocks, checkpoint=path, resume=True)) == expected
        begun.add(read[0])
    assert begun == {1, 2, 3}


def test_a_fit_and_blocks_of_the_same_rows_are_different_fits(tmp_path):
    X, y, _ = rows_of(rb.OrdinalPerceptron)
    quietly(made(rb.OrdinalPerceptron).fit, X, y, checkpoint=tmp_path / "c")
    with pytest.raises(ParameterError, match="the data is not the same"):
        made(rb.OrdinalPerceptron).fit_blocks(MemoryBlocks(as_batch(X, y)), checkpoint=tmp_path / "c", resume=True)


@FIRST
def test_more_passes_may_be_allowed(tmp_path, kind):
    data, path = rows_of(kind), tmp_path / "c"
    fit(made(kind, max_iter=2), data, checkpoint=path)
    model = fit(made(kind, max_iter=5), data, checkpoint=path, resume=True)
    assert told(model) == told(fit(made(kind, max_iter=5), data))
    assert model.n_iter_ > 2
    with pytest.raises(ParameterError, match="max_iter=2 has been passed already"):
        fit(made(kind, max_iter=2), data, checkpoint=path, resume=True)


@FIRST
def test_a_seed_that_was_drawn_is_kept(tmp_path, kind):
    data, path = rows_of(kind), tmp_path / "c"
    whole, begun, other = (np.random.default_rng(seed) for seed in (7, 7, 99))
    fit(made(kind, max_iter=2, random_state=begun), data, checkpoint=path)
    model = fit(made(kind, random_state=other), data, checkpoint=path, resume=True)
    assert told(model) == told(fit(made(kind, random_state=whole), data))


@FIRST
def test_ctrl_c_after_going_on_leaves_the_last_completed_pass(tmp_path, kind):
    data, path = rows_of(kind), tmp_path / "c"

    def interrupt(report):
        if report.epoch == 3:
            raise KeyboardInterrupt

    with cut_after(4), pytest.raises(CutError):  # within the second pass
        fit(made(kind), data, checkpoint=path)
    model = made(kind, callbacks=[interrupt])
    with cut_after(10**6), pytest.raises(KeyboardInterrupt):
        fit(model, data, checkpoint=path, resume=True)
    assert (model.stop_reason_, model.n_iter_) == ("interrupted", 3)
    assert told(model)[:2] == whole(kind, {"max_iter": 3}, data)[:2]
    with cut_after(10**6):
        assert told(fit(made(kind), data, checkpoint=path, resume=True)) == whole(kind, {}, data)


@FIRST
def test_time_already_spent_counts(tmp_path, kind):
    data, path = rows_of(kind), tmp_path / "c"
    fit(made(kind, max_iter=2), data, checkpoint=path)
    document, arrays = read_container(path)
    document["fit"]["snapshot"]["seconds"] = 1000.0
    write_container(path, document, arrays)
    model = fit(made(kind, max_iter=9, max_time=900.0), data, checkpoint=path, resume=True)
    assert (model.stop_reason_, model.n_iter_) == ("max_time", 3)


@FIRST
def test_another_fit_is_refused(tmp_path, kind, monkeypatch):
    (X, y, weight), path = rows_of(kind), tmp_path / "c"
    fit(made(kind, max_iter=2), (X, y, weight), checkpoint=path)

    def refused(told, model, X=X, y=y, weight=weight):
        with pytest.raises(ParameterError, match=told):
            fit(model, (X, y, weight), checkpoint=path, resume=True)
        assert "_state" not in model.__dict__

    refused("average was", made(kind, average=kind is not rb.SequencePerceptron))
    refused("random_state was 1 then and is 2 now", made(kind, random_state=2))
    refused("the data is not the same", made(kind), weight=np.full(len(X), 0.25))
    if kind is rb.SequencePerceptron:
        refused("the data is not the same", made(kind), X=[*X[:-1], ["w0", "w2"]])
        refused("the data is not the same", made(kind), y=[["a" if x == "A" else x for x in each] for each in y])
        quietly(rb.OrdinalPerceptron(max_iter=2).fit, *rows_of(rb.OrdinalPerceptron)[:2], checkpoint=path)
        refused("the learner is not the same", made(kind))
    else:
        refused("the data is not the same", made(kind), X=X + 1e-9)
        refused("the data is not the same", made(kind), X=np.column_stack([X, np.zeros(len(X))]))
        fit(made(rb.SequencePerceptron, max_iter=2), rows_of(rb.SequencePerceptron), checkpoint=path)
        refused("the learner is not the same", made(kind))
    monkeypatch.setattr("rosenblatt.estimators._fitting.version", lambda name: "99")
    refused("the version is not the same", made(kind))


@FIRST
def test_what_cannot_be_resumed_is_refused(tmp_path, kind):
    data, path = rows_of(kind), tmp_path / "c"
    with pytest.raises(ParameterError, match="resume=True needs a checkpoint"):
        fit(made(kind), data, resume=True)
    with pytest.raises(ParameterError, match="every=0"):
        fit(made(kind), data, checkpoint=path, every=0)
    with hold_lock(path), pytest.raises(StorageError, match="in use by another run"):
        fit(made(kind), data, checkpoint=path)
    if kind is not rb.SequencePerceptron:
        model = fit(made(kind, warm_start=True), data)
        with pytest.raises(ParameterError, match="cannot be combined with warm_start=True"):
            fit(model, data, checkpoint=path)
    assert not path.exists()


@FIRST
def test_every_so_many_passes(tmp_path, kind, monkeypatch):
    written, plain = [], module.Checkpoint._write
    monkeypatch.setattr(
        module.Checkpoint, "_write", lambda self, loop: (written.append(loop.complete.passes), plain(self, loop))
    )
    fit(made(kind, max_iter=7), rows_of(kind), checkpoint=tmp_path / "c", every=3)
    assert written == [3, 6]


@FIRST
def test_no_damage_goes_unnoticed(tmp_path, kind):
    data, path = rows_of(kind), tmp_path / "c"
    expected = told(fit(made(kind), data, checkpoint=path))
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    places = [*range(12), *rng.integers(len(content), size=30).tolist()]
    damaged = [
        content[:at] + bytes([content[at] ^ int(rng.integers(1, 256))]) + content[at + 1 :] for at in places
    ]
    refused = 0
    for each in [content[: len(content) // 2], content[:-1], *damaged, b"", b"{}" * 50]:
        path.write_bytes(each)
        try:
            model = fit(made(kind), data, checkpoint=path, resume=True)
        except ModelFileError:
            refused += 1
        else:  # white space of the header, at most
            assert told(model) == expected
    assert refused > 30


def _put(*names, value):
    def change(kept, arrays):
        for name in names[:-1]:
            kept = kept[name]
        kept[names[-1]] = value

    return change


def _array(name, change):
    return lambda kept, arrays: arrays.update({f"fit.snapshot.{name}": change(arrays[f"fit.snapshot.{name}"])})


ANY = {
    "counts": _put("visits_per_pass", value=[24]),
    "passes": _put("passes", value=9),
    "visits that wrap around": _put("visits_per_pass", value=[2**53] * 2),
    "seconds": _put("seconds", value=-1.0),
    "a part too many": _put("more", value=1),
}
VECTOR = ANY | {
    "losses": _put("losses", value=[1.0]),
    "another rule": _put("tolerance", value={"tol": 1.0, "patience": 1, "best": 0.0, "waited": 0}),
    "no mistakes": _put("mistakes", value=None),
    "a row beyond the last": _array("mistakes.index", lambda index: index + 10**4),
    "a row before the first": _array("mistakes.index", lambda index: index - 10**4),
    "a label beyond the last": _array("mistakes.machine", lambda machine: machine - 9),
    "visits out of order": _array("mistakes.visit", lambda visit: visit[::-1].copy()),
    "shape": _array("state.w", lambda w: w[..., :-1]),
    "type": _array("state.w", lambda w: w.astype(np.float32)),
}
SEQUENCE = ANY | {
    "a mistake less": _array("log.gap", lambda gap: gap[1:]),
    "mistakes of other passes": _array("log.visit", lambda visit: visit + 24),
    "mistakes out of order": _array("log.visit", lambda visit: visit[::-1].copy()),
    "a sentence beyond the last": _array("log.sentence", lambda sentence: sentence + 10**6),
    "a sentence before the first": _array("log.sentence", lambda sentence: sentence - 10**6),
    "a token beyond the last": _array("log.wrong_at", lambda at: at + 10**6),
    "a token before the first": _array("log.wrong_at", lambda at: at - 10**6),
    "a label beyond the last": _array("log.wrong_label", lambda label: label + 10**6),
    "a label before the first": _array("log.wrong_label", lambda label: label - 10**6),
    "tokens of no mistake": _array("log.stop", lambda stop: stop - 1),
}
UNSOUND = [(rb.MultilabelPerceptron, *item) for item in VECTOR.items()]
UNSOUND += [(rb.SequencePerceptron, *item) for item in SEQUENCE.items()]


@pytest.mark.parametrize(
    ("kind", "name", "change"), UNSOUND, ids=[f"{kind.__name__}-{name}" for kind, name, _ in UNSOUND]
)
def test_what_cannot_be_is_refused(tmp_path, kind, name, change):
    """The checksum is right, so that only what the file says can give it away."""
    data, path = rows_of(kind), tmp_path / "c"
    fit(made(kind, max_iter=2), data, checkpoint=path)
    document, arrays = read_container(path)
    change(document["fit"]["snapshot"], arrays)
    write_container(path, document, arrays)
    model = made(kind)
    with pytest.raises(ModelFileError, match="Remove it, and train"):
        fit(model, data, checkpoint=path, resume=True)
    assert "_state" not in model.__dict__


def test_a_trace_is_not_replayed_on_shorter_sentences():
    """The loop would write beyond its memory."""
    X, y = [["a", "b", "c", "d"], ["b", "a"]] * 3, [["A", "B", "A", "B"], ["B", "A"]] * 3
    trace = made(rb.SequencePerceptron).fit(X, y).trace_
    with pytest.raises(InputError, match="a mistake is at a token that does not exist"):
        trace.replay([each[:1] for each in X], [each[:1] for each in y])


@pytest.mark.parametrize("copied", [3, 2, 0])
def test_ctrl_c_replays_what_came_after_the_last_copy(monkeypatch, copied):
    """Whatever was copied, the tagger is that of the completed passes."""
    data = rows_of(rb.SequencePerceptron)
    expected = fit(made(rb.SequencePerceptron, max_iter=3), data)
    mistakes, stops = expected.mistakes_per_pass_, expected.trace_.log.stop
    size = {3: 1, 2: int(stops[mistakes[:2].sum() - 1]), 0: 10**9}[copied]
    monkeypatch.setattr("rosenblatt.sequences.tagger_fit.REPLAYED_TOKENS", size)
    monkeypatch.setattr("rosenblatt.sequences.tagger_fit.WEIGHTS_A_TOKEN", 10**9)
    monkeypatch.setattr("rosenblatt.sequences.tagger_fit.SENTENCES_AT_ONCE", 10)
    replayed = []

    def replay(rows, codes, steps, log, stop, state, visits, first=0):
        replayed.append(stop - first)
        return replay_updates(rows, codes, steps, log, stop, state, visits, first)

    def interrupt(report):
        if report.epoch == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("rosenblatt.sequences.tagger_fit.replay_updates", replay)
    model = made(rb.SequencePerceptron, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        fit(model, data)
    assert told(model)[:2] == told(expected)[:2]
    assert replayed == [sum(mistakes[copied:])]


def test_a_gpu_keeps_no_checkpoint(tmp_path, monkeypatch):
    from rosenblatt.probes import fitting

    monkeypatch.setattr(fitting, "with_engine", lambda device, train, otherwise: train(None))
    model = made(rb.MultilabelPerceptron, device="cuda")
    with pytest.raises(DeviceError, match="A GPU trains no runs with a checkpoint"):
        fit(model, rows_of(rb.MultilabelPerceptron), checkpoint=tmp_path / "c")


def test_fingerprints_tell_types_shapes_and_places_apart():
    X = np.arange(6.0).reshape(2, 3)
    several = [X, X.T, X.ravel(), X.astype(np.float32), (X, None), ((X,), None), (None, X), X + 1e-300, -0.0 * X]
    assert len({fingerprint(each) for each in several}) == len(several)
    assert fingerprint(np.asfortranarray(X)) == fingerprint(X) == fingerprint(np.repeat(X, 2, axis=1)[:, ::2])
