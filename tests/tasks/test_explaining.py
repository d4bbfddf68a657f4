"""Explanations add up to the decision score exactly, for every kind of model that has one."""

import json
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import rosenblatt as rb
from rosenblatt.exceptions import InputError, LabelError, ParameterError

RNG = np.random.default_rng(7)
X2 = RNG.standard_normal((60, 4)) * [1.0, 3.0, 0.1, 20.0]
TWO = np.where(X2 @ [1.0, -0.3, 2.0, 0.05] + 0.3 * RNG.standard_normal(60) > 0, "yes", "no")
THREE = np.digitize(X2 @ [1.0, -0.3, 2.0, 0.05], [-0.8, 0.8])
NAMES = ["a", "b", "c", "d"]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def require_exact(explanation, decision):
    """Each score is the model's, and the exact parts add up to it; rounding adds only to the last digits."""
    assert len(explanation) == len(decision)
    for each, score in zip(explanation, decision, strict=True):
        assert each.score == score
        exact = each.exact()
        parts = [*exact["contributions"], exact["bias"]]
        assert all(type(part) is Fraction for part in [*parts, exact["rounding"]])
        assert sum(parts) + exact["rounding"] == Fraction(float(score))
        assert each.contributions.tolist() == [float(part) for part in exact["contributions"]]
        size = sum(abs(part) for part in parts)
        assert abs(exact["rounding"]) <= 2e-15 * len(parts) * float(size)
        assert each.rounding == float(exact["rounding"])
        assert each.bias == float(exact["bias"])


