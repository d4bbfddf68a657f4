"""`rb.Probes`: each probe is a perceptron, and what the table says of it is counted here by hand."""

import csv
import inspect
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.exceptions import DeviceError, InputError, LabelError, ParameterError, ShapeError
from rosenblatt.probes import devices
from rosenblatt.probes import probes as module
from rosenblatt.probes.cpu import CpuEngine
from rosenblatt.probes.measuring import as_signs, control_labels, deal_folds, wilson
from rosenblatt.stopping import Plateau, Trend

RNG = np.random.default_rng(7)
X = RNG.standard_normal((120, 6)).astype(np.float32)
NOISE = RNG.random(120) < 0.1
Y = {
    "clean": X[:, 0] > 0.2,
    "noisy": (X[:, 1] > 0) ^ NOISE,
    "some": np.where(RNG.random(120) < 0.2, 0, np.where(X[:, 2] > 0, 1, -1)),
    "class": np.array(list("abc"))[RNG.integers(0, 3, 120)],
}


def perceptron(signs, **how):
    """Return a `Perceptron` on the rows that are in a problem."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        how = {"average": True, "decide": False} | how
        return rb.Perceptron(**how).fit(X, np.where(signs > 0, 1, -1), sample_weight=signs != 0)


@pytest.mark.parametrize(
    "how",
    [{}, {"random_state": 3}, {"average": False, "max_iter": 40}, {"shuffle": False, "eta0": 0.3},
     {"fit_intercept": False, "n_iter_no_change": 2}, {"margin": 1.5}],
)  # fmt: skip
def test_a_probe_is_a_perceptron(how):
    """The same order, the same end and the same bits; here with the library's stopping rule."""
    names, signs = as_signs(Y, len(X))
    probes = rb.Probes(folds=None, **how).fit(X, Y)
    table = probes.table()
    assert probes.names_ == names == ["clean", "noisy", "some", "class=a", "class=b", "class=c"]
    for j in range(len(names)):
        model = perceptron(signs[:, j], **how)
        assert probes.coef_[j].tobytes() == model.coef_[0].tobytes()
        assert probes.intercept_[j] == model.intercept_[0]
        assert (table[j].end, table[j].passes) == (model.stop_reason_, model.n_iter_)
        assert table[j].mistakes == model.mistakes_per_pass_[-1]
        inside = signs[:, j] != 0
        side = np.where(model.predict(X) == 1, 1, -1)
        assert table[j].training == np.count_nonzero(side[inside] == signs[inside, j])
        assert probes.predict(X)[:, j].tolist() == side.tolist()


def test_folds_are_judged_by_perceptrons_without_them():
    probes = rb.Probes(folds=3).fit(X, Y)
    _, signs = as_signs(Y, len(X))
    for j, result in enumerate(probes.table()):
        right = 0
        for fold in range(3):
            left_out = (probes.folds_ == fold) & (signs[:, j] != 0)
            model = perceptron(np.where(probes.folds_ == fold, 0, signs[:, j]))
            right += np.count_nonzero(left_out & ((model.decision_function(X) > 0) == (signs[:, j] > 0)))
        assert (result.right, result.rows) == (right, np.count_nonzero(signs[:, j]))
        assert result.accuracy == right / result.rows
    assert rb.Probes(folds=None).fit(X, Y).coef_.tobytes() == probes.coef_.tobytes()


def test_controls_are_random_labels_on_the_same_folds():
    many = rb.Probes(folds=4, controls=6).fit(X, Y).table()
    again = rb.Probes(folds=4, controls=6).fit(X, Y).table()
    assert many.to_dicts() == again.to_dicts()
    assert many[0].controlled == 6 * 120
    assert 0.35 < many[0].control_accuracy < 0.65
    assert many[0].selectivity > 0.25
    assert abs(many[3].selectivity) < 0.15  # labels that were drawn
    assert many[0].selectivity == many[0].accuracy - many[0].control_accuracy
    assert many[1].interval[0] < many[1].accuracy < many[1].interval[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 4), st.integers(2, 6))
