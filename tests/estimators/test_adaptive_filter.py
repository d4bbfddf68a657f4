"""The adaptive filter against its textbook, in chunks, in decibels, and against bad signals."""

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rosenblatt as rb
from rosenblatt.datasets import make_echo
from rosenblatt.estimators import adaptive_filter as filtering
from rosenblatt.exceptions import (
    DataTypeError,
    InputError,
    NonFiniteError,
    ParameterError,
    ShapeError,
    TrainingOverflowError,
)
from tests.oracles import family as reference


def call(n=3000, n_taps=37, seed=0, complex_=False):
    """Return a far end and its echo; complex ones through a complex room."""
    rng = np.random.default_rng(seed)
    parts = 2 if complex_ else 1
    draw = lambda size: rng.standard_normal((parts, size)).T @ [1, 1j][:parts]  # noqa: E731
    far, room = draw(n), draw(n_taps) / n_taps**0.5
    return far, np.convolve(far, room)[:n] + 0.01 * draw(n), room


@given(
    far=st.lists(st.integers(-2, 2), min_size=1, max_size=12),
    n_taps=st.integers(1, 5),
    data=st.data(),
)
def test_lms_is_the_textbooks_to_the_bit_where_sums_are_exact(far, n_taps, data):
    mic = data.draw(st.lists(st.integers(-3, 3), min_size=len(far), max_size=len(far)))
    mu = Fraction(1, 8)
    expected, w = reference.adapt([*map(Fraction, far)], [*map(Fraction, mic)], n_taps, mu, normalised=False)
    model = rb.AdaptiveFilter(n_taps, algorithm="lms", step_size=float(mu))
    assert model.fit_transform(far, mic).tolist() == [float(e) for e in expected]
    assert model.coef_.tolist() == [float(each) for each in w]


@pytest.mark.parametrize("n_taps", [1, 2, 7, 8, 31, 40, 67])
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("algorithm", ["lms", "nlms"])
def test_the_loop_is_the_textbook(n_taps, complex_, algorithm, monkeypatch):
    monkeypatch.setattr(filtering, "LEAST_LINE", 3)  # so that the delay line is full many times
    far, mic, _ = call(500, n_taps, complex_=complex_)
    step = {"lms": 0.2 / n_taps, "nlms": 0.7}[algorithm]
    expected, w = reference.adapt(far, mic, n_taps, step, 0.01, normalised=algorithm == "nlms")
    model = rb.AdaptiveFilter(n_taps, algorithm=algorithm, step_size=step, regularization=0.01)
    cleaned = model.fit_transform(far, mic)
    assert cleaned.dtype == model.coef_.dtype == (complex if complex_ else float)
    assert cleaned == pytest.approx(np.array(expected), rel=1e-10, abs=1e-10)
    assert model.coef_ == pytest.approx(np.array(w), rel=1e-10, abs=1e-10)


@given(ends=st.lists(st.integers(1, 2999), max_size=12), complex_=st.booleans(), lms=st.booleans())
def test_chunks_leave_the_bits_of_the_whole(ends, complex_, lms):
    far, mic, _ = call(complex_=complex_)
    parameters = {"algorithm": "lms", "step_size": 0.01} if lms else {}
    whole = rb.AdaptiveFilter(37, window=256, **parameters)
    expected = whole.fit_transform(far, mic)
    chunked = rb.AdaptiveFilter(37, window=256, **parameters)
    cuts = [0, *sorted(set(ends)), len(far)]
    pieces = [chunked.process(far[a:b], mic[a:b]) for a, b in pairwise(cuts)]
    assert np.concatenate(pieces).tobytes() == expected.tobytes()
    assert chunked.coef_.tobytes() == whole.coef_.tobytes()
    assert chunked.erle_curve_.tobytes() == whole.erle_curve_.tobytes()
    assert chunked.n_samples_seen_ == whole.n_samples_seen_ == 3000


def test_single_samples_leave_the_bits_of_the_whole():
    far, mic, _ = call(200)
    whole, single = rb.AdaptiveFilter(37), rb.AdaptiveFilter(37)
    expected = whole.fit_transform(far, mic)
    assert [single.process_one(x, d) for x, d in zip(far, mic, strict=True)] == expected.tolist()
    assert single.partial_fit(far, mic).coef_.tobytes() == whole.partial_fit(far, mic).coef_.tobytes()


