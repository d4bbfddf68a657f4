"""The Mark I: what its cells see, what its units do, and what it learns, in 1958 and since."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split

import rosenblatt as rb
from rosenblatt.datasets import make_cards
from rosenblatt.exceptions import NonFiniteError, ParameterError, PredictionOverflowError, ShapeError
from rosenblatt.networks.mark_one import Retina, Wiring, image_shape_of, resampling
from rosenblatt.rows.features import as_rows
from tests.shared.examples import slowly
from tests.shared.strategies import RaisesAfter

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@given(n_from=st.integers(1, 30), n_to=st.integers(1, 30))
def test_resampling_keeps_light(n_from, n_to):
    R = resampling(n_from, n_to)
    assert R.shape == (n_to, n_from)
    assert (R >= 0).all()
    assert R.sum(axis=1) == pytest.approx(1, abs=1e-12)  # a plain wall stays plain
    assert R[::-1, ::-1] == pytest.approx(R, abs=1e-12)  # left is treated as right is
    if n_to <= n_from:  # averages: all light arrives, and each pixel counts the same
        assert R.sum(axis=0) == pytest.approx(n_to / n_from, abs=1e-12)
    if n_from == n_to:
        assert (R == np.eye(n_to)).all()
    if n_to > n_from:  # interpolation: a straight slope stays one, between the outermost centres
        old, new = ((np.arange(n) + 0.5) / n for n in (n_from, n_to))
        inside = np.abs(new - 0.5) <= 0.5 - 0.5 / n_from
        assert (R @ old)[inside] == pytest.approx(new[inside], abs=1e-12)


def test_an_image_is_resampled_line_by_line_and_column_by_column():
    image = np.arange(24.0).reshape(4, 6)
    retina = Retina((2, 3), (4, 6), True, (0.0, 32.0))
    ((_, light),) = retina.look(as_rows(image.reshape(1, -1)))
    blocks = image.reshape(2, 2, 3, 2).mean(axis=(1, 3))
    assert light.reshape(2, 3).tolist() == (blocks / 32).tolist()


@pytest.mark.parametrize(
    ("exposure", "light"),
    [(None, [0, 0.25, 0.5, 1]), ((0, 8), [0, 0.25, 0.5, 1]), ((8, 0), [1, 0.75, 0.5, 0]), ((2, 4), [0, 0, 1, 1])],
)
def test_exposure(exposure, light):
    pixels = as_rows([[0.0, 2.0, 4.0, 8.0]])
    assert next(Retina((2, 2), (2, 2), True, exposure).look(pixels))[1].tolist() == [light]
    binary = next(Retina((2, 2), (2, 2), False, exposure).look(pixels))[1]
    assert binary.tolist() == [[float(each > 0.5) for each in light]]  # half way between is dark


def test_a_blank_image_is_dark():
    assert next(Retina((2, 2), (2, 2), False, None).look(as_rows([[7.0] * 4])))[1].tolist() == [[0.0] * 4]


def test_shapes_of_images():
    assert image_shape_of(64, None) == (8, 8)
    assert image_shape_of(6, None) == (1, 6)
    assert image_shape_of(6, (3, 2)) == (3, 2)
    with pytest.raises(ParameterError, match=r"\(3, 3\) has 9 pixels, but X has 6 features"):
        rb.MarkOne(image_shape=(3, 3)).fit(np.eye(6), np.arange(6))


@given(seed=st.integers(0, 50), graded=st.booleans(), n=st.sampled_from([1, 3, 40]))
def test_units_are_the_textbooks(seed, graded, n):
    """Each unit on its own: the light that excites it, less the light that inhibits it, and the threshold."""
    rng = np.random.default_rng(seed)
    wiring = Wiring.draw(20, 3, 2, 0.5, (4, 5), rng)
    light = rng.integers(0, 65, (n, 20)) / 64 if graded else rng.integers(0, 2, (n, 20)).astype(float)
    on = wiring.respond(light)
    for unit in range(20):
        excited = [sum(row[wiring.excitatory[unit]]) - sum(row[wiring.inhibitory[unit]]) for row in light]
        assert on[:, unit].tolist() == [float(each >= 0.5) for each in excited]
        wires = {*wiring.excitatory[unit].tolist(), *wiring.inhibitory[unit].tolist()}
        assert len(wires) == 5  # all different
        assert np.flatnonzero(wiring.picture(unit)).tolist() == sorted(wires)
        assert (wiring.matrix()[unit] == wiring.picture(unit).ravel()).all()
    assert wiring.matrix().sum() == 20 * (3 - 2)


def test_wires_reach_every_photocell():
    machine = rb.MarkOne(512).fit(*make_cards(20, seed=0))
    counts = np.bincount(np.concatenate([machine.wiring_.excitatory.ravel(), machine.wiring_.inhibitory.ravel()]))
    assert len(counts) == 400
    assert counts.min() >= 1
    assert counts.mean() == pytest.approx(512 * 6 / 400)
    assert "512 association units on 20 × 20 photocells" in repr(machine.wiring_)


@pytest.mark.parametrize("seed", range(5))
def test_fifty_trials_tell_left_from_right(seed):
    """The first demonstration: fifty cards, each shown once."""
    X, y = make_cards(1050, seed=seed)
    machine = rb.MarkOne(random_state=seed)
    for card, side in zip(X[:50], y[:50], strict=True):
        machine.learn_one(card, side)
    assert machine.t_ == 50
    assert machine.score(X[50:], y[50:]) > 0.95
    assert machine.predict_one(X[50]) == machine.predict(X[50:51])[0]


@pytest.mark.parametrize("seed", [0, *slowly(1, 2)])
def test_digits_are_read(seed):
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X, y, random_state=seed, stratify=y)
    machine = rb.MarkOne(512, random_state=seed).fit(A, a)
    assert machine.stop_reason_ == "separated"
    assert machine.score(B, b) > 0.9
    assert machine.coef_.shape == (10, 512)
    assert machine.see(B).shape == (450, 20, 20)


@pytest.mark.parametrize("seed", [0, 1, *slowly(*range(2, 10))])
def test_xor(seed):
    X, y = rb.datasets.load_xor()
    machine = rb.MarkOne(exposure=(0, 1), random_state=seed).fit(X, y)
    assert machine.score(X, y) == 1.0
    assert machine.converged_


def test_a_run_replays():
    X, y = load_digits(return_X_y=True)
    machine = rb.MarkOne(100, max_iter=5).fit(X, y)
    again = machine.trace_.replay(machine.associate(X), y)
    assert again.coef.tobytes() == machine.coef_.tobytes()
    assert len(machine.trace_) == machine.n_mistakes_ == machine.mistakes_per_pass_.sum()
    assert (machine.n_iter_, machine.stop_reason_) == (5, "max_iter")


def test_bits_do_not_depend_on_company(monkeypatch):
    """Few images or many, dense or sparse, of single or double precision: each excites the same units."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 7 * 31)).astype(np.float32)
    machine = rb.MarkOne(50, image_shape=(7, 31), photocells="graded").fit(X, np.arange(60) % 3)
    on = machine.associate(X)
    assert np.vstack([machine.associate(X[i : i + 1]) for i in range(60)]).tobytes() == on.tobytes()
    assert machine.associate(X.astype(float)).tobytes() == on.tobytes()
    assert machine.associate(csr_array(X)).tobytes() == on.tobytes()
    monkeypatch.setattr("rosenblatt.networks.mark_one.BLOCK_PIXELS", 2000)
    assert machine.associate(X).tobytes() == on.tobytes()