def test_folds_are_in_proportion(seed, n, k, folds):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 0, 1], (n, k), p=rng.dirichlet([1, 1, 1])).astype(np.int8)
    fold = deal_folds(signs, folds, rng)
    assert fold.shape == (n,)
    assert fold.min() >= 0
    assert fold.max() < folds
    counts = {(j, s): np.count_nonzero(signs[:, j] == s) for j in range(k) for s in (-1, 1)}
    rarest = min(counts, key=lambda each: (counts[each], each[1] < 0, each[0]))
    dealt = np.bincount(fold[signs[:, rarest[0]] == rarest[1]], minlength=folds)
    assert dealt.max() - dealt.min() <= 1
    if k == 1:
        for side in (-1, 1):
            dealt = np.bincount(fold[signs[:, 0] == side], minlength=folds)
            assert dealt.max() - dealt.min() <= 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_control_labels_keep_the_rows_and_the_sides(seed, typed):
    rng = np.random.default_rng(seed)
    signs, fold = rng.choice([-1, 0, 1], (40, 3)).astype(np.int8), rng.integers(0, 4, 40).astype(np.int8)
    signs[0] = 1
    types = rng.integers(0, 5, 40) if typed else None
    control = control_labels(signs, fold, types, rng)
    assert ((control == 0) == (signs == 0)).all()
    for j in range(3):
        if typed:
            for word in range(5):
                assert len(set(control[(types == word) & (signs[:, j] != 0), j].tolist())) <= 1
        else:
            for f in range(4):
                assert sorted(control[fold == f, j]) == sorted(signs[fold == f, j])


def test_types_let_a_control_be_memorised():
    """With one-hot words a control task by words is learned, and one by rows is not."""
    words = np.arange(200) % 10
    rows = np.eye(10, dtype=np.float32)[words]
    labels = np.where(words < 5, 1, -1)
    by_rows = rb.Probes(controls=3).fit(rows, labels).table()[0]
    by_words = rb.Probes(controls=3).fit(rows, labels, types=words).table()[0]
    assert by_rows.control_accuracy < 0.7
    assert by_words.control_accuracy == 1.0


@given(st.integers(1, 400), st.data())
def test_the_interval_is_where_the_share_is_two_deviations_away(count, data):
    right = data.draw(st.integers(0, count))
    low, high = wilson(right, count)
    assert 0.0 <= low <= right / count <= high <= 1.0
    for end in (low, high):
        if 0.0 < end < 1.0:
            away = abs(right / count - end) / math.sqrt(end * (1 - end) / count)
            assert away == pytest.approx(1.959963984540054)


def test_verdicts_are_those_of_certify():
    few = RNG.standard_normal((20, 30))
    coin = RNG.choice([-1, 1], 20)
    assert rb.Probes(folds=None).fit(few, coin).table()[0].separable == "yes"  # as for any labels: n ≤ d
    probes = rb.Probes().fit(X, Y)
    _, signs = as_signs(Y, len(X))
    for j, result in enumerate(probes.table()):
        inside = signs[:, j] != 0
        expected = rb.certify(X[inside], signs[inside, j]).verdict
        assert {"yes": "separable", "no": "inseparable"}[result.separable] == expected
    xor = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    assert rb.Probes(folds=None).fit(xor, [0, 0, 1, 1]).table()[0].separable == "no"
    assert rb.Probes(folds=None, decide=False).fit(xor, [0, 0, 1, 1]).table()[0].separable is None
    plane = rb.Probes(folds=None, fit_intercept=False).fit([[1.0], [2.0]], [0, 1]).table()[0]
    assert plane.separable == "no"


