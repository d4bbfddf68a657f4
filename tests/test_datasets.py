"""The named sets to the digit, and the promises of the random ones in exact arithmetic."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from rosenblatt import datasets
from rosenblatt.datasets import (
    BUILTIN,
    BuiltinSource,
    load_and,
    load_or,
    load_six_points,
    load_spam_table,
    load_xor,
    make_diagonal,
    make_separable,
    make_text,
)
from rosenblatt.exceptions import ParameterError
from rosenblatt.tasks.contents import inspect_model

LOADERS = [load_six_points, load_spam_table, load_or, load_and, load_xor]


def test_six_points():
    X, y = load_six_points()
    assert X.tolist() == [[1.5, -0.5], [1, 1], [-2, 1], [-1, -1.5], [2, -2], [-2, -2]]
    assert y.tolist() == [1, 1, 1, -1, -1, -1]


def test_spam_table():
    data = load_spam_table()
    rows = ["".join(str(int(v)) for v in row) for row in data.X]
    assert rows == ["11011", "00110", "01100", "10010", "10101", "10110"]
    assert data.y.tolist() == [1, -1, 1, -1, 1, -1]
    assert data.feature_names == ("and", "viagra", "the", "of", "nigeria")


@pytest.mark.parametrize(
    "load, labels", [(load_or, [-1, 1, 1, 1]), (load_and, [-1, -1, -1, 1]), (load_xor, [-1, 1, 1, -1])]
)
def test_truth_tables(load, labels):
    X, y = load()
    assert X.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert y.tolist() == labels


@pytest.mark.parametrize("load", LOADERS)
def test_a_dataset_is_a_pair_that_knows_its_name(load):
    data = load()
    assert isinstance(data, tuple)
    assert len(data) == 2
    assert data.X is data[0]
    assert data.y is data[1]
    assert data.X.dtype == np.float64
    assert data.y.dtype == np.int64
    assert len(data.feature_names) == data.X.shape[1]
    assert data.name in repr(data)
    assert f"{len(data.y)} rows" in repr(data)
    assert data.description
    assert data.w is data.margin is None
    assert data.flipped.size == 0


@pytest.mark.parametrize("load", LOADERS)
def test_arrays_are_fresh(load):
    load().X[:] = 7
    load().y[:] = 7
    assert (load().X != 7).all()
    assert (load().y != 7).all()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_copies_keep_everything(again):
    data = make_separable(10, 3, margin=0.25, seed=0, flip=0.2)
    other = again(data)
    assert type(other) is type(data)
    assert repr(other) == repr(data)
    for name in ("X", "y", "w", "flipped"):
        assert_array_equal(getattr(other, name), getattr(data, name))


def test_all_names_exist():
    assert all(hasattr(datasets, name) for name in datasets.__all__)


def test_diagonal():
    X, y = make_diagonal(1000, seed=3)
    assert (np.abs(X) <= 1).all()
    assert_array_equal(y, np.where(X[:, 1] > X[:, 0], 1, -1))
    assert (X[:, 0] != X[:, 1]).all()
    assert X.min() < -0.99
    assert X.max() > 0.99


class Ties(np.random.Generator):
    """A generator whose first points lie on the diagonal."""

    def uniform(self, low, high, size):
        points = super().uniform(low, high, size)
        if size[0] == 20:
            points[::2, 1] = points[::2, 0]
        return points


def test_diagonal_draws_ties_anew():
    X, _ = make_diagonal(20, seed=Ties(np.random.PCG64(0)))
    assert (X[:, 0] != X[:, 1]).all()


# Separable data: every claim in exact rational arithmetic.


def exact_heights(data):
    w = [Fraction(v) for v in data.w.tolist()]
    rows = data.X.tolist()
    return [
        int(label) * sum(Fraction(v) * u for v, u in zip(row, w, strict=True) if u)
        for row, label in zip(rows, data.y, strict=True)
    ]


def squared_length(row):
    return sum(Fraction(v) ** 2 for v in row)


separable = st.fixed_dictionaries(
    {
        "n": st.integers(2, 30),
        "d": st.integers(1, 40),
        "seed": st.integers(0, 2**32),
        "radius": st.sampled_from([1.0, 0.1, 3.7, 1e10, 1e-20]),
        "dtype": st.sampled_from([np.float64, np.float32]),
    }
)
shares = st.floats(1e-6, 0.999) | st.sampled_from([0.5, 0.125, 0.1])


@given(separable, shares)
def test_the_margin_is_exact(arguments, share):
    data = make_separable(margin=share * arguments["radius"], **arguments)
    X, y = data
    margin, radius = Fraction(data.margin), Fraction(arguments["radius"])
    assert data.margin == arguments["dtype"](share * arguments["radius"])
    assert X.dtype == arguments["dtype"]
    assert squared_length(data.w.tolist()) == 1

    heights = exact_heights(data)
    assert min(heights) == margin  # so w reaches this margin, without a bias
    at_margin = [i for i, height in enumerate(heights) if height == margin]
    assert sorted(y[at_margin]) == [-1, 1]  # and only the two support rows are that near
    i, k = at_margin
    difference = [Fraction(a) - Fraction(b) for a, b in zip(X[i].tolist(), X[k].tolist(), strict=True)]
    # γ‖v‖ ≤ ±f at both rows, so 2γ‖v‖ ≤ <v, difference> ≤ ‖v‖·2·margin for every (v, b).
    assert squared_length(difference) == (2 * margin) ** 2
    assert max(squared_length(row) for row in X.tolist()) <= radius**2


@given(separable)
def test_separable_labels_are_balanced_and_seeds_reproduce(arguments):
    margin = 0.3 * arguments["radius"]
    data, same = (make_separable(margin=margin, **arguments) for _ in range(2))
    assert 0 <= data.y.sum() <= 1
    assert data.X.tobytes() == same.X.tobytes()
    assert data.y.tobytes() == same.y.tobytes()


def test_seeds_and_orders_differ():
    some = [make_separable(50, 8, margin=0.1, seed=seed) for seed in range(20)]
    assert len({data.X.tobytes() for data in some}) == 20
    support = [int(np.argmin(data.y * (data.X @ data.w))) for data in some]
    assert len(set(support)) > 5


@pytest.mark.parametrize("d", [1, 2, 3, 4, 15, 16, 17, 64, 100, 300])
def test_the_normal_is_as_dense_as_it_can_be(d):
    w = make_separable(2, d, margin=0.5, seed=0).w
    used = w[w != 0]
    assert 4 * used.size > d
    assert_array_equal(np.abs(used), used.size**-0.5)


def test_rows_do_not_depend_on_the_chunk(monkeypatch):
    whole = make_separable(100, 7, margin=0.1, seed=1)
    monkeypatch.setattr("rosenblatt.datasets._NUMBERS_AT_ONCE", 20)
    assert_array_equal(make_separable(100, 7, margin=0.1, seed=1).X, whole.X)


def test_the_ball_is_filled():
    X, _ = make_separable(4000, 3, margin=0.01, seed=0)
    lengths = np.linalg.norm(X, axis=1)
    assert lengths.max() > 0.99
    assert np.abs(X.mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("flip", [0.01, 0.1, 0.25, 0.5])
def test_flip(flip):
    clean = make_separable(400, 6, margin=0.1, seed=5)
    data = make_separable(400, 6, margin=0.1, seed=5, flip=flip)
    assert_array_equal(data.X, clean.X)
    assert_array_equal(np.flatnonzero(data.y != clean.y), data.flipped)
    assert data.flipped.size == 400 * flip
    assert data.margin is None
    assert_array_equal(data.w, clean.w)
    assert clean.flipped.size == 0


@pytest.mark.parametrize(
    "change, word",
    [
        ({"margin": 0}, "margin"),
        ({"margin": -1}, "margin"),
        ({"margin": 1.0}, "margin"),
        ({"margin": np.nan}, "margin"),
        ({"margin": 1 - 1e-16}, "margin"),
        ({"margin": np.nextafter(1.0, 0)}, "no room"),
        ({"margin": 1e-310}, "too small"),
        ({"margin": 2.0, "radius": 1.5}, "margin"),
        ({"radius": 0}, "radius"),
        ({"radius": np.inf}, "radius"),
        ({"radius": 1e39, "dtype": np.float32}, "radius"),
        ({"n": 1}, "n=.* must"),
        ({"n": 2.5}, "n=.* must"),
        ({"d": 0}, "d=.* must"),
        ({"flip": -0.1}, "flip"),
        ({"flip": 0.6}, "flip"),
        ({"dtype": np.int64}, "dtype"),
    ],
)
def test_separable_refuses(change, word):
    with pytest.raises(ParameterError, match=word):
        make_separable(**({"n": 10, "d": 3, "margin": 0.1, "seed": 0} | change))


# Text


@pytest.mark.parametrize("d, nnz", [(3, 1), (4, 2), (7, 3), (8, 4), (100, 30), (5000, 40)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_text(d, nnz, dtype):
    data = make_text(300, d, nnz=nnz, seed=2, dtype=dtype)
    X, y = data
    assert X.shape == (300, d)
    assert X.format == "csr"
    assert X.dtype == dtype
    assert X.indices.dtype == X.indptr.dtype == np.int32
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):  # not from the flag that we set
        assert (np.diff(X.indices[start:stop]) > 0).all()
    assert X.indices.min() >= 0
    assert X.indices.max() < d
    assert (X.data > 0).all()
    assert (np.diff(X.indptr) >= 1).all()
    assert nnz - 1 <= X.nnz / 300 <= nnz + 1
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1, rtol=1e-6 if dtype is np.float32 else 1e-14)

    scores = y * (X @ data.w)
    assert scores.min() > 0.05 * np.sqrt(np.mean(scores**2))  # separable, and not by a hair
    assert np.isclose(np.linalg.norm(data.w), 1)
    assert 0.3 < np.mean(y > 0) < 0.7


def test_text_is_zipf_like():
    X, _ = make_text(4000, 1023, nnz=20, seed=0)
    found = np.sort(np.bincount(X.indices, minlength=1023))[::-1]
    assert found[0] > 0.9 * 4000
    assert found[511:].max() < 0.05 * 4000
    assert np.count_nonzero(found) > 1000


def test_text_seeds_and_flips():
    clean, same = (make_text(200, 500, nnz=10, seed=4) for _ in range(2))
    assert clean.X.data.tobytes() == same.X.data.tobytes()
    assert clean.X.indices.tobytes() == same.X.indices.tobytes()
    assert_array_equal(clean.y, same.y)
    flipped = make_text(200, 500, nnz=10, seed=4, flip=0.1)
    assert_array_equal(np.flatnonzero(clean.y != flipped.y), flipped.flipped)
    assert flipped.flipped.size == 20
    assert (make_text(200, 500, nnz=10, seed=5).X != clean.X).nnz


@pytest.mark.parametrize(
    "change", [{"n": 0}, {"d": 2}, {"nnz": 0}, {"nnz": 51}, {"flip": 0.7}, {"dtype": "int8"}, {"d": "many"}]
)
def test_text_refuses(change):
    with pytest.raises(ParameterError):
        make_text(**({"n": 10, "d": 100, "nnz": 5, "seed": 0} | change))


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_sets_are_sources(name):
    source = BuiltinSource(name)
    [chunk] = source.chunks()
    assert len(source.names) == source.n_features == chunk.n_features
    assert len(chunk.labels) == chunk.n_rows
    assert source.files == (f"@{name}",)
    assert f"{chunk.n_rows} rows" in source.description
    assert (source.recipe, source.options, source.known(), source.unmet, source.skipped.count) == (None,) * 3 + (
        0,
        0,
    )


@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer", "digits"])
def test_measured_sets_are_those_of_scikit_learn(name):
    X, labels, names = BUILTIN[name].load()
    theirs = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")()
    assert_array_equal(X, theirs.data)
    assert_array_equal(labels, theirs.target if name == "digits" else theirs.target_names[theirs.target])
    assert list(names) == list(theirs.feature_names)


def test_unknown_names_of_built_in_sets_are_refused():
    with pytest.raises(ParameterError, match="Did you mean @iris"):
        BuiltinSource("irs")
    with pytest.raises(ParameterError, match=r"Use one of @six-points, .*@digits"):
        BuiltinSource("mnist")


@pytest.mark.parametrize("name", BUILTIN)
def test_measurements_are_scaled_on_the_command_line_and_worked_examples_are_not(name, tmp_path, monkeypatch):
    from rosenblatt.cli.main import main

    monkeypatch.chdir(tmp_path)
    measured = name in ("iris", "wine", "breast-cancer", "digits")
    assert BuiltinSource(name).measured is measured

    def provenance(*options):
        assert main(["train", f"@{name}", "-o", "m", "-q", "--max-iter", "2", *options]) == 0
        return inspect_model("m").provenance["scaled"]

    assert provenance() is measured
    assert provenance("--no-scale") is False
    assert provenance("--scale") is True