LEARNERS = {
    "perceptron": rb.Perceptron(),
    "averaged": rb.Perceptron(average=True),
    "penalty": rb.Perceptron(penalty="l2"),
    "no bias": rb.Perceptron(bias=None, average=True),
    "pa": rb.PassiveAggressiveClassifier(),
    "arow": rb.ConfidenceWeightedClassifier(),
    "p-norm": rb.PNormPerceptron(),
    "pocket": rb.PocketPerceptron(),
    "lifted": rb.LiftedPerceptron(),
    "soft margin": rb.SoftMarginClassifier(),
    "voted": rb.VotedPerceptron(max_iter=3),
    "voted, zero": rb.VotedPerceptron(max_iter=2, zero=1),
    "polynomial": rb.KernelPerceptron(kernel=rb.kernels.Polynomial(2), max_iter=5),
    "rbf": rb.KernelPerceptron(kernel="rbf", average=True, max_iter=5),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("layout", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_the_parts_of_two_classes_add_up_exactly(name, layout):
    X = layout(X2)
    model = fitted(LEARNERS[name], X, TWO)
    found = rb.explain(model, X[:9])
    require_exact(found, model.decision_function(X[:9]))
    assert [each.label for each in found] == model.predict(X[:9]).tolist()
    assert {(each.of, each.other) for each in found} == {("yes", "no")}


@pytest.mark.parametrize("multiclass", ["direct", "ovr", "ovo"])
@pytest.mark.parametrize("name", ["averaged", "pa", "voted", "rbf"])
def test_the_parts_of_several_classes_add_up_exactly(name, multiclass):
    model = fitted(type(LEARNERS[name])(**LEARNERS[name].get_params() | {"multiclass": multiclass}), X2, THREE)
    decision = model.decision_function(X2[:9])
    for code in range(3):
        found = rb.explain(model, X2[:9], label=code)
        require_exact(found, decision[:, code])
        assert all(each.of == code for each in found)
    require_exact(rb.explain(model, X2[:9]), decision.max(axis=1))


def test_learners_of_numbers_ranks_and_sets_of_labels_are_explained():
    numbers = X2 @ [1.0, 0.5, 0.0, 0.25]
    regressor = fitted(rb.PassiveAggressiveRegressor(), X2, numbers)
    require_exact(rb.explain(regressor, X2[:5]), regressor.predict(X2[:5]))
    ordinal = fitted(rb.OrdinalPerceptron(), X2, THREE)
    found = rb.explain(ordinal, X2[:5])
    require_exact(found, ordinal.decision_function(X2[:5]))
    assert [each.label for each in found] == ordinal.predict(X2[:5]).tolist()
    sets = fitted(rb.MultilabelPerceptron(), X2, np.stack([TWO == "yes", THREE == 1], axis=1).astype(int))
    require_exact(rb.explain(sets, X2[:5], label=1), sets.decision_function(X2[:5])[:, 1])
    with pytest.raises(ParameterError, match="Name one by label"):
        rb.explain(sets, X2[:5])


TABLE = {
    "size": [3.0, 0.5, 2.0, 0.25, 1.5, None],
    "colour": ["red", "brown", "red", "brown", "green", None],
    "weight": [100.0, 5.0, 80.0, 3.0, 60.0, 50.0],
}
KINDS = ["apple", "nut", "apple", "nut", "apple", "apple"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, lambda table: _mappings(table)])
@pytest.mark.parametrize("scale", [False, True])
def test_a_pipeline_of_a_table_names_the_features(frame, scale):
    model = make_pipeline(rb.TableEncoder(missing="mean", scale=scale), rb.Perceptron(average=True))
    fitted(model, frame(TABLE), KINDS)
    found = rb.explain(model, frame(TABLE))
    require_exact(found, model.decision_function(frame(TABLE)))
    first, last = found[0], found[5]
    assert set(first.names) <= {
        "size",
        "weight",
        "colour=red",
        "colour=brown",
        "colour=green",
        "colour is missing",
    }
    size = first.names.index("size")
    assert first.values[size] == 3.0  # as it is in the data
    assert bool(first.inputs[size] == 3.0) is not scale
    assert np.isnan(last.values[last.names.index("size")])
    assert ("missing (1.45)" in str(last)) is not scale  # filled by the mean, which is 0 after scaling
    assert "colour is missing" in last.names


def _mappings(table):
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


@pytest.mark.parametrize(
    "steps", [(StandardScaler(),), (StandardScaler(), Normalizer()), (rb.MonomialMap(2),), (Normalizer(),)]
)
def test_a_pipeline_with_scalers_and_maps_adds_up(steps):
    # Of the columns of a frame scikit-learn's Normalizer may round a norm differently.
    table = X2 if any(isinstance(step, Normalizer) for step in steps) else pd.DataFrame(X2, columns=NAMES)
    model = fitted(make_pipeline(*steps, rb.Perceptron()), table, TWO)
    found = rb.explain(model, table[:7])
    require_exact(found, model.decision_function(table[:7]))
    if isinstance(steps[0], rb.MonomialMap):
        assert any("a" in name and "b" in name for name in found[0].names)
    else:
        assert found[3].names == tuple(NAMES if table is not X2 else ["x1", "x2", "x3", "x4"])
        assert found[3].values.tolist() == X2[3].tolist()
        assert found[3].inputs.tolist() != X2[3].tolist()


def test_text_shows_only_the_words_of_a_row():
    mail = ["win a prize", "see you at home", "free prize", "home at six"]
    model = make_pipeline(rb.TableEncoder(vocabulary=True), rb.Perceptron())
    model.fit(mail, ["spam", "ham", "spam", "ham"])
    found = rb.explain(model, ["a free prize"])
    assert sorted(name.split("=")[-1] for name in found[0].names) == ["a", "free", "prize"]
    require_exact(found, model.decision_function(["a free prize"]))


def test_a_calibrated_model_a_stream_of_mappings_and_a_loaded_model(tmp_path):
    calibrated = rb.calibrate(fitted(rb.Perceptron(), X2, TWO), X2, TWO)
    require_exact(rb.explain(calibrated, X2[:4]), calibrated.decision_function(X2[:4]))
    stream = rb.Perceptron()
    for x, y in [({"a": 1.0}, 1), ({"b": 2.0, "a": 0.5}, 0), ({"c": 1.0}, 1)]:
        stream.learn_one(x, y)
    found = rb.explain(stream, [{"a": 2.0, "b": 1.0}])
    assert found[0].names == ("a", "b")
    assert found[0].score == stream.score_one({"a": 2.0, "b": 1.0})
    rb.save(fitted(rb.Perceptron(), pd.DataFrame(X2, columns=NAMES), TWO), tmp_path / "m")
    loaded = rb.explain(tmp_path / "m", pd.DataFrame(X2, columns=NAMES)[:3])
    assert loaded[0].names == tuple(NAMES)


def test_the_hypotheses_of_consecutive_runs_all_vote():
    model = rb.VotedPerceptron(max_iter=2)
    fitted(model, X2[:30], TWO[:30])
    model.partial_fit(X2[30:], TWO[30:])
    found = rb.explain(model, X2[:6])
    require_exact(found, model.decision_function(X2[:6]))
    assert len(found[0].names) == model.n_hypotheses_ + 1  # the last of the fit is the first of the stream


def test_frames_columns_and_json_have_every_part():
    model = fitted(rb.Perceptron(), pd.DataFrame(X2, columns=NAMES), TWO)
    found = rb.explain(model, pd.DataFrame(X2, columns=NAMES)[:3])
    for backend in ("pandas", "polars", "pyarrow"):
        frame = found.to_frame(backend)
        assert list(pd.DataFrame(found.columns()).columns) == list(
            frame.column_names if backend == "pyarrow" else frame.columns
        )
        assert len(frame) == 3 * (4 + 2)
    table = found.to_frame()
    sums = table.groupby("row")["contribution"].sum()
    assert np.allclose(sums, model.decision_function(pd.DataFrame(X2, columns=NAMES)[:3]))
    told = json.loads(json.dumps(found.to_json()))
    assert told[2]["row"] == 2
    assert {part["name"] for part in told[2]["parts"]} == set(NAMES)
    with pytest.raises(ParameterError, match="backend"):
        found.to_frame("excel")


def test_rows_are_chosen_and_counted():
    model = fitted(rb.Perceptron(), X2, TWO)
    found = rb.explain(model, X2, which=[17, 3, 17])
    assert [each.row for each in found] == [17, 3, 17]
    assert [each.row for each in rb.explain(model, X2, which=range(58, 70))] == [58, 59]
    assert [each.row for each in rb.explain(model, X2[:3], first=1)] == [1, 2, 3]
    with pytest.raises(InputError, match="no row 60: the rows are 0 to 59"):
        rb.explain(model, X2, which=[60])


def test_text_and_html_show_the_largest_parts_and_escape_names():
    wide = RNG.standard_normal((20, 15))
    names = ["<b>&", *(f"f{j}" for j in range(14))]
    model = fitted(rb.Perceptron(), pd.DataFrame(wide, columns=names), TWO[:20])
    found = rb.explain(model, pd.DataFrame(wide, columns=names))
    text, page = str(found[0]), found._repr_html_()
    assert "5 other features" in text
    assert len(found[0].lines(3)) == 6
    together = [part for name, _, _, part in found[0].lines(3) if "other" in name]
    small = [part for k, part in enumerate(found[0].contributions) if k not in found[0].largest(3)]
    assert together == [pytest.approx(sum(small))]
    assert "<b>" not in page
    assert "15 rows more" in page
    assert "15 rows more" in str(found)
    assert "&lt;b&gt;&amp;" in rb.explain(model, pd.DataFrame(wide, columns=names))[:20]._repr_html_()


def test_a_probe_is_explained_by_its_name(tmp_path):
    probes = rb.Probes().fit(pd.DataFrame(X2, columns=NAMES), {"first": TWO, "second": THREE == 1})
    rb.save(probes, tmp_path / "m")
    rows = pd.DataFrame(X2[:5], columns=NAMES)
    for k, name in enumerate(probes.names_):
        for each in (probes, tmp_path / "m"):
            found = rb.explain(each, rows, label=name)
            require_exact(found, probes.decision_function(rows)[:, k])
            assert found[0].title.startswith(f"row 0: the score of {name} is ")
            assert set(found[0].names) == set(NAMES)
    with pytest.raises(ParameterError, match="Name one by label: first, second"):
        rb.explain(probes, rows)
    alone = rb.Probes().fit(X2, TWO)
    found = rb.explain(alone, X2[:5])
    require_exact(found, alone.decision_function(X2[:5])[:, 0])
    assert [each.label for each in found] == alone.predict(X2[:5])[:, 0].tolist()


@pytest.mark.parametrize(
    "model",
    [
        rb.MultilayerPerceptron(max_iter=3),
        rb.ExtremeLearningMachine(),
    ],
)
def test_a_model_without_such_parts_says_what_to_use(model):
    with pytest.raises(
        InputError, match=rf"of {type(model).__name__} is not a sum over features.*permutation_importance"
    ):
        rb.explain(fitted(model, X2, TWO), X2)


def test_wrong_labels_and_options_are_refused():
    model = fitted(rb.Perceptron(), X2, TWO)
    with pytest.raises(LabelError, match="no class maybe; its classes are no, yes"):
        rb.explain(model, X2, label="maybe")
    with pytest.raises(ParameterError, match="share one score, which is positive for yes"):
        rb.explain(model, X2, label="no")
    with pytest.raises(ParameterError, match="option of reading files"):
        rb.explain(model, X2, target="label")


def test_the_picture_has_a_bar_for_each_part():
    model = fitted(rb.Perceptron(average=True), pd.DataFrame(X2, columns=NAMES), TWO)
    found = rb.explain(model, pd.DataFrame(X2, columns=NAMES)[:2])
    ax = found.plot(1, top=2)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [part for name, *_, part in found[1].lines(2) if name != "rounding"]
    assert sum(widths) == pytest.approx(found[1].score)
    assert ax.get_title(loc="left") == found[1].title


def test_one_row_is_drawn_and_many_are_not_drawn_by_a_guess():
    model = fitted(rb.Perceptron(average=True), pd.DataFrame(X2, columns=NAMES), TWO)
    found = rb.explain(model, pd.DataFrame(X2, columns=NAMES)[:3])
    assert found[2].plot(top=1).get_title(loc="left") == found[2].title == found.plot(2).get_title(loc="left")
    assert found[1:2].plot().get_title(loc="left") == found[1].title
    with pytest.raises(ParameterError, match=r"one row, but 3 rows are explained.* as in plot\(0\)"):
        found.plot()
    with pytest.raises(ParameterError, match="one row, but 0 rows are explained"):
        found[:0].plot()


def test_searches_and_models_of_scikit_learn_are_refused_in_plain_words(tmp_path):
    search = fitted(GridSearchCV(rb.Perceptron(), {"margin": [0.0, 1.0]}, cv=2), X2, TWO)
    for refused in (lambda: rb.explain(search, X2), lambda: rb.save(search, tmp_path / "m")):
        with pytest.raises(ParameterError, match=r"a GridSearchCV.* searches for a model.* its best_estimator_"):
            refused()
    assert len(rb.explain(search.best_estimator_, X2)) == len(X2)
    with pytest.raises(ParameterError, match="a LogisticRegression, which is no learner of this package"):
        rb.explain(make_pipeline(StandardScaler(), LogisticRegression()).fit(X2, TWO), X2)