def test_a_yes_of_few_rows_has_a_note():
    """Cover's count by binomials: with n rows and w weights, 2 (C(n-1, 0) + … + C(n-1, w-1)) of 2ⁿ labels."""
    rows = RNG.standard_normal((40, 9))
    half = RNG.choice([-1, 1], 40)
    few = np.where(np.arange(40) < 20, half, 0)  # 20 rows, 10 weights
    fewer = np.where(np.arange(40) < 18, half, 0)
    more = np.where(np.arange(40) < 21, half, 0)
    labels = {"all": half, "few": few, "more": more}

    def chance(n, weights):
        return sum(math.comb(n - 1, i) for i in range(weights)) / 2 ** (n - 1)

    def note(*labels, **how):
        return rb.Probes(folds=None, **how).fit(rows, dict(zip("abc", labels, strict=False))).table().notes

    table = rb.Probes(folds=None).fit(rows, labels).table()
    assert chance(20, 10) == 0.5
    assert table.notes == [
        "1 of 3 probes has at most twice as many rows as weights. So few rows in general position would be "
        "separable for random labels, too, with probability at least 0.5 (Cover 1965), so that "
        '"yes" says little there.'
    ]
    assert str(table).splitlines()[-1] == "note: " + table.notes[0]
    assert "1 of 3" in str(rb.Probes(folds=None).fit_layers({"a": rows}, labels).table())
    assert math.floor(chance(18, 10) * 1000) == 685
    assert "at least 0.685 (Cover" in note(fewer)[0]
    assert "2 of 2 probes have at most" in note(few, fewer)[0]
    assert "too, with probability 1 (Cover" in note(np.where(np.arange(40) < 10, half, 0))[0]
    assert note(half, more) == note(half, few, decide=False) == note(few, fit_intercept=False) == []
    assert note(fewer, fit_intercept=False)  # 9 weights


def test_labels_in_any_form():
    frame = pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(
        {"a": ["x", "y", None], "b": [True, False, True]}
    )
    names, signs = as_signs(frame, 3)
    assert (names, signs.tolist()) == (["a", "b"], [[-1, 1], [1, -1], [0, 1]])
    assert as_signs(np.array([[1, 0], [0, 1]], np.int8), 2)[1].tolist() == [[1, -1], [-1, 1]]
    assert as_signs([[1, 0], [-1, 1], [0, -1]], 3)[1].tolist() == [[1, 0], [-1, 1], [0, -1]]
    assert as_signs(["n", "v", "n"], 3) [1].tolist() == [[-1], [1], [-1]]  # fmt: skip
    assert as_signs([1.0, float("nan"), 2.0], 3)[1].tolist() == [[-1], [0], [1]]


def test_missing_labels_of_every_kind():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for dtype, values, expected in (
        ("boolean", [True, None, False], [1, 0, -1]),
        ("string", ["v", None, "n"], [1, 0, -1]),
        ("Int64", [3, None, 2], [1, 0, -1]),
        ("Int64", [-1, None, 0], None),
        ("category", ["v", None, "n"], [1, 0, -1]),
        ("datetime64[ns]", ["2026-01-02", None, "2026-01-01"], [1, 0, -1]),
        (object, [1.0, pd.NaT, 0.0], [1, 0, -1]),
    ):
        series = pd.Series(values, dtype=dtype)
        for labels in (series, pd.DataFrame({"a": series}), {"a": series}):
            if expected is None:
                with pytest.raises(LabelError, match="one side only"):
                    as_signs(labels, 3)
            else:
                assert as_signs(labels, 3)[1].ravel().tolist() == expected, (dtype, values)
    masked = np.ma.array([1, 7, 0], mask=[0, 1, 0])
    assert as_signs(masked, 3)[1].ravel().tolist() == [1, 0, -1]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_zero_stays_out_of_the_problem_beside_missing_labels(missing):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    values = [-1, 0, 1, missing]
    for labels in (values, np.array(values, float), pd.Series(values, dtype="Int64"), {"a": values}):
        names, signs = as_signs(labels, 4)
        assert (len(names), signs.ravel().tolist()) == (1, [-1, 0, 1, 0])


