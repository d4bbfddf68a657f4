"""Tables as people have them: gaps, dates, identifiers, rare classes, each tried by the command as typed."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import LeftOutWarning, ParameterError
from rosenblatt.rows.features import as_rows
from rosenblatt.tables.dates import days_of
from rosenblatt.tables.scaling import mark_missing

GAPS = "age,fare,sex,label\n30,,f,yes\n,8,m,no\n22,7.5,m,no\n,9,f,yes\n40,60,f,yes\n35,8,m,no\n"


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def test_gaps_are_filled_and_marked_with_one_note(run):
    write("t.csv", GAPS)
    ran = run("train", "t.csv", "-o", "m")
    assert ran.code == 0, ran
    notes = [line for line in ran.err.splitlines() if line.startswith("note:")]
    assert notes == ["note: missing numbers became the mean of their column, and a mark: 'age' 2, 'fare' 1"]
    model = rb.load("m")
    names = model[0].get_feature_names_out().tolist()
    assert names == ["age", "fare", "age is missing", "fare is missing", "sex=f", "sex=m"]
    encoded = model[0].transform(pd.read_csv("t.csv")).toarray()
    assert encoded[:2].tolist() == [[30, 18.5, 0, 1, 1, 0], [31.75, 8, 1, 0, 0, 1]]
    assert run("predict", "m", "t.csv").out.split() == ["yes", "no", "no", "yes", "yes", "no"]
    assert "trained on these rows" in run("evaluate", "m", "t.csv").out


def test_python_and_the_command_encode_alike(done):
    write("t.csv", GAPS)
    done("train", "t.csv", "-o", "m")
    frame = pd.read_csv("t.csv")
    encoder = rb.TableEncoder().fit(frame.drop(columns="label"))
    theirs = rb.load("m")[0]
    assert encoder.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert (encoder.transform(frame) != theirs.transform(frame)).nnz == 0
    assert (encoder.fit_transform(frame.drop(columns="label")) != theirs.transform(frame)).nnz == 0


def test_a_model_of_complete_rows_fills_by_the_means_it_knows(run):
    write("whole.csv", "a,b,label\n1,0,no\n3,1,yes\n5,5,yes\n")
    write("gaps.csv", "a,b\n,5\n")
    assert run("train", "whole.csv", "-o", "m").code == 0
    assert rb.load("m")[0].transform(pd.read_csv("gaps.csv")).tolist() == [[3, 5]]
    assert run("predict", "m", "gaps.csv").out == "yes\n"


@pytest.mark.parametrize("command", [("train", "-o", "m", "--missing", "error"), ("certify",)])
def test_the_strict_hear_of_all_problems_at_once(run, command):
    write("t.csv", GAPS.replace("35,8,m,no", "35,eight,m,"))
    ran = run(command[0], "t.csv", *command[1:])
    assert ran.code == 2
    assert "t.csv:2:2: 'fare' is missing;" in ran.err
    assert "'age' is missing (line 3, and 1 row more)" in ran.err
    assert "'fare' is 'eight', but the column holds numbers (line 7)" in ran.err
    assert "the label is missing (line 7)" in ran.err
    assert "--missing mean" in ran.err


def test_a_proof_about_filled_rows_says_so_and_holds_the_means(run):
    write("t.csv", GAPS)
    ran = run("certify", "t.csv", "--missing", "mean", "-o", "proof.json")
    assert "filled with means: 'age' 31.75, 'fare' 18.5" in ran.err
    held = json.loads(Path("proof.json").read_text())["reading"]
    assert held == {"missing": "mean", "means": {"age": 31.75, "fare": 18.5}}
    assert run("check", "proof.json", "t.csv").code == 0


@pytest.mark.parametrize("columns", ["a,b", "a,b,k"])
def test_data_larger_than_memory_trains_the_same_bits(tmp_path, columns):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 2)).round(3)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "k": rng.choice(["u", "v", "w"], 4000)})
    frame["label"] = np.where(X[:, 0] + (frame.k == "u") > 0, "yes", "no")
    frame.loc[rng.random(4000) < 0.1, "a"] = None
    frame.loc[3990:, "b"] = None  # gaps that come late
    path = tmp_path / "t.csv"
    frame[[*columns.split(","), "label"]].to_csv(path, index=False)
    memory = rb.train(path)
    cached = rb.train(path, memory=10_000, chunk_bytes=2000)
    assert memory.provenance["data"] == cached.provenance["data"]
    np.testing.assert_array_equal(memory.estimator.coef_, cached.estimator.coef_)
    assert memory.estimator.coef_[0][2:4].all()
    frame_names = memory.preparation.names[:4]
    assert frame_names == ("a", "b", "a is missing", "b is missing")


def test_marks_of_dense_and_sparse_rows_are_alike():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.6)
    X[:, :4][rng.random((50, 4)) < 0.3] = np.nan
    from scipy.sparse import csr_array

    sparse = mark_missing(as_rows(csr_array(X)).rows, 4, [1, 3])
    dense = mark_missing(X, 4, [1, 3])
    assert dense.shape == (50, 8)
    back = csr_array((sparse.data, sparse.indices.astype(int), sparse.indptr.astype(int)), shape=(50, 8))
    np.testing.assert_array_equal(back.toarray(), dense)
    assert all(
        np.diff(back.indices[a:b]).min(initial=1) > 0 for a, b in zip(back.indptr, back.indptr[1:], strict=False)
    )


def test_folds_and_holdouts_fill_too(run):
    write("t.csv", GAPS.replace("\n", "\n", 1) + GAPS.split("\n", 1)[1] * 4)
    assert run("train", "t.csv", "-o", "m", "--holdout", "0.2").code == 0
    assert run("evaluate", "t.csv", "--cv", "3").code == 0


def test_the_first_fit_decides_which_numbers_are_marked():
    encoder = rb.TableEncoder().fit([{"a": 1.0, "k": "u"}, {"a": None, "k": "u"}])
    encoder.partial_fit([{"a": 4.0, "k": "v"}])
    assert encoder.get_feature_names_out().tolist() == ["a", "a is missing", "k=u", "k=v"]
    assert encoder.transform([{"k": "v"}]).toarray().tolist() == [[2.5, 1, 0, 1]]


def test_the_graph_marks_as_well(run):
    onnxruntime = pytest.importorskip(
        "onnxruntime", reason="onnxruntime is not installed, so no ONNX model was run"
    )
    write("t.csv", GAPS)
    assert run("train", "t.csv", "-o", "m").code == 0
    model = rb.load("m")
    rb.to_onnx(model, path="m.onnx")
    frame = pd.read_csv("t.csv")
    session = onnxruntime.InferenceSession("m.onnx")
    feed = {name: frame[[name]].to_numpy(np.float64) for name in ("age", "fare")}
    feed |= {"sex": frame[["sex"]].to_numpy(object)}
    label, scores = session.run(["label", "scores"], feed)
    assert label.tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(scores, model.decision_function(frame), rtol=1e-12)


def dated(n=60):
    days = pd.date_range("2020-01-01", periods=n, freq="5D")
    texts = {"when": days.strftime("%b %d %Y"), "iso": days.strftime("%Y-%m-%d"), "us": days.strftime("%m/%d/%y")}
    return pd.DataFrame({**texts, "x": np.arange(n) % 7 + 0.5, "label": np.where(days.month < 7, "a", "b")})


DATED = (
    "note: dates became numbers: 'when', 'iso' (days, month, weekday), "
    "'us' (days, month, weekday, month first); leave them out with --date none"
)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "typed.parquet"])
def test_dates_are_one_thing_in_all_formats(run, kind):
    frame = dated()
    typed = frame.assign(iso=pd.to_datetime(frame.iso))
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    frame.to_json("t.jsonl", orient="records", lines=True)
    typed.to_parquet("t.typed.parquet")
    ran = run("train", f"t.{kind}", "-o", "m")
    assert ran.code == 0, ran
    assert [line for line in ran.err.splitlines() if line.startswith("note:")] == [DATED]
    encoder = rb.TableEncoder().fit(frame.drop(columns="label"))
    names = encoder.get_feature_names_out().tolist()
    assert names[:6] == ["x", "when in days", "iso in days", "us in days", "when month=Jan", "when weekday=Wed"]
    model = rb.load("m")
    assert model[0].get_feature_names_out().tolist() == names
    for rows in (frame, typed):
        assert (model[0].transform(rows) != encoder.transform(frame)).nnz == 0
    first = encoder.transform(frame.head(1)).toarray()[0]
    assert first[1:4].tolist() == [18262] * 3
    assert run("evaluate", "m", "t.csv").code == 0


def test_dates_can_be_left_out(done):
    dated().to_csv("t.csv", index=False)
    done("train", "t.csv", "-o", "m", "--date", "none")
    assert rb.load("m")[0].get_feature_names_out().tolist() == ["x"]
    assert rb.TableEncoder(date="none").fit(dated().drop(columns="label")).get_feature_names_out().tolist() == [
        "x"
    ]
    done("train", "t.csv", "-o", "m", "--categorical", "iso", "--ignore", "when,us")
    assert len(rb.load("m")[0].get_feature_names_out()) == 61


def test_parts_of_dates_that_do_not_vary_are_no_features():
    years = [f"{year}-01-01" for year in range(1970, 1990)]
    names = rb.TableEncoder().fit([{"year": each} for each in years]).get_feature_names_out().tolist()
    assert names[0] == "year in days"
    assert not any("month" in name for name in names)
    assert sum("weekday" in name for name in names) == 7


def test_a_missing_date_is_filled_and_a_wrong_one_is_an_error(run):
    frame = dated()
    frame.loc[[3, 5], "iso"] = None
    frame.to_csv("t.csv", index=False)
    ran = run("train", "t.csv", "-o", "m", "--ignore", "when,us")
    assert "mean of their column, and a mark: 'iso' 2" in ran.err
    assert "iso is missing" in rb.load("m")[0].get_feature_names_out()
    frame.loc[7, "iso"] = "2020-02-31"
    frame.to_csv("t.csv", index=False)
    ran = run("predict", "m", "t.csv")
    assert ran.code == 2
    assert "t.csv:9:2: 'iso' is '2020-02-31', but the column holds dates" in ran.err
    with pytest.raises(rb.exceptions.ParameterError, match="'iso' holds dates, and ONNX cannot read these"):
        rb.to_onnx(rb.load("m"))


@pytest.mark.parametrize(
    ("text", "form", "days"),
    [
        ("1970-01-01", "ymd", 0), ("1970/1/2 12:00", "ymd", 1.5), ("1998-06-12T02:00:00+02:00", "ymd", 10389),
        ("Jun 12 1998", "named", 10389), ("June 12, 1998", "named", 10389), ("12-Jun-98", "named", 10389),
        ("Fri, 12 Jun 1998", "named", 10389), ("6/12/98 6:00 PM", "mdy", 10389.75), ("12.06.1998", "dmy", 10389),
        ("31/02/2000", "dmy", None), ("Foo 12 1998", "named", None), ("1998-06-12x", "ymd", None),
        ("1998-13-12", "ymd", None), ("6/12/98 25:00", "mdy", None), ("1.2.34", "dmy", None),
    ],
)  # fmt: skip
def test_forms_of_dates(text, form, days):
    assert days_of(text, form) == days


@pytest.mark.parametrize("memory", [1 << 28, 3000])
def test_dates_of_data_larger_than_memory(tmp_path, memory):
    path = tmp_path / "t.csv"
    dated(400).to_csv(path, index=False)
    trained = rb.train(path, memory=memory, chunk_bytes=500)
    np.testing.assert_array_equal(trained.estimator.coef_, rb.train(dated(400)).estimator.coef_)


def test_words_are_weighted_behind_the_marks(done):
    rows = "1,free prize,yes\n,at home,no\n3,free entry,yes\n2,see you,no\n"
    write("t.csv", "a,text,label\n" + rows)
    done("train", "t.csv", "-o", "m", "--text", "text", "--bits", "6")
    model, frame = rb.load("m"), pd.read_csv("t.csv")
    encoder = rb.TableEncoder(text=["text"], bits=6).fit(frame.drop(columns="label"))
    assert (encoder.transform(frame) != model[0].transform(frame)).nnz == 0
    assert (encoder.fit_transform(frame.drop(columns="label")) != model[0].transform(frame)).nnz == 0
    files = rb.TableEncoder(text=["text"], bits=6).fit_files("t.csv", target="label")
    assert (files.transform(frame) != model[0].transform(frame)).nnz == 0
    found = encoder.transform(frame).toarray()
    assert found[:, :2].tolist() == [[1, 0], [2, 1], [3, 0], [2, 0]]
    np.testing.assert_allclose((found[:, 2:] ** 2).sum(axis=1), 1.0)


@pytest.mark.parametrize("orient", ["records", "columns", "split", "index"])
def test_json_of_every_orientation_is_read(run, orient):
    frame = pd.DataFrame({"a": [1.5, 2, None, 4] * 3, "k": [*"uvuv"] * 3, "y": [*"ppqq"] * 3})
    frame.to_json("t.json", orient=orient)
    ran = run("train", "t.json", "--target", "y", "-o", "m")
    assert ran.code == 0, ran
    expected = rb.train(frame, target="y").estimator
    np.testing.assert_array_equal(rb.load("m")[-1].coef_, expected.coef_)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"a": 1, "y": "p"}, {"a": [2], "y": "q"}]', "t.json:2: 'a' is [2]; nested values cannot be features"),
        ('[{"a": 1, "y": "p"}, 3]', "t.json:2: is 3, but every"),
        ('[{"a": 1, "y": "p"},', "t.json:1:21: is no JSON"),
        ('{"a": {"0": 1}, "y": 3}', "an object of columns"),
    ],
)
def test_json_that_is_no_table_is_refused(run, text, told):
    ran = run("train", write("t.json", text), "-o", "m")
    assert ran.code == 2
    assert told in ran.err


RARE = "a,label\n" + "".join(f"{k},{'yes' if k % 2 else 'no'}\n" for k in range(30)) + "7,once\n8,twice\n9,twice\n"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            "train t.csv -o m --holdout 0.2",
            "class once has one. Leave rare classes out with --min-class 2, or train without a holdout.",
        ),
        (
            "evaluate t.csv --cv 3",
            "class once has 1. Leave rare classes out with --min-class 3, merge them with --min-class 3:other.",
        ),
    ],
)
def test_a_rare_class_that_is_in_the_way_is_named_with_ways_out_that_work(run, typed, told):
    write("t.csv", RARE)
    ran = run(*typed.split())
    assert ran.code == 2
    assert ran.err.splitlines()[-1].endswith(told)
    for way in re.findall(r"--min-class [\w:]*\w", told):
        assert run(*typed.split(), *way.split()).code == 0


def test_rare_classes_are_left_out_or_merged_with_one_note(run, done):
    write("t.csv", RARE)
    ran = run("train", "t.csv", "-o", "m", "--min-class", "2:other")
    assert "note: rare classes became 'other': 'once' 1" in ran.err.splitlines()
    assert "33 rows, 1 feature, 4 classes (no 15, other 1, twice 2, yes 15)" in ran.out
    ran = run("train", "t.csv", "-o", "m", "--min-class", "3")
    assert "note: rare classes were left out: 'once' 1, 'twice' 2" in ran.err.splitlines()
    assert "30 rows, 1 feature, 2 classes (no 15, yes 15)" in ran.out
    assert rb.load("m").classes_.tolist() == ["no", "yes"]
    without = pd.read_csv("t.csv")
    without = without[~without.label.isin(["once", "twice"])]
    twin = rb.train(without, target="label").model
    assert (rb.load("m")[-1].coef_ == twin[-1].coef_).all()
    merged = rb.train("t.csv", min_class="3:yes").model
    twin = rb.train(pd.read_csv("t.csv").replace(["once", "twice"], "yes"), target="label").model
    assert (merged[-1].coef_ == twin[-1].coef_).all()
    folds = rb.evaluate_folds(None, "t.csv", min_class=3).total
    assert folds.n_rows == 30
    assert run("train", "t.csv", "-o", "m").err == run("train", "t.csv", "-o", "m", "--min-class", "1").err


@pytest.mark.parametrize(
    ("min_class", "told"),
    [
        ("x", "min_class is 'x', but must be a number of rows"),
        ("5:", "must be a number of rows"),
        (0, "must be a number of rows"),
        (True, "must be a number of rows"),
        (16, "no class has 16 rows"),
    ],
)
def test_what_min_class_cannot_be(min_class, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv", RARE)
    with pytest.raises(ParameterError, match=told):
        rb.train("t.csv", min_class=min_class)


def test_numbers_cannot_become_a_named_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv", "a,label\n1,0\n2,1\n3,0\n4,1\n5,2\n")
    with pytest.raises(ParameterError, match="labels are numbers such as 0"):
        rb.train("t.csv", min_class="2:other")
    assert rb.train("t.csv", min_class=2).model.classes_.tolist() == [0, 1]
    with pytest.raises(ParameterError, match="predicts no classes"):
        rb.train("t.csv", "ranking", min_class=2)


def with_names_of_rows(n=60):
    rows = [f"{k + 1},u{k:04},{k * 7 % 11},{k % 3},{'yes' if k % 2 else 'no'}" for k in range(n)]
    return "\n".join(["row,code,size,kind_id,label", *rows]) + "\n"


def test_columns_that_differ_in_every_row_are_left_out_with_one_note(run):
    write("t.csv", with_names_of_rows())
    ran = run("train", "t.csv", "-o", "m")
    told = "'row', 'code' differ in every row and were left out; to use them, name all columns in --features"
    assert f"note: {told}" in ran.err.splitlines()
    assert "'kind_id' is used as a feature" in ran.err
    assert rb.load("m")[0].get_feature_names_out().tolist() == ["size", "kind_id"]
    ran = run("train", "t.csv", "-o", "m", "--features", "row,size")
    assert "60 rows, 2 features" in ran.out
    assert "note" not in ran.err
    ran = run("train", "t.csv", "-o", "m", "--categorical", "code")
    assert "note: 'row' differs in every row and was left out; to use it, name all" in ran.err
    assert "60 rows, 62 features" in ran.out
    # Few rows say nothing, and where nothing else is left the column stays.
    write("few.csv", with_names_of_rows(40))
    assert "60" not in run("train", "few.csv", "-o", "m", "--target", "label").out.split(" features")[0]
    assert "'size'" not in run("train", "few.csv", "-o", "m").err
    assert run("train", "t.csv", "-o", "m", "--ignore", "size,kind_id,code").code == 0


def test_python_leaves_out_the_same_columns_and_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv", with_names_of_rows())
    frame = pd.read_csv("t.csv").drop(columns="label")
    with pytest.warns(LeftOutWarning, match=r"'row', 'code' differ in every row.*categorical=\['row', 'code'\]"):
        encoder = rb.TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["size", "kind_id"]
    assert encoder.transform(frame[["kind_id", "size"]]).shape == (60, 2)
    assert rb.TableEncoder(categorical=["row", "code"]).fit_transform(frame).shape == (60, 122)
    assert rb.TableEncoder().fit_transform(frame.to_numpy(dtype=object)).shape[1] > 60  # it has no names
    said = []
    found = rb.train(pd.read_csv("t.csv"), log=said.append)
    model = found.model
    assert [f"note: {note}" for note in found.notes] == said[1:]
    assert all(f"note: {note}" in str(found) for note in found.notes)
    assert "differ in every row" in found._repr_html_()
    assert rb.train("@iris").notes == ()
    assert model[0].get_feature_names_out().tolist() == ["size", "kind_id"]
    assert any("'row', 'code' differ in every row" in each for each in said)


@pytest.mark.parametrize(
    ("column", "left_out"),
    [
        ([f"{1950 + k}" for k in range(60)], False),  # years count, but not from 0 or 1
        ([f"{k}" for k in range(60)], True),
        ([f"{k % 59}" for k in range(60)], False),
        ([f"the letter number {k} of a long correspondence" for k in range(60)], False),  # a text
        ([f"{k}.5" for k in range(60)], False),
    ],
)
def test_which_first_columns_differ_in_every_row(column, left_out, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{value},{k % 7},{'yes' if k % 2 else 'no'}" for k, value in enumerate(column)]
    write("t.csv", "first,size,label\n" + "\n".join(rows) + "\n")
    said = []
    rb.train("t.csv", log=said.append)
    assert any("'first' differs in every row" in each for each in said) == left_out


def oddities():
    """Return a table of which eight things are to be said."""
    rng, n = np.random.default_rng(0), 100
    frame = pd.DataFrame({"": range(n)})
    for j in range(12):
        frame[f"number_{j}"] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(2))
    for j in range(6):
        frame[f"date_{j}"] = pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d")
        frame[f"key_{j}"] = [f"k{j}{i}" for i in range(n)]
        frame[f"price_{j}"] = [f"${price}" for price in rng.integers(1, 9, n)]
    frame["text"] = [" ".join(rng.choice(["alpha", "beta", "gamma", "omega"], 12)) for _ in range(n)]
    frame["none"] = ""
    frame["label"] = rng.choice(["no", "No", "yes"], n)
    return frame


def test_many_notes_are_five_lines_of_a_terminal_and_verbose_prints_all(run):
    oddities().to_csv("t.csv", index=False)
    command = ("train", "t.csv", "-o", "m", "--max-iter", "1")
    notes = [line for line in run(*command).err.splitlines() if line.startswith("note:")]
    assert len(notes) == 5
    assert max(map(len, notes)) <= 120
    assert notes[2].startswith("note: 'key_0', 'key_1' and 4 more differ in every row")
    assert notes[3].endswith("'price_1' ('$5') and 4 more; write them plainly, as 1700")
    assert re.match("note: 4 more .--verbose.: 'text' holds text.*; dates became.*; labels.*; missing", notes[4])
    every = run(*command, "--verbose").err.splitlines()
    every = [line.removeprefix("note: ") for line in every if line.startswith("note:")]
    assert len(every) == 8
    assert notes[:4] == [f"note: {note}" for note in every[:4]]
    assert json.loads(run(*command, "--json").out)["notes"] == every
    crossed = run("evaluate", "--cv", "3", "t.csv", "--max-iter", "1").err.splitlines()
    assert [line for line in crossed if line.startswith("note:")][:4] == notes[:4]


def test_five_notes_are_printed_as_they_are_also_before_an_error(run):
    frame = oddities().drop(columns=["text", "none"])
    frame.to_csv("t.csv", index=False)
    ran = run("train", "t.csv", "-o", "m", "--max-iter", "1")
    notes = [line for line in ran.err.splitlines() if line.startswith("note:")]
    assert len(notes) == 6 - 1
    assert notes[4].startswith("note: 2 more (--verbose): labels that differ")
    frame.drop(columns="").to_csv("t.csv", index=False)
    ran = run("train", "t.csv", "-o", "m", "--max-iter", "1")
    assert "note: missing numbers became the mean of their column, and a mark: 'number_0' " in ran.err
    ran = run("train", "t.csv", "-o", "m", "--learner", "soft-margin", "--set", "C=-1")
    assert ran.code == 2
    assert "more (" not in ran.err


def test_a_result_prints_five_lines_of_notes_and_keeps_all():
    trained = rb.train(oddities(), target="label", parameters={"max_iter": 1})
    printed = [line for line in str(trained).splitlines() if line.startswith("note:")]
    assert len(trained.notes) > len(printed) == 5
    assert " more (notes): " in printed[4]
    assert max(map(len, printed)) <= 120
