"""The advice to scale columns: given where it helps, in place of more passes, and nowhere else."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt.estimators._features import columns_to_scale
from rosenblatt.exceptions import ScaleWarning
from rosenblatt.rows.batch import as_batch
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.blocks import MemoryBlocks
from rosenblatt.tables.collect import transform_blocks
from rosenblatt.tables.scaling import Statistics, Transformation

STANDARDISE = "Standardise them (StandardScaler, or scale=True of TableEncoder or rosenblatt.train)."
ACT = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _penguins():
    """Return grams beside millimetres: separable, by a line that needs both."""
    rng = np.random.default_rng(0)
    grams, depth = 4000 + 600 * rng.normal(size=300), 18.5 + 1.5 * rng.normal(size=300)
    side = (depth - 18.5) + (grams - 4000) / 800
    kept = np.abs(side) > 0.3
    return np.c_[grams, depth][kept], (side > 0).astype(int)[kept]


X, Y = _penguins()
FRAME = pd.DataFrame(X, columns=["grams", "depth"])
LARGER = f"column 'grams' is more than 200 times larger than column 'depth'. {STANDARDISE}"
NAMED = f"Training has not separated the rows, and {LARGER}"


def _said(clf, *data, kind=Warning):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(*data)
    return [str(each.message) for each in caught if issubclass(each.category, kind)]


def test_scaling_is_the_advice_where_passes_do_not_help():
    clf = rb.Perceptron()
    ended, advice = _said(clf, FRAME, Y)
    assert clf.stop_reason_ == "max_iter"
    assert "Some hyperplane does (proved: see certificate_.coef_" in ended
    assert ended.endswith("rows.")  # and no word of more passes
    assert advice == NAMED
    scaled = StandardScaler().fit_transform(X)
    assert _said(clf, scaled, Y) == []  # and the advice is right
    assert (clf.stop_reason_, clf.score(scaled, Y)) == ("separated", 1.0)


@ACT
@pytest.mark.parametrize(
    "clf",
    [
        rb.Perceptron(average=True),
        rb.VotedPerceptron(max_iter=20),
        rb.PocketPerceptron(max_iter=20),
        rb.PassiveAggressiveClassifier(),
        rb.KernelPerceptron("linear", max_iter=20),
        rb.LiftedPerceptron(max_iter=20),
        rb.Perceptron(early_stopping=True),
    ],
    ids=lambda each: type(each).__name__,
)
def test_others_say_it_too(clf):
    assert _said(clf, FRAME, Y, kind=ScaleWarning) == [NAMED]


def test_columns_without_names_are_numbered():
    (said,) = _said(rb.Perceptron(average=True), X, Y)
    assert "column 0 is more than 200 times larger than column 1." in said


def test_solvers_and_networks_add_it_to_their_advice():
    for clf in (rb.SoftMarginClassifier(max_iter=1), rb.MultilayerPerceptron(max_iter=2)):
        (whole,) = _said(clf, FRAME, Y)
        assert whole.endswith(f"Allow more, or a larger tol. Also, {LARGER}")
        for each in _said(clf, StandardScaler().fit_transform(X), Y):
            assert each.endswith("larger tol.")


@ACT
@pytest.mark.parametrize("n_rows", [300, 20_000])
def test_sparse_rows_are_measured_as_dense_ones_are(n_rows):
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((n_rows, 3)) < 0.3, 0.0, rng.normal(size=(n_rows, 3)) * [1.0, 1e3, 30.0])
    noise = rng.integers(0, 2, n_rows)
    ours = [
        _said(rb.Perceptron(average=True), rows, noise, kind=ScaleWarning) for rows in (dense, csr_array(dense))
    ]
    assert ours[0] == ours[1] != []


def test_tables_with_categories_are_told_to_scale_too():
    islands = np.random.default_rng(3).choice(["Biscoe", "Dream"], len(Y))
    table = FRAME.assign(island=islands)
    pipeline = make_pipeline(rb.TableEncoder(), rb.Perceptron())
    ended, advice = _said(pipeline, table, Y)
    assert ended.endswith("rows.")  # and no word of more passes
    assert re.search(r"column 0 is more than 4,000 times larger than column [23]\. Standardise", advice)
    pipeline = make_pipeline(rb.TableEncoder(scale=True), rb.Perceptron())
    assert _said(pipeline, table, Y) == []  # and the advice is right
    with pytest.warns(ScaleWarning, match="column 'grams' is more than 4,000 times larger than column 'island="):
        rb.train(table.assign(species=Y), scale=False)


def _rows():
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 2, 300)  # labels that nothing separates
    heavy = rng.normal(size=(300, 3)) ** 9
    few = np.where(rng.random((300, 40)) < 0.05, rng.choice([0.1, 50.0], (1, 40)), 0.0)
    flags = np.eye(6)[rng.integers(0, 6, 300)]
    yield "alike", rng.normal(size=(300, 3)) * [1, 3, 9], noise
    yield "standardised", StandardScaler().fit_transform(np.exp(3 * rng.normal(size=(300, 4)))), noise
    yield "standardised, heavy tails", StandardScaler().fit_transform(heavy), noise
    yield "sparse, few values", csr_array(np.c_[few, np.ones(300)]), noise
    yield "sparse flags", csr_array(flags), noise
    yield "few values", np.c_[few, np.ones(300)], noise
    yield "flags", flags, noise
    yield "bytes", rng.integers(0, 256, (300, 5)).astype(np.uint8) // np.array([1, 2, 4, 8, 8], np.uint8), noise
    yield "constant zero", rng.normal(size=(300, 2)) * [1e6, 0], noise
    yield "alone", 1e6 * rng.normal(size=(300, 1)), noise
    yield "far from zero, and nothing proved", 50 + rng.normal(size=(300, 2)), noise
    yield "separated", np.c_[1e6 * np.sign(noise - 0.5), rng.normal(size=300)], noise


@ACT
@pytest.mark.parametrize(
    ("rows", "labels"), [(rows, y) for _, rows, y in _rows()], ids=[each[0] for each in _rows()]
)
def test_nothing_is_said_of_others(rows, labels):
    assert _said(rb.Perceptron(average=True), rows, labels, kind=ScaleWarning) == []
    assert _said(rb.Perceptron(max_iter=20), rows, labels, kind=ScaleWarning) == []


def test_rows_of_one_scale_far_from_the_origin_are_to_be_standardised():
    centred = rb.datasets.make_separable(300, 3, margin=0.2, seed=0)
    rows = 100 * (centred[0] / np.abs(centred[0]).max() + [3.0, 2.5, 3.0])
    clf = rb.Perceptron()
    ended, advice = _said(clf, rows, centred[1])
    assert ended.endswith("rows.")
    assert re.search(
        r"column \d lies around [23]\d\d, far from zero for a bias that moves by 1\. Standardise", advice
    )
    assert _said(clf, StandardScaler().fit_transform(rows), centred[1]) == []


def test_more_passes_are_the_advice_where_columns_are_alike():
    rows, labels = np.array([[0.0, 1.0], [1.0, 0.0], [0.997, 0.0]]), [0, 1, 0]
    (said,) = _said(rb.Perceptron(order="cyclic", max_iter=20), rows, labels)
    assert said.endswith("Allow more passes.")
    (said,) = _said(rb.LiftedPerceptron(max_iter=1), rows, labels)
    assert re.search(r"Raise max_iter; the bound allows \S+ mistakes\.$", said)


@ACT
def test_blocks_are_judged_by_whether_they_are_scaled_already():
    batch = as_batch(FRAME, Y)
    statistics = Statistics()
    statistics.add(batch.rows, batch.n_rows, 2)
    with pytest.warns(ScaleWarning, match="'grams' is more than 200 times larger"):
        rb.Perceptron(average=True).fit_blocks(MemoryBlocks(batch))
    scaled = transform_blocks(MemoryBlocks(batch), *Transformation.of(statistics, fill=False, scale=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        rb.Perceptron(max_iter=1).fit_blocks(scaled)


def test_extreme_sizes_are_compared_and_beyond_floats_left_to_training():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(50, 2)) * [1e100, 1.0]
    (said,) = _said(rb.Perceptron(average=True), rows, rng.integers(0, 2, 50), kind=ScaleWarning)
    assert re.search(r"column 0 is more than 10(⁹⁹|¹⁰⁰) times larger than column 1\.", said)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        with pytest.raises(rb.exceptions.NonFiniteError):
            rb.Perceptron().fit([[1.0, np.nan], [1.0, 1e5]], [0, 1])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(("tiny", "power"), [(1e-200, "¹⁹⁹|²⁰⁰"), (1e-310, "³⁰⁹|³¹⁰")])
def test_tiny_values_are_measured_though_their_squares_are_zero(form, tiny, power):
    rows = np.random.default_rng(0).standard_normal((80, 2)) * [tiny, 1.0]
    (said,) = _said(rb.Perceptron(), form(rows), np.arange(80) % 2, kind=ScaleWarning)
    assert re.search(f"column 1 is more than 10({power}) times larger than column 0", said)


def test_the_command_says_it_in_its_own_words(tmp_path, capsys):
    from rosenblatt.cli.main import main

    FRAME.assign(species=Y).to_csv(tmp_path / "penguins.csv", index=False)
    command = ["train", str(tmp_path / "penguins.csv"), "-o", str(tmp_path / "m"), "--learner", "perceptron"]
    assert main(command) == 0
    assert "note:" not in capsys.readouterr().err
    assert main([*command, "--no-scale"]) == 0
    said = capsys.readouterr().err
    assert "column 'grams' is more than 200 times larger than column 'depth'. Standardise them (--scale)." in said
    assert "more passes" not in said


def test_very_wide_sparse_rows_take_no_memory_for_each_column():
    rows = csr_array((np.ones(40), np.arange(40), np.arange(0, 41, 2)), shape=(20, 2**40))
    assert columns_to_scale(as_rows(rows)) is None
