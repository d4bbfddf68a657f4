"""A fit that was cut short goes on, and ends as if it never had been."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.codecs import read_container, write_container
from rosenblatt.exceptions import ModelFileError, ParameterError, StorageError
from rosenblatt.learning import checkpoint as module
from rosenblatt.learning.checkpoint import discard
from rosenblatt.locking import hold_lock
from rosenblatt.tables.collect import collect
from tests.shared.examples import examples
from tests.shared.strategies import noisy, quietly
from tests.tables.sources import ArraySource, everywhere
from tests.tables.test_fit_blocks import PARAMETERS, problem, told


class CutError(Exception):
    """Ends a fit as hard as an exception can."""


class CutAfter:
    """Lets the real thing write so many checkpoints, and then cuts the fit short."""

    def __init__(self, monkeypatch, writes, error=CutError):
        self.left = writes
        plain = module.Checkpoint._write

        def write(checkpoint, loop):
            plain(checkpoint, loop)
            self.left -= 1
            if self.left == 0:
                raise error

        monkeypatch.setattr(module.Checkpoint, "_write", write)


def cut_and_resumed(blocks, path, writes, parameters, every=1):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHECKPOINT_SECONDS", 0.0)
        CutAfter(patch, writes)
        model = rb.Perceptron(**parameters)
        try:
            return quietly(model.fit_blocks, blocks, checkpoint=path, every=every), False
        except CutError:
            pass
    resumed = rb.Perceptron(**parameters)
    return quietly(resumed.fit_blocks, blocks, checkpoint=path, every=every, resume=True), True


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.sampled_from(["f64", "f32", "csr"]),
    st.integers(1, 12),
    st.sampled_from([None, "counts", "mistakes"]),
    PARAMETERS,
)
def test_resumed_from_anywhere(seed, classes, layout, writes, trace, parameters):
    X, y = problem(seed, 24, 3, classes, layout)
    if parameters.get("penalty") and parameters.get("average"):
        del parameters["average"]
    if parameters.get("early_stopping") and min(np.unique(y, return_counts=True)[1]) < 2:
        del parameters["early_stopping"]
    parameters = {"max_iter": 5, "trace": trace} | parameters
    with TemporaryDirectory() as folder:
        for kind, blocks in everywhere(X, y, Path(folder), block_bytes=150).items():
            expected = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
            path = Path(folder) / f"checkpoint-{kind}"
            model, _ = cut_and_resumed(blocks, path, writes, parameters)
            assert told(model) == told(expected), kind
            del blocks


def test_within_a_pass(tmp_path):
    X, y = noisy(300, 4)
    parameters = {"max_iter": 4, "average": True}
    blocks = everywhere(X, y, tmp_path, block_bytes=1000)["cache"]
    expected = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
    for writes in range(1, 25, 3):
        path = tmp_path / "checkpoint"
        model, was_cut = cut_and_resumed(blocks, path, writes, parameters)
        assert was_cut
        assert told(model) == told(expected)
        discard(path)
        assert not path.exists()
    assert len(blocks.boundaries) - 1 > 5  # so that most of these were within a pass


@pytest.mark.parametrize("layout", ["f64", "csr"])
def test_within_a_block(tmp_path, layout):
    X, y = problem(1, 60, 3, 3, layout)
    parameters = {"max_iter": 4, "average": True, "tol": 0.001, "trace": "mistakes", "early_stopping": True}
    for kind, blocks in everywhere(X, y, tmp_path, block_bytes=600).items():
        expected = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rosenblatt.learning.visitor.BLOCK_MISTAKES", 7)
            for writes in (1, 4, 9, 13):
                model, was_cut = cut_and_resumed(blocks, tmp_path / kind, writes, parameters)
                assert was_cut
                assert told(model) == told(expected)


def test_ctrl_c_in_a_resumed_pass_leaves_the_last_completed_one(tmp_path):
    X, y = noisy(300, 4)
    blocks = everywhere(X, y, tmp_path, block_bytes=1000)["cache"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHECKPOINT_SECONDS", 0.0)
        CutAfter(patch, 3 * (len(blocks.boundaries) - 1) - 3)  # within the third pass
        with pytest.raises(CutError):
            rb.Perceptron(max_iter=9).fit_blocks(blocks, checkpoint=tmp_path / "c")
    model = rb.Perceptron(max_iter=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHECKPOINT_SECONDS", 0.0)
        CutAfter(patch, 1, KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)
    expected = quietly(rb.Perceptron(max_iter=2).fit_blocks, blocks)
    assert (model.n_iter_, model.t_) == (2, 600)
    assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_a_streamed_first_pass_goes_on_too(tmp_path):
    X, y = noisy(300, 4)
    for writes in (1, 3, 8, 14):
        folder = tmp_path / str(writes)
        folder.mkdir()
        blocks = everywhere(X, y, folder, block_bytes=1000)["streamed"]
        expected = quietly(
            rb.Perceptron(max_iter=3).fit_blocks, everywhere(X, y, folder, block_bytes=1000)["memory"]
        )
        model, was_cut = cut_and_resumed(
            blocks, folder / "checkpoint", writes, {"max_iter": 3, "trace": "mistakes"}
        )
        assert was_cut
        assert told(model) == told(expected)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_seed_that_was_drawn_is_kept(tmp_path, early_stopping):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    parameters = {"max_iter": 6, "random_state": None, "early_stopping": True, "init": "random"}
    if not early_stopping:
        del parameters["early_stopping"]
    with pytest.MonkeyPatch.context() as patch:
        CutAfter(patch, 2)
        with pytest.raises(CutError):
            rb.Perceptron(**parameters).fit_blocks(blocks, checkpoint=tmp_path / "c")
    saved = (tmp_path / "c").read_bytes()
    document, arrays = read_container(tmp_path / "c")
    ends = set()
    for _ in range(2):
        (tmp_path / "c").write_bytes(saved)
        model = quietly(rb.Perceptron(**parameters).fit_blocks, blocks, checkpoint=tmp_path / "c", resume=True)
        ends.add(model.coef_.tobytes())
        assert model._drawn.seed == document["fit"]["seed"]
        assert np.array_equal(model._drawn.held_out, arrays.get("fit.held_out"))
    assert len(ends) == 1


def test_the_best_pass_may_lie_before_the_cut(tmp_path):
    X, y = noisy(120, 4, flip=0.2)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    for seed in range(20):
        parameters = {"max_iter": 9, "early_stopping": True, "random_state": seed}
        expected = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
        best = expected.curve_.best
        if best < 5:
            break
    model, was_cut = cut_and_resumed(blocks, tmp_path / "c", best + 2, parameters)
    assert was_cut
    assert model.t_ == expected.t_ < 120 * 5
    assert told(model) == told(expected)


def test_every_so_many_passes(tmp_path, monkeypatch):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    written = []
    plain = module.Checkpoint._write
    monkeypatch.setattr(
        module.Checkpoint, "_write", lambda self, loop: (written.append(loop.complete.passes), plain(self, loop))
    )
    quietly(rb.Perceptron(max_iter=10, decide=False).fit_blocks, blocks, checkpoint=tmp_path / "c", every=3)
    assert written == [3, 6, 9]


def test_more_passes_may_be_allowed(tmp_path):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks, checkpoint=tmp_path / "c")
    model = quietly(rb.Perceptron(max_iter=7).fit_blocks, blocks, checkpoint=tmp_path / "c", resume=True)
    assert told(model) == told(quietly(rb.Perceptron(max_iter=7).fit_blocks, blocks))
    with pytest.raises(ParameterError, match="max_iter=2 has been passed already"):
        rb.Perceptron(max_iter=2).fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)


def test_time_already_spent_counts(tmp_path):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks, checkpoint=tmp_path / "c")
    document, arrays = read_container(tmp_path / "c")
    document["fit"]["snapshot"]["seconds"] = 1000.0
    write_container(tmp_path / "c", document, arrays)
    model = rb.Perceptron(max_iter=100, max_time=900.0)
    quietly(model.fit_blocks, blocks, checkpoint=tmp_path / "c", resume=True)
    assert (model.stop_reason_, model.n_iter_) == ("max_time", 4)


def test_no_checkpoint_is_the_beginning(tmp_path):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y))
    model = quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks, checkpoint=tmp_path / "c", resume=True)
    assert model.n_iter_ == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta0": 0.5}, "eta0 was 1.0 then and is 0.5 now"),
        ({"random_state": 1}, "random_state was 0 then"),
        ({"average": True}, "average"),
    ],
)
def test_a_checkpoint_of_other_parameters(tmp_path, change, message):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y))
    quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks, checkpoint=tmp_path / "c")
    with pytest.raises(ParameterError, match=message):
        rb.Perceptron(max_iter=3, **change).fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)


def test_a_checkpoint_of_other_data_or_version(tmp_path, monkeypatch):
    X, y = noisy(80, 4)
    quietly(rb.Perceptron(max_iter=3).fit_blocks, collect(ArraySource(X, y)), checkpoint=tmp_path / "c")
    X[3, 3] += 1e-9
    with pytest.raises(ParameterError, match="the data is not the same"):
        rb.Perceptron().fit_blocks(collect(ArraySource(X, y)), checkpoint=tmp_path / "c", resume=True)
    X[3, 3] -= 1e-9
    monkeypatch.setattr("rosenblatt.estimators._fitting.version", lambda name: "99")
    with pytest.raises(ParameterError, match="the version is not the same"):
        rb.Perceptron().fit_blocks(collect(ArraySource(X, y)), checkpoint=tmp_path / "c", resume=True)


def test_no_damage_goes_unnoticed(tmp_path):
    X, y = noisy(40, 3)
    blocks = collect(ArraySource(X, y))
    path = tmp_path / "c"
    expected = quietly(rb.Perceptron(max_iter=4, average=True).fit_blocks, blocks, checkpoint=path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    cuts = [content[:at] for at in (0, 4, 8, 100, len(content) // 2, len(content) - 1)]
    places = [*range(12), *rng.integers(len(content), size=250).tolist()]
    damaged = [
        content[:at] + bytes([content[at] ^ int(rng.integers(1, 256))]) + content[at + 1 :] for at in places
    ]
    refused = 0
    for each in [*cuts, *damaged, b"", b"\0" * 64, b"{}" * 50]:
        path.write_bytes(each)
        model = rb.Perceptron(max_iter=4, average=True)
        try:
            quietly(model.fit_blocks, blocks, checkpoint=path, resume=True)
        except ModelFileError:
            refused += 1
        else:  # white space of the header, at most
            assert told(model) == told(expected)
    assert refused > 250


def _without(name):
    return lambda fit, arrays: fit.pop(name)


def _put(*path, value):
    def change(fit, arrays):
        part = fit["snapshot"]
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = value

    return change


def _array(name, change):
    return lambda fit, arrays: arrays.update({name: change(arrays[name])})


UNSOUND = {
    "identity of no table": lambda fit, arrays: fit.update(identity="[]"),
    "identity with a name twice": lambda fit, arrays: fit.update(identity='{"a": 1, "a": 1}'),
    "identity nested deeply": lambda fit, arrays: fit.update(identity="[" * 100_000),
    "visits of no pass": _put("visits_per_pass", value=[80, 80, 81]),
    "visits that wrap around": _put("visits_per_pass", value=[2**53] * 3),
    "a pass to come is the best": _put("validation", "best_epoch", value=9),
    "errors of more passes": _put("validation_errors", value=[0.5] * 9),
    "a mistake in a row beyond the last": _array("fit.snapshot.mistakes.index", lambda index: index + 80),
    "a mistake in a row before the first": _array("fit.snapshot.mistakes.index", lambda index: index - 80),
    "a mistake of no machine": _array("fit.snapshot.mistakes.machine", lambda machine: machine + 2),
    "a mistake of a negative machine": _array("fit.snapshot.mistakes.machine", lambda machine: machine - 2),
    "a visit to come": _array("fit.snapshot.mistakes.visit", lambda visit: visit + 240),
    "a negative visit": _array("fit.snapshot.mistakes.visit", lambda visit: visit - 240),
    "visits out of order": _array("fit.snapshot.mistakes.visit", lambda visit: visit[::-1].copy()),
    "no seed": _without("seed"),
    "no snapshot": _without("snapshot"),
    "seed": lambda fit, arrays: fit.update(seed=-1),
    "identity": lambda fit, arrays: fit.update(identity="{"),
    "passes": _put("passes", value=10**30),
    "other passes": _put("passes", value=7),
    "negative": _put("passes", value=-1),
    "a float": _put("passes", value=3.0),
    "text": _put("passes", value="3"),
    "visits": _put("state", "visits", value=2**60),
    "counts": _put("visits_per_pass", value=[80, 80]),
    "other counts": _put("mistakes_per_pass", value=[1, 2, 3]),
    "loss": _put("loss", value="much"),
    "seconds": _put("seconds", value=-1.0),
    "patience": _put("validation", "patience", value=0),
    "an unknown verdict": _put("verdict", value="inseparable"),
    "another rule": _put("tolerance", value=None),
    "a part too many": _put("more", value=1),
    "a missing array": _put("state", "w", value="none"),
    "an array twice": _put("start", "w", value="fit.snapshot.state.w"),
    "no average": _put("state", "u", value=None),
    "shape": _array("fit.snapshot.state.w", lambda w: w[:-1]),
    "type": _array("fit.snapshot.state.w", lambda w: w.astype(np.float32)),
    "dimensions": _array("fit.snapshot.state.w", lambda w: w[None, None]),
    "rows that are not there": _array("fit.held_out", lambda rows: rows + 1000),
    "negative rows": _array("fit.held_out", lambda rows: rows - 1000),
    "rows twice": _array("fit.held_out", np.zeros_like),
    "no rows": _array("fit.held_out", lambda rows: rows[:0]),
    "none held out": lambda fit, arrays: fit.update(held_out=None),
    "a mistake less": _array("fit.snapshot.mistakes.score", lambda column: column[1:]),
    "no mistakes": _put("mistakes", value=None),
}


@pytest.mark.parametrize("change", UNSOUND.values(), ids=UNSOUND)
def test_what_cannot_be_is_refused(tmp_path, change):
    """The checksum is right, so that only what the file says can give it away."""
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    parameters = {"max_iter": 3, "average": True, "tol": 1e-9, "early_stopping": True, "n_iter_no_change": 50}
    quietly(rb.Perceptron(**parameters).fit_blocks, blocks, checkpoint=tmp_path / "c")
    document, arrays = read_container(tmp_path / "c")
    change(document["fit"], arrays)
    write_container(tmp_path / "c", document, arrays)
    model = rb.Perceptron(**parameters | {"max_iter": 5})
    with pytest.raises(ModelFileError):
        model.fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)
    assert "_state" not in model.__dict__


def test_a_checkpoint_of_an_old_version_is_refused_in_a_sentence(tmp_path):
    from safetensors.numpy import save

    X, y = noisy(80, 4)
    (tmp_path / "c").write_bytes(save({"w": X}, {"rosenblatt": "{}", "sha256": "0"}))
    with pytest.raises(ModelFileError, match=r"not a checkpoint of this version.*Remove it, and train"):
        rb.Perceptron().fit_blocks(collect(ArraySource(X, y)), checkpoint=tmp_path / "c", resume=True)


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({}, {"resume": True}, "resume=True needs a checkpoint"),
        ({}, {"checkpoint": "c", "every": 0}, "every=0"),
        ({"stop_on_cycle": True}, {"checkpoint": "c"}, "cannot be combined with checkpoint"),
        ({"order": [0, 1]}, {"checkpoint": "c"}, "row by row"),
    ],
)
def test_what_cannot_be_resumed_is_refused(parameters, arguments, message):
    X, y = noisy(40, 3)
    with pytest.raises(ParameterError, match=message):
        rb.Perceptron(**parameters).fit_blocks(collect(ArraySource(X, y)), **arguments)


@pytest.mark.slow
def test_sparse_weights_of_many_classes_keep_their_bits(tmp_path):
    X, y = problem(3, 60, 4, 4, "csr")
    assert isinstance(X, csr_array)
    blocks = collect(ArraySource(X, y), memory=0, cache=tmp_path / "cache", block_bytes=200)
    for multiclass in ("direct", "ovr", "ovo"):
        parameters = {"max_iter": 6, "multiclass": multiclass, "average": True}
        expected = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
        model, was_cut = cut_and_resumed(blocks, tmp_path / multiclass, 5, parameters)
        assert was_cut
        assert told(model) == told(expected)


@pytest.mark.parametrize("sums", [[], [1.0], [1.0, 0.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
def test_sums_of_a_penalty_that_loops_would_read_beyond_are_refused(tmp_path, sums):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    quietly(rb.Perceptron(max_iter=3, penalty="l1").fit_blocks, blocks, checkpoint=tmp_path / "c")
    document, arrays = read_container(tmp_path / "c")
    arrays["fit.snapshot.state.shrunk.sums"] = np.array(sums)
    write_container(tmp_path / "c", document, arrays)
    with pytest.raises(ModelFileError, match="the state of the penalty is invalid"):
        rb.Perceptron(max_iter=5, penalty="l1").fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)


def test_a_checkpoint_that_names_missing_parameters_is_of_another_fit(tmp_path):
    X, y = noisy(80, 4)
    blocks = collect(ArraySource(X, y), block_bytes=500)
    quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks, checkpoint=tmp_path / "c")
    document, arrays = read_container(tmp_path / "c")
    known = json.loads(document["fit"]["identity"])
    known["parameters"]["more"] = None
    document["fit"]["identity"] = json.dumps(known)
    write_container(tmp_path / "c", document, arrays)
    with pytest.raises(ParameterError, match="was written by another fit"):
        rb.Perceptron(max_iter=5).fit_blocks(blocks, checkpoint=tmp_path / "c", resume=True)


@pytest.mark.skipif(os.name != "posix", reason="owners of files are those of POSIX")
class TestWhoWroteIt:
    def fit(self, tmp_path, **how):
        X, y = noisy(80, 4)
        blocks = collect(ArraySource(X, y), block_bytes=500)
        return quietly(rb.Perceptron(max_iter=3).fit_blocks, blocks, checkpoint=tmp_path / "c", **how)

    def test_others_may_not_read_it(self, tmp_path):
        self.fit(tmp_path)
        assert (tmp_path / "c").stat().st_mode & 0o777 == 0o600
        assert [each.name for each in tmp_path.iterdir()] == ["c"]

    def test_what_others_may_write_is_refused(self, tmp_path):
        self.fit(tmp_path)
        (tmp_path / "c").chmod(0o666)
        with pytest.raises(ModelFileError, match="c cannot be used: other users may write to it"):
            self.fit(tmp_path, resume=True)

    def test_a_link_is_refused_and_replaced(self, tmp_path):
        self.fit(tmp_path)
        (tmp_path / "c").rename(tmp_path / "theirs")
        (tmp_path / "c").symlink_to("theirs")
        content = (tmp_path / "theirs").read_bytes()
        with pytest.raises(ModelFileError, match="c cannot be used: it is a link"):
            self.fit(tmp_path, resume=True)
        self.fit(tmp_path)
        assert not (tmp_path / "c").is_symlink()
        assert (tmp_path / "theirs").read_bytes() == content

    def test_two_runs_do_not_share_it(self, tmp_path):
        said = f"in use by another run .process {os.getpid()}"
        with hold_lock(tmp_path / "c"), pytest.raises(StorageError, match=said):
            self.fit(tmp_path)
        self.fit(tmp_path)

    def test_one_run_does_not_discard_what_another_writes(self, tmp_path):
        self.fit(tmp_path)
        aside = tmp_path / ".c.0123456789abcdef.partial"
        aside.write_bytes(b"half of it")
        with hold_lock(tmp_path / "c"):
            discard(tmp_path / "c")
            assert aside.exists()
            assert (tmp_path / "c").exists()
        discard(tmp_path / "c")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("writes", [1, 3, 9])
def test_a_run_whose_trace_was_cut_goes_on(tmp_path, monkeypatch, writes):
    monkeypatch.setattr("rosenblatt.estimators._fitting.MISTAKES_KEPT", 60)
    X, y = noisy(300, 4)
    blocks = everywhere(X, y, tmp_path, block_bytes=1000)["memory"]
    parameters = {"max_iter": 12}
    expected = quietly(rb.Perceptron(**parameters).fit_blocks, blocks)
    model, was_cut = cut_and_resumed(blocks, tmp_path / "checkpoint", writes, parameters)
    assert was_cut
    assert told(model) == told(expected)
    assert model.trace_.cut == expected.trace_.cut == 60