def test_series_keep_their_name_and_tables_of_arrow_their_columns():
    pd, pa, pl = (
        pytest.importorskip(name, reason=f"{name} is not installed") for name in ("pandas", "pyarrow", "polars")
    )
    for series in (pd.Series([0, 1, 1], name="plural"), pl.Series("plural", [0, 1, 1])):
        assert as_signs(series, 3)[0] == ["plural"]
    assert as_signs(pd.Series(list("abc"), name="tag"), 3)[0] == ["tag=a", "tag=b", "tag=c"]
    assert as_signs(pd.Series([0, 1, 1]), 3)[0] == [""]
    columns = {"columns": ["x", None, "y"], "name": [True, False, None], "n": [-1, None, 1], "f": [-1.0, 1.0, 0.0]}
    expected = [[-1, 1, -1, -1], [0, -1, 0, 1], [1, 0, 1, 0]]
    for frame in (pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns), columns):
        assert as_signs(frame, 3)[0] == list(columns)
        assert as_signs(frame, 3)[1].tolist() == expected
    assert rb.Probes(folds=None).fit(X[:3], pa.table(columns)).names_ == list(columns)
    twice = pd.DataFrame([[0, 1], [1, 0], [1, 0]], columns=["a", "a"])
    with pytest.raises(InputError, match="Y has columns of the same name"):
        as_signs(twice, 3)


@pytest.mark.parametrize(
    ("labels", "error", "told"),
    [
        ([1, 1, 1], LabelError, "one side only"),
        ({"a": [0, 1, 1], "b": [1, 1, 1]}, LabelError, r"Y\['b'\] has rows of one side only"),
        ({"a": [None, None, None]}, LabelError, "no label at all"),
        ([0, 1], ShapeError, "Y has 2 labels, but there are 3 rows of X"),
        ({"a": [0, 1]}, ShapeError, r"Y\['a'\] has 2 labels"),
        ({}, LabelError, "no column"),
        (np.zeros((3, 1, 1)), ShapeError, "3 dimensions"),
    ],
)
def test_labels_that_cannot_be_used(labels, error, told):
    with pytest.raises(error, match=told):
        rb.Probes(folds=None).fit(X[:3], labels)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"folds": 1}, "folds"),
        ({"folds": None, "controls": 2}, "controls=2 is measured by folds"),
        ({"folds": 99}, "folds=99 needs at least as many rows"),
        ({"device": "tpu"}, "device"),
        ({"controls": -1}, "controls"),
        ({"eta0": 0.0}, "eta0"),
    ],
)
def test_parameters_that_cannot_be_used(how, told):
    probes = rb.Probes(**how)
    with pytest.raises(ParameterError, match=told):
        probes.fit(X[:9], [0, 1, 1] * 3)
    assert not probes.__sklearn_is_fitted__()


class Interrupted(CpuEngine):
    """An engine that Ctrl-C meets in its third pass, or that fails there."""

    error: type = KeyboardInterrupt

    def train_pass(self, active, order):
        self.made = getattr(self, "made", 0) + 1
        if self.made == 3:
            raise self.error("lost")
        return super().train_pass(active, order)


def test_an_interrupt_publishes_the_last_whole_pass(monkeypatch):
    expected = rb.Probes(max_iter=2, decide=False).fit(X, Y)
    monkeypatch.setattr(devices, "open_engine", lambda device: Interrupted())
    probes = rb.Probes(max_iter=50)
    with pytest.raises(KeyboardInterrupt):
        probes.fit(X, Y)
    assert probes.coef_.tobytes() == expected.coef_.tobytes()
    assert [each.right for each in probes.table()] == [each.right for each in expected.table()]
    assert {each.end for each in probes.table()} <= {"interrupted", "separated"}
    assert {each.separable for each in probes.table()} == {None}