def test_ties_do_not_depend_on_company():
    """Tenths add up to a threshold in one order and miss it in another; photocells read them to a grain."""
    X = np.random.default_rng(0).integers(0, 11, (40, 400)) / 10
    rule = {"photocells": "graded", "exposure": (0, 1), "threshold": 1.0, "excitatory": 6, "inhibitory": 6}
    machine = rb.MarkOne(200, **rule).fit(X, np.arange(40) % 2)
    one_by_one = np.vstack([machine.associate(X[i : i + 1]) for i in range(40)])
    assert one_by_one.tobytes() == machine.associate(X).tobytes()


def test_interrupted_training_leaves_the_last_pass():
    X, y = make_cards(200, noise=0.2, seed=0)
    machine = rb.MarkOne(50, callbacks=[RaisesAfter(2, KeyboardInterrupt)])
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, y)
    assert machine.stop_reason_ == "interrupted"
    assert machine.predict(X).shape == (200,)


def test_a_stream_goes_on_from_a_fit():
    X, y = make_cards(100, noise=0.3, seed=0)
    machine = rb.MarkOne(30, max_iter=2).fit(X, y)
    wires, visits = machine.wiring_, machine.t_
    machine.partial_fit(X, y)
    assert machine.wiring_ is wires
    assert machine.t_ == visits + 100
    assert not hasattr(machine, "stop_reason_")
    machine.set_params(margin=0.5).partial_fit(X, y)
    for name, value in {"threshold": 2.0, "retina": (10, 10), "photocells": "graded"}.items():
        with pytest.raises(ParameterError, match=f"{name}=.* cannot continue from"):
            clone_of(machine).set_params(**{name: value}).partial_fit(X, y)
    with pytest.raises(ParameterError, match="average cannot change"):
        clone_of(machine).set_params(average=True).partial_fit(X, y)