def test_a_stream_may_turn_complex():
    far, mic, _ = call(400, complex_=True)
    far[:100], mic[:100] = far[:100].real, mic[:100].real
    whole = rb.AdaptiveFilter(37).fit(far, mic)
    turned = rb.AdaptiveFilter(37).fit(far[:100].real, mic[:100].real)
    assert turned.coef_.dtype == float
    assert turned.partial_fit(far[100:], mic[100:]).coef_.tobytes() == whole.coef_.tobytes()
    assert turned.process([1.0], [2.0]).dtype == complex


def test_thirty_decibels_of_echo_are_removed():
    """A room of 256 taps at 40 dB echo to noise: what is left is the noise, and little more."""
    scene = make_echo(2 * 16_000, n_taps=256, echo_to_noise=40, seed=1)
    model = rb.AdaptiveFilter(256)
    cleaned = model.fit_transform(scene.far_end, scene.microphone)
    assert model.erle_ >= 30
    assert (model.erle_curve_[2:] >= 30).all()
    assert model.erle_ <= 40.5  # the noise is not the echo's: none of it can be predicted
    last = slice(6 * 4096, 7 * 4096)
    power = [np.square(signal[last]).sum() for signal in (scene.microphone, cleaned)]
    assert model.erle_ == pytest.approx(10 * np.log10(power[0] / power[1]), abs=1e-9)
    assert np.linalg.norm(model.coef_ - scene.path) < 0.02
    lms = rb.AdaptiveFilter(256, algorithm="lms", step_size=0.002).fit(scene.far_end, scene.microphone)
    assert lms.erle_ >= 30


def test_a_complex_room_is_learned():
    far, mic, room = call(20_000, complex_=True)
    model = rb.AdaptiveFilter(37).fit(far, mic)
    assert np.linalg.norm(model.coef_ - room) < 0.02
    assert model.erle_ >= 30


def test_erle_of_a_stream_shorter_than_a_window_and_of_silence():
    model = rb.AdaptiveFilter(2, window=4).fit([1, 0], [10, 0])
    assert model.erle_curve_.tolist() == [0.0]  # the first sample is heard before anything is known
    model.partial_fit([0, 0], [0, 0]).partial_fit([0] * 4, [0] * 4)
    assert model.erle_curve_[0] == 0.0
    assert np.isnan(model.erle_)


@pytest.mark.parametrize("complex_", [False, True])
def test_taps_at_rest(complex_):
    far, mic, _ = call(complex_=complex_)
    model = rb.AdaptiveFilter(37).fit(far, mic)
    before = pickle.dumps(model.__dict__)
    echo = np.convolve(far, model.coef_)[: len(far)]
    assert model.predict(far) == pytest.approx(echo, abs=1e-10)
    assert model.transform(far, mic) == pytest.approx(mic - echo, abs=1e-10)
    assert model.predict(far.real).dtype == model.coef_.dtype
    assert pickle.dumps(model.__dict__) == before


def test_a_loud_and_a_quiet_call_are_cleaned_alike():
    """The point of normalising: a far end a thousand times as loud, with its echo, leaves the same taps."""
    far, mic, _ = call()
    taps = [rb.AdaptiveFilter(37, regularization=0).fit(s * far, s * mic).coef_ for s in (1.0, 1024.0)]
    assert taps[0].tobytes() == taps[1].tobytes()


def test_silence_changes_nothing():
    far, mic, _ = call()
    model = rb.AdaptiveFilter(37, regularization=0).fit(far, mic).partial_fit(np.zeros(37), np.zeros(37))
    known = model.coef_
    assert model.partial_fit(np.zeros(50), mic[:50]).coef_.tobytes() == known.tobytes()


@pytest.mark.parametrize("chunk", [50, 3000])
def test_divergence_is_said(chunk):
    far, mic, _ = call()
    model = rb.AdaptiveFilter(37, algorithm="lms", step_size=0.01).fit(far, mic)
    before = pickle.dumps(model.__dict__)
    model.set_params(step_size=0.5)
    with pytest.raises(TrainingOverflowError, match=r"diverged: at sample 3,0\d\d .* = 0.05\d*; step_size is 0.5"):
        model.partial_fit(far, mic)
    model.set_params(step_size=0.01)
    assert pickle.dumps(model.__dict__) == before
    fresh = rb.AdaptiveFilter(37, algorithm="lms", step_size=0.5)
    with pytest.raises(TrainingOverflowError, match="algorithm='nlms'"):
        streamed(fresh, far, mic, chunk)