def stopped_once(function):
    """Return a function that Ctrl-C meets in its first call."""
    calls = []

    def call(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return function(*arguments)

    return call


@pytest.mark.parametrize(
    ("owner", "name"), [(CpuEngine, "count_right"), (rb.Probes, "_verdicts")], ids=["counting", "deciding"]
)
def test_an_interrupt_after_training_publishes_what_was_trained(monkeypatch, owner, name):
    expected = rb.Probes(controls=1, decide=False).fit(X, Y)
    monkeypatch.setattr(owner, name, stopped_once(getattr(owner, name)))
    probes = rb.Probes(controls=1)
    with pytest.raises(KeyboardInterrupt):
        probes.fit(X, Y)
    assert probes.coef_.tobytes() == expected.coef_.tobytes()
    assert probes.table().to_dicts() == expected.table().to_dicts()


def test_a_second_interrupt_changes_nothing(monkeypatch):
    monkeypatch.setattr(CpuEngine, "count_right", stopped_once(CpuEngine.count_right))
    monkeypatch.setattr(devices, "open_engine", lambda device: Interrupted())
    probes = rb.Probes()
    with pytest.raises(KeyboardInterrupt):
        probes.fit(X, Y)
    assert not probes.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("kind", "limit", "told"),
    [("float16", 2879, None), ("float16", 2880, "yes"), ("uint8", 2879, None), ("uint8", 2880, "yes"),
     ("float32", 0, "yes"), ("float64", 0, "yes")],
)  # fmt: skip
def test_rows_are_not_widened_beyond_the_usual_memory(monkeypatch, kind, limit, told):
    """120 rows of 6 values of 4 bytes; wide rows are not copied."""
    monkeypatch.setattr(module, "usual_memory", lambda: limit)
    rows = (X * 20 + 100).astype(kind)
    assert rb.Probes(folds=None).fit(rows, rows[:, 0] > 100).table()[0].separable == told


def test_a_margin_ends_as_one_perceptron_does():
    few = RNG.standard_normal((30, 40))
    labels = few[:, 0] > 0
    end = rb.Perceptron(margin=0.7, average=True).fit(few, labels).stop_reason_
    assert end == "separated"
    result = rb.Probes(folds=None, margin=0.7).fit(few, labels).table()[0]
    assert (result.end, result.separable) == (end, "yes")
    many = rb.MultilabelPerceptron(margin=0.7).fit(few, labels[:, None].astype(int))
    assert many.stop_reason_ == end


def test_an_error_leaves_probes_as_they_were(monkeypatch):
    probes = rb.Probes().fit(X, Y)
    before = probes.coef_.tobytes(), str(probes.table())
    monkeypatch.setattr(Interrupted, "error", DeviceError)
    monkeypatch.setattr(devices, "open_engine", lambda device: Interrupted())
    with pytest.raises(DeviceError, match="lost"):
        probes.set_params(eta0=0.5).fit(X, Y)
    assert (probes.coef_.tobytes(), str(probes.table())) == before


def test_auto_uses_the_cpu_where_there_is_no_gpu_and_says_so_once(monkeypatch):
    """Also where the GPU is lost in the middle: then training begins anew."""
    monkeypatch.setattr(Interrupted, "error", DeviceError)
    monkeypatch.setattr(devices, "_told", set())
    monkeypatch.setattr(devices, "open_engine", lambda device: Interrupted() if device == "cuda" else CpuEngine())
    expected = rb.Probes().fit(X, Y)
    probes, line = rb.Probes(device="auto"), inspect.currentframe().f_lineno + 2
    with pytest.warns(UserWarning, match="lost Meanwhile the CPU is used") as told:
        found = probes.fit(X, Y)
    assert (told[0].filename, told[0].lineno) == (__file__, line)
    monkeypatch.setattr(devices, "_told", set())
    with pytest.warns(UserWarning, match="lost Meanwhile") as told:
        rb.Probes(device="auto").fit_layers({"a": X}, Y)
    assert told[0].filename == __file__
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.device_.startswith("the CPU")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rb.Probes(device="auto").fit(X, Y)
    with pytest.raises(DeviceError, match="lost"):
        rb.Probes(device="cuda").fit(X, Y)