def test_shapes_may_be_arrays():
    X, y = make_cards(20, seed=0)
    machine = clone_of(rb.MarkOne(30, retina=np.array([10, 10]), image_shape=[20, 20], exposure=np.array([0, 1])))
    again = clone_of(machine.partial_fit(X, y)).partial_fit(X, y)
    assert again.coef_.tobytes() == machine.partial_fit(X, y).coef_.tobytes()
    assert again.see(X).shape == (20, 10, 10)


def clone_of(model):
    return pickle.loads(pickle.dumps(model))


def test_several_classes_may_come_as_they_like():
    X, y = load_digits(return_X_y=True)
    machine = rb.MarkOne(100)
    for x, label in zip(X[:100], y[:100], strict=True):
        machine.learn_one(x, int(label), classes="grow")
    assert machine.classes_.tolist() == list(range(10))


def test_names_and_labels():
    frame = pd.DataFrame(np.eye(4), columns=list("abcd"))
    machine = rb.MarkOne(50).fit(frame, ["N", "S", "N", "S"])
    assert machine.predict(frame).tolist() == ["N", "S", "N", "S"]
    with pytest.raises(ValueError, match="same order"):
        machine.predict(frame[list("bacd")])


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_association": 0},
        {"excitatory": 0},
        {"inhibitory": -1},
        {"threshold": np.nan},
        {"retina": 20},
        {"retina": (0, 3)},
        {"image_shape": (2,)},
        {"photocells": "film"},
        {"exposure": 3},
        {"exposure": (1, 1)},
        {"exposure": (0, np.inf)},
        {"excitatory": 300, "inhibitory": 200},
        {"max_iter": 0},
        {"random_state": -1},
    ],
    ids=repr,
)
def test_parameters_that_make_no_sense(parameters):
    X, y = make_cards(10, seed=0)
    machine = rb.MarkOne(**parameters)
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        machine.fit(X, y)
    assert not machine.__sklearn_is_fitted__()


def test_bad_images():
    X, y = make_cards(10, seed=0)
    machine = rb.MarkOne(20).fit(X, y)
    spoilt = X.copy()
    spoilt[7, 3] = np.nan
    with pytest.raises(NonFiniteError, match="row 7, column 3"):
        machine.fit(spoilt, y)
    with pytest.raises(PredictionOverflowError, match="row 1 of X are too large"):
        machine.predict([[0.0] * 400, [-1.7e308, 1.7e308] * 200])
    with pytest.raises(ShapeError, match="399 features"):
        machine.learn_one(X[0, 1:], 1)
    with pytest.raises(NotFittedError):
        rb.MarkOne().see(X)


def test_copies():
    X, y = make_cards(30, seed=0)
    machine = rb.MarkOne(20, random_state=2).fit(X, y)
    again = clone_of(machine)
    assert again.partial_fit(X, y).coef_.tobytes() == machine.partial_fit(X, y).coef_.tobytes()
    assert clone(machine).fit(X, y).wiring_.excitatory.tolist() == machine.wiring_.excitatory.tolist()
    other = rb.MarkOne(20, random_state=3).fit(X, y)
    assert other.wiring_.excitatory.tolist() != machine.wiring_.excitatory.tolist()


@given(seed=st.integers(0, 100), size=st.integers(4, 25), data=st.data())
def test_cards(seed, size, data):
    most = data.draw(st.integers(1, size // 2))
    X, y = make_cards(20, size=size, side=(1, most), seed=seed)
    for card, side in zip(X.reshape(-1, size, size), y, strict=True):
        lines, columns = np.nonzero(card)
        assert len(lines) == (np.ptp(lines) + 1) * (np.ptp(columns) + 1)
        assert np.ptp(lines) == np.ptp(columns) < most  # a square
        assert (columns >= size - size // 2).all() if side > 0 else (columns < size // 2).all()
    assert abs(y.sum()) <= 1


def test_noise_on_cards_and_bad_arguments():
    clean, noisy = make_cards(200, seed=0), make_cards(200, noise=0.1, seed=0)
    assert (clean.X != noisy.X).mean() == pytest.approx(0.1, abs=0.01)
    for bad in ({"side": (3, 11)}, {"side": (4, 3)}, {"noise": 0.6, "side": (5, 8)}, {"size": 3}):
        with pytest.raises(ParameterError):
            make_cards(5, seed=0, **bad)