def streamed(model, far, mic, chunk):
    for first in range(0, len(far), chunk):
        model.partial_fit(far[first : first + chunk], mic[first : first + chunk])


def test_signals_too_large_for_floats():
    with pytest.raises(TrainingOverflowError, match=r"at sample 1 .* Scale the signals down"):
        rb.AdaptiveFilter(2).fit([1.0, 1.0], [1.0, 1e200])


@pytest.mark.parametrize(
    ("far", "mic", "error", "message"),
    [
        ([1, 2, 3], [1, 2], ShapeError, "far_end has 3 samples, but microphone has 2"),
        ([1, np.nan], [1, 2], NonFiniteError, "far_end is nan at sample 1"),
        ([1, 2], [1, np.inf], NonFiniteError, "microphone is inf at sample 1"),
        ([1, 2], [1, 1j * np.inf], NonFiniteError, "microphone is .* at sample 1"),
        ([[1, 2]], [1, 2], ShapeError, r"one channel.* \(1, 2\)"),
        ([], [], ShapeError, "far_end has no samples"),
        ([1, 2], ["a", "b"], DataTypeError, "microphone"),
        ([1, [2]], [1, 2], ShapeError, "far_end is not a signal"),
        ([1, 2], np.ma.array([1, 2], mask=[0, 1]), InputError, "microphone has masked samples"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "fit_transform", "partial_fit", "process"])
def test_bad_signals(far, mic, error, message, method):
    model = rb.AdaptiveFilter(2)
    with pytest.raises(error, match=message):
        getattr(model, method)(far, mic)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_taps": 0},
        {"n_taps": 2.0},
        {"algorithm": "rls"},
        {"step_size": 0},
        {"step_size": 2},
        {"step_size": 2.5},
        {"step_size": -1, "algorithm": "lms"},
        {"regularization": -1},
        {"window": 0},
    ],
    ids=repr,
)
def test_parameters_that_make_no_sense(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        rb.AdaptiveFilter(**parameters).fit([1.0], [1.0])


def test_a_stream_keeps_its_length():
    model = rb.AdaptiveFilter(4).fit([1.0], [1.0])
    with pytest.raises(ParameterError, match="n_taps=5 cannot continue from 4"):
        model.set_params(n_taps=5).partial_fit([1.0], [1.0])
    assert model.fit([1.0], [1.0]).coef_.shape == (5,)
    with pytest.raises(ParameterError, match="window=7 cannot continue"):
        model.set_params(window=7).partial_fit([1.0], [1.0])


def test_before_anything_is_heard():
    model = rb.AdaptiveFilter()
    for method in (lambda: model.predict([1]), lambda: model.transform([1], [1])):
        with pytest.raises(NotFittedError, match="heard nothing yet"):
            method()
    for name in ("coef_", "erle_", "erle_curve_", "n_samples_seen_"):
        assert not hasattr(model, name)


def test_copies():
    far, mic, _ = call(300)
    model = rb.AdaptiveFilter(37, step_size=0.3).fit(far, mic)
    again = pickle.loads(pickle.dumps(model))
    assert again.partial_fit(far, mic).coef_.tobytes() == model.partial_fit(far, mic).coef_.tobytes()
    assert clone(model).get_params()["step_size"] == 0.3
    assert model.fit(far.tolist(), mic).fit(far, mic).coef_.tobytes() == clone(model).fit(far, mic).coef_.tobytes()


def test_the_echo_of_the_maker():
    scene = make_echo(5000, n_taps=64, echo_to_noise=20, seed=4)
    echo = np.convolve(scene.far_end, scene.path)[:5000]
    noise = scene.microphone - echo
    assert 10 * np.log10(np.square(echo).mean() / np.square(noise).mean()) == pytest.approx(20, abs=1e-9)
    assert np.square(scene.path).sum() == pytest.approx(1)
    given = make_echo(scene.far_end, n_taps=8, seed=0)
    assert given.far_end.tobytes() == scene.far_end.tobytes()
    assert make_echo(10, seed=1).microphone.tobytes() == make_echo(10, seed=1).microphone.tobytes()
    for bad in ({"n_taps": 0}, {"echo_to_noise": np.inf}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            make_echo(10, seed=0, **bad)