def test_each_problem_ends_by_the_rule_of_the_library(monkeypatch):
    """The counts of mistakes are made up; averages end on a plateau, last weights by the trend."""
    counts = np.array([[9, 9, 9, 9, 9, 9, 9], [9, 8, 7, 6, 5, 4, 0], [9, 5, 0, 9, 9, 9, 9]])

    class Scripted(CpuEngine):
        def train_pass(self, active, order):
            self.made = getattr(self, "made", 0) + 1
            super().train_pass(active, order)
            return counts[active, self.made - 1]

    monkeypatch.setattr(devices, "open_engine", lambda device: Scripted())
    labels = np.where(X[:, :3] > 0, 1, -1)
    table = rb.Probes(folds=None, decide=False, max_iter=7).fit(X, labels).table()
    rule, trend = Plateau(), Trend()
    assert [rule.ends(epoch + 1, 9) for epoch in range(6)].index(True) == 5
    assert not any(trend.ends(9, 720) for _ in range(7))
    assert [(each.end, each.passes) for each in table] == [("plateau", 6), ("separated", 7), ("separated", 3)]
    table = rb.Probes(folds=None, decide=False, max_iter=7, average=False).fit(X, labels).table()
    assert [(each.end, each.passes) for each in table] == [("max_iter", 7), ("separated", 7), ("separated", 3)]


def test_callbacks_see_each_pass_and_can_end_training():
    seen = []
    probes = rb.Probes(folds=2, callbacks=[lambda report: seen.append(report) or len(seen) == 2]).fit(X, Y)
    assert [report.epoch for report in seen] == [1, 2]
    assert (seen[0].active, seen[0].visits) == (18, 18 * 120)
    assert {each.passes for each in probes.table()} == {2}


def test_time_that_is_over_ends_training():
    table = rb.Probes(folds=None, max_time=1e-9).fit(X, Y).table()
    assert {each.end for each in table} == {"max_time"}


def test_a_file_keeps_the_probes_and_their_table(tmp_path):
    probes = rb.Probes(controls=1).fit(X, Y)
    probes.save(tmp_path / "probes.safetensors")
    again = rb.load(tmp_path / "probes.safetensors")
    assert again.predict(X).tobytes() == probes.predict(X).tobytes()
    assert again.table().to_dicts() == probes.table().to_dicts()
    assert again.get_params() == probes.get_params()


def test_the_table_as_csv():
    table = rb.Probes(controls=1).fit(X, Y).table()
    rows = list(csv.DictReader(table.to_csv().splitlines()))
    assert [row["probe"] for row in rows] == [each.name for each in table]
    assert float(rows[0]["accuracy"]) == table[0].accuracy
    assert list(rows[0]) == table.columns
    assert "accuracy" not in rb.Probes(folds=None).fit(X, Y).table().columns


def test_layers_have_the_same_folds_and_one_table():
    layers = rb.Probes(controls=1).fit_layers({"first": X, "second": X[:, :1]}, Y)
    table = layers.table()
    assert len(table) == 12
    assert table.to_dicts()[6]["layer"] == "second"
    assert layers.layers["first"].folds_.tolist() == layers.layers["second"].folds_.tolist()
    assert layers.best()["noisy"] == "first"
    assert (
        layers.layers["second"].table()[0].accuracy == rb.Probes(controls=1).fit(X[:, :1], Y).table()[0].accuracy
    )
    with pytest.raises(ShapeError, match="no layers"):
        rb.Probes().fit_layers({}, Y)
