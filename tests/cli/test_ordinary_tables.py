"""Tables as people have them: gaps, dates, identifiers, rare classes, each tried by the command as typed."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from rosenblatt.exceptions import DataTypeError, FormatError, LeftOutWarning, ParameterError
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
    "note: dates: 'when', 'iso' (days, month, weekday), "
    "'us' (days, month, weekday, month first); --date none leaves them out"
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
    with pytest.raises(rb.exceptions.InputError, match="'iso' holds dates, and ONNX cannot read these"):
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
        ("x", "min_class='x' must be a number of rows"),
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
    told = "'row', 'code' seem to name the rows and were left out; to use them, name all columns in --features"
    assert f"note: {told}" in ran.err.splitlines()
    assert "'kind_id' is used as a feature" in ran.err
    assert rb.load("m")[0].get_feature_names_out().tolist() == ["size", "kind_id"]
    ran = run("train", "t.csv", "-o", "m", "--features", "row,size")
    assert "60 rows, 2 features" in ran.out
    assert "note" not in ran.err
    ran = run("train", "t.csv", "-o", "m", "--categorical", "code")
    assert "note: 'row' seems to name the rows and was left out; to use it, name all" in ran.err
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
    with pytest.warns(LeftOutWarning, match=r"'row', 'code' seem to name the rows.*categorical=\['row', 'code'\]"):
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
    assert "seem to name the rows" in found._repr_html_()
    assert rb.train("@iris").notes == ()
    assert model[0].get_feature_names_out().tolist() == ["size", "kind_id"]
    assert any("'row', 'code' seem to name the rows" in each for each in said)


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
    assert any("'first' seems to name the rows" in each for each in said) == left_out


def test_a_column_of_thousands_of_names_trains_and_is_told(run):
    titles = [f"film {k % 1400}" for k in range(1500)]  # the first thousand differ, but not the first of all
    titles[5] = titles[4]  # its name comes later
    rows = [f"{k % 7},{title},{'yes' if k % 2 else 'no'}" for k, title in enumerate(titles)]
    write("t.csv", "size,title,label\n" + "\n".join(rows) + "\n")
    ran = run("train", "t.csv", "-o", "m", "--max-iter", "2")
    assert ran.code == 0
    assert "note: columns with different values in most of the 1,500 rows: 'title' (1,400)" in ran.err
    assert "1,401 features" in ran.out


def test_a_model_is_evaluated_on_the_rows_with_gaps_that_it_was_trained_on():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["y"] = np.where(frame["a"] + frame["b"] > 0, "yes", "no")
    frame.loc[::7, "a"] = np.nan
    found = rb.train(frame, target="y")
    again = rb.evaluate(found.model, frame)
    assert again.accuracy == found.summary.trained_on.accuracy
    assert again.seen == "all"
    assert rb.evaluate(found.model, frame[10:]).seen != "all"


def test_words_make_no_more_features_than_places_can_say():
    texts = pd.DataFrame({f"t{k}": [f"{k} one word", "two more words"] for k in range(9)} | {"y": ["no", "yes"]})
    columns = [f"t{k}" for k in range(9)]
    with pytest.raises(ParameterError, match=r"bits=28 makes 2,415,919,104 features of 9 columns, more"):
        rb.train(texts, target="y", text=columns, bits=28)


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
    assert notes[2].startswith("note: 'key_0', 'key_1' and 4 more seem to name the rows")
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


UNLABELLED = "age,job,vote\n41,nurse,yes\n,cook,\n35,cook,no\nold,nurse,\n52,nurse,yes\n28,cook,no\n60,nurse,yes\n"
LEFT_OUT = "note: 2 rows have no label in 'vote' and were left out; --missing error refuses them"


def without_labels(n, path):
    """Write a table of which every fifth label is missing, in the format of the path, and return its frame."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.normal(size=n).round(3), "k": rng.choice(["u", "v"], n)})
    frame["vote"] = np.where(frame.a + (frame.k == "u") > 0.3, "yes", "no")
    frame.loc[::5, "vote"] = None
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=path.suffix == ".jsonl")
    return frame


def test_rows_without_a_label_are_left_out_with_a_note(run):
    write("t.csv", UNLABELLED)
    ran = run("train", "t.csv", "-o", "m", "--target", "vote", "--json")
    assert ran.code == 0, ran
    assert LEFT_OUT in ran.err.splitlines()
    assert json.loads(ran.out)["rows"] == 5
    assert LEFT_OUT.removeprefix("note: ") in json.loads(ran.out)["notes"]
    assert rb.load("m")[0].get_feature_names_out().tolist() == ["age", "job=nurse", "job=cook"]
    assert run("predict", "m", "t.csv").code == 2  # 'old' is no number, and this row is predicted
    judged = run("evaluate", "m", "t.csv")
    assert LEFT_OUT in judged.err.splitlines()
    assert "5 of 5 rows right" in judged.out
    assert "trained on these rows" in judged.out
    folds = run("evaluate", "t.csv", "--cv", "2", "--target", "vote", "--json")
    assert LEFT_OUT in folds.err.splitlines()
    assert json.loads(folds.out)["all"]["rows"] == 5
    assert run("report", "m", "t.csv", "-o", "r.html").code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("train", "-o", "m", "--missing", "error"),
        ("evaluate", "--cv", "2", "--missing", "error"),
        ("certify",),
        ("certify", "--missing", "mean"),
    ],
)
def test_the_strict_and_proofs_refuse_rows_without_a_label(run, command):
    write("t.csv", UNLABELLED.replace("old", "47"))
    ran = run(command[0], "t.csv", *command[1:], "--target", "vote")
    assert ran.code == 2
    assert "the label is missing" in ran.err
    assert "leave such rows out with --skip-bad" in ran.err


def test_a_model_refuses_to_judge_rows_without_a_label_if_asked_to(run):
    write("t.csv", UNLABELLED.replace("old", "47"))
    assert run("train", "t.csv", "-o", "m", "--target", "vote").code == 0
    assert "the label is missing" in run("evaluate", "m", "t.csv", "--missing", "error").err


def test_no_labels_at_all_are_an_error_of_their_own(run):
    write("t.csv", "a,vote\n1,\n2,\n")
    ran = run("train", "t.csv", "-o", "m", "--target", "vote")
    assert ran.code == 2
    assert "there is not one row that has a label; the first problem: t.csv:2:2: the label is missing" in ran.err


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
def test_rows_without_a_label_are_left_out_of_every_format_and_out_of_core(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    frame = without_labels(3000, path)
    whole = frame.dropna(subset="vote").reset_index(drop=True)
    expected = rb.train(whole, target="vote").estimator.coef_
    told = []
    results = {
        "memory": rb.train(path, target="vote"),
        "stream": rb.train(path, target="vote", memory=10_000, chunk_bytes=2000),
        "cache": rb.train(path, target="vote", memory=10_000, cache=tmp_path / "cache"),
        "again": rb.train(path, target="vote", memory=10_000, cache=tmp_path / "cache", log=told.append),
        "frame": rb.train(frame, target="vote"),
    }
    for name, result in results.items():
        np.testing.assert_array_equal(result.estimator.coef_, expected, err_msg=name)
        assert result.summary.n_rows == result.provenance["rows"] == 2400, name
        assert any("600 rows have no label in 'vote'" in note for note in result.notes), name
    assert "600 rows have no label" in " ".join(told)
    model = results["memory"].model
    assert (
        rb.evaluate(model, path, target="vote").n_rows == rb.evaluate(model, frame, target="vote").n_rows == 2400
    )
    with pytest.raises(FormatError, match="the label is missing"):
        rb.train(frame, target="vote", missing="error")


def test_the_same_labelled_rows_are_held_out_and_dealt_to_folds(tmp_path):
    path = tmp_path / "t.csv"
    frame = without_labels(500, path)
    whole = frame.dropna(subset="vote").reset_index(drop=True)
    one, other = (rb.train(data, target="vote", holdout=0.2) for data in (path, whole))
    np.testing.assert_array_equal(one.estimator.coef_, other.estimator.coef_)
    assert one.summary.held_out.n_rows == other.summary.held_out.n_rows == 80
    folds = [rb.evaluate_folds(None, data, target="vote", folds=3).total.to_json() for data in (path, whole)]
    assert folds[0] == folds[1]


def frame_of(n=60, **columns):
    """Return a frame with a number, a label, and more columns."""
    a = np.random.default_rng(5).normal(size=n).round(3)
    return pd.DataFrame({**columns, "a": a, "y": np.where(a > 0, "u", "v")})


def test_words_beside_numbers_are_read_in_frames_as_in_files(tmp_path):
    frame = frame_of(
        mixed=[["x", "z", 1][k % 3] for k in range(60)], number=[1.5 if k % 3 else "n/a" for k in range(60)]
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    one, other = rb.train(frame, target="y"), rb.train(tmp_path / "t.csv", target="y")
    assert one.preparation.names == other.preparation.names
    assert "mixed=1" in one.preparation.names
    assert "number is missing" in one.preparation.names
    np.testing.assert_array_equal(one.estimator.coef_, other.estimator.coef_)
    assert one.notes == other.notes
    with pytest.raises(FormatError, match=r"'number' is 'bad', but the column holds numbers.*categorical"):
        rb.train(frame.replace("n/a", "bad"), target="y")
    with pytest.raises(FormatError) as caught:
        rb.TableEncoder().fit(frame[["number", "a"]].replace("n/a", "bad"))
    assert "skip_bad" not in str(caught.value)
    with pytest.raises(DataTypeError, match=r"^Every value of the data frame must be") as caught:
        rb.train(frame_of(2, z=[object(), "x"]), target="y")
    assert "the the" not in str(caught.value)


def test_lengths_of_time_become_days(tmp_path):
    frame = frame_of(td=pd.to_timedelta([*range(59), None], unit="h"))
    frame.to_parquet(tmp_path / "t.parquet")
    for data in (frame, tmp_path / "t.parquet"):
        trained = rb.train(data, target="y")
        assert trained.preparation.names == ("td", "a", "td is missing")
        assert "'td' holds lengths of time, in days" in trained.notes
    encoded = rb.TableEncoder(missing="zero").fit_transform(frame[["td"]])
    np.testing.assert_allclose(encoded[:, 0], [*(np.arange(59) / 24), 0.0])
    with pytest.raises(FormatError, match=r"'td' holds values of type duration.*name no classes"):
        rb.train(frame, target="td")


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_integers_too_large_for_floats_name_rows(tmp_path, ending):
    frame = frame_of(big=np.random.default_rng(6).integers(2**54, 2**60, 60))
    path = tmp_path / f"t.{ending}"
    writers = {
        "csv": frame.to_csv,
        "json": lambda p, index: frame.to_json(p, orient="records"),
        "parquet": frame.to_parquet,
    }
    writers[ending](path, index=False)
    trained = rb.train(path, target="y")
    assert trained.preparation.names == ("a",)
    assert trained.notes == (
        "'big' seems to name the rows and was left out; to use it, name all columns in features",
    )


def test_the_way_out_of_large_integers_is_one_sentence(run):
    write("t.csv", f"big,y\n{2**60 + 1},u\n{2**60 + 3},v\n")
    assert run("train", "t.csv", "-o", "m").err.endswith(
        "an integer beyond 2^53 that float64 would round, and 1 row more; leave the column out with --ignore big "
        "if it is an identifier, or take its values as names with --hashed big\n"
    )


@pytest.mark.parametrize("orient", ["records", "columns", "split", "index", "table"])
def test_what_pandas_writes_as_json_is_read(tmp_path, orient):
    frame = frame_of(k=["p", "q"] * 30)
    frame.to_json(tmp_path / "t.json", orient=orient)
    assert rb.train(tmp_path / "t.json", target="y").preparation.names == ("a", "k=p", "k=q")


@pytest.mark.parametrize(
    "text, problem",
    [
        ("[[1, 2], [3, 4]]", "t.json:1: is an array of 2 values without names; write each row as an object"),
        (
            '{\n"type": "FeatureCollection",\n"features": [{}, {}]\n}',
            "t.json: is JSON, but no table: it is an object with the keys 'type' (text), 'features' (array of 2). "
            "A table is an array of objects, one for each row, or an object of columns. Save the rows so: of "
            "GeoJSON, the properties of each feature",
        ),
        ('{"type": "FeatureCollection", "features": [{}]}', "Save the rows so: of GeoJSON"),
        ('{"nodes": [{}], "links": [{}, {}]}', "the keys 'nodes' (array of 1), 'links' (array of 2)"),
        ('{"a": 1,\n"y": "u"}\n{"a": 2,\n"y": "v"}', "is no JSON: Extra data; if there is an object on each line"),
    ],
)
def test_json_that_is_no_table_says_what_it_is(run, text, problem):
    write("t.json", text)
    ran = run("train", "t.json", "-o", "m")
    assert ran.code == 2
    assert problem in ran.err


def test_objects_on_lines_of_a_file_called_json_are_still_read(tmp_path):
    frame = frame_of(k=["p", "q"] * 30)
    frame.to_json(tmp_path / "t.json", orient="records", lines=True)
    assert rb.train(tmp_path / "t.json", target="y").summary.n_rows == 60


STRAY = "when,a,y\n2020-01-05,1,u\n2020-02-06,2,v\n2020-13-45,3,u\n2020-03-08,4,v\n2020-04-09,5,u\n"


@pytest.mark.parametrize("lines", [False, True])
def test_a_bad_date_is_named(run, lines):
    write("t.csv", STRAY)
    place, column = "t.csv", "4:1"
    if lines:
        pd.read_csv("t.csv").to_json("t.jsonl", orient="records", lines=True)
        place, column = "t.jsonl", "3:1"
    note = "note: 'when' ('2020-13-45') was left out, for what is no date; --skip-bad leaves out such rows"
    ran = run("train", place, "-o", "m")
    assert note in ran.err.splitlines()
    assert rb.load("m")[0].get_feature_names_out().tolist() == ["a"]
    ran = run("train", place, "-o", "m", "--skip-bad")
    assert f"  {place}:{column}: 'when' is '2020-13-45', but the column holds dates" in ran.err.splitlines()
    assert "when in days" in rb.load("m")[0].get_feature_names_out()
    assert "but the column holds dates" in run("train", place, "-o", "m", "--features", "when,a").err


@pytest.mark.parametrize(
    "command", [("train", "t.csv", "-o", "m", "--holdout", "0.2"), ("evaluate", "t.csv", "--cv", "2")]
)
def test_merging_too_few_rows_is_told_with_what_works(run, command):
    write("t.csv", "a,y\n" + "".join(f"{k},{'pq'[k % 2]}\n" for k in range(20)) + "99,B\n")
    ran = run(*command, "--min-class", "5:other")
    assert ran.code == 2
    assert "Too few rows became 'other'; leave them out with --min-class 5" in ran.err
    assert run(*command, "--min-class", "5").code == 0


def test_inspect_counts_mistakes_and_updates_as_training_does(run):
    write(
        "t.csv",
        "text,y\n"
        + "".join(f"word{k % 7} more{k % 5} here{k % 3} and then some,{'pq'[k % 2]}\n" for k in range(60)),
    )
    told = json.loads(run("train", "t.csv", "-o", "m", "--text", "text", "--target", "y", "--json").out)
    training = json.loads(run("inspect", "m", "--json").out)["training"]
    assert training["mistakes_per_pass"] == told["mistakes_per_pass"]
    assert sum(training["updates_per_pass"]) > sum(told["mistakes_per_pass"])


NASTY = ["a very long name of a column, with words and (units) in it, number %d", "n%d"]


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("several", [1, 2, 3, 5])
def test_every_note_fits_into_one_line(run, name, several):
    n, rng = 80, np.random.default_rng(7)
    days = pd.date_range("2020-01-01", periods=n)
    kinds = {
        "gaps": lambda: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        "names": lambda: [f"k{k}" for k in rng.permutation(n)],
        "almost": lambda: [f"k{max(k, 3)}" for k in range(n)],
        "dates": lambda: days.strftime("%Y-%m-%d"),
        "european": lambda: days.strftime("%d/%m/%Y"),
        "stray": lambda: [*days.strftime("%Y-%m-%d")[1:], "soon"],
        "times": lambda: [f"{k % 24}:00" for k in range(n)],
        "empty": lambda: [None] * n,
        "money": lambda: [f"${k % 9},000" for k in range(n)],
        "points": lambda: [["7.700", "950"][k % 2] for k in range(n)],
        "large": lambda: rng.integers(2**54, 2**60, n),
    }
    for kind, make in kinds.items():
        frame = pd.DataFrame({name % k: make() for k in range(several)})
        frame["a"], frame["label"] = rng.normal(size=n), [None, "p", "q", "P"] * 20
        frame.to_csv("t.csv", index=False)
        frame.to_json("t.jsonl", orient="records", lines=True)
        for path in ("t.csv", "t.jsonl"):
            ran = run("train", path, "-o", "m", "--target", "label")
            assert ran.code == 0, (kind, ran)
            notes = [line for line in ran.err.splitlines() if line.startswith("note:")]
            assert notes
            assert all(len(note) <= 120 for note in notes), (kind, notes)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_dates_with_two_digits_of_a_year_and_points(tmp_path, ending):
    days = pd.date_range("1997-01-28", periods=60, freq="100D")
    frame = frame_of(day=days.strftime("%d.%m.%y"))
    path = tmp_path / f"t.{ending}"
    write_frame(frame, path)
    for data in (frame, path):
        trained = rb.train(data, target="y")
        assert any("'day' (days, month, weekday, day first)" in note for note in trained.notes)
        encoded = trained.preparation.read_raw(frame).native().toarray()[:, 1]
        assert encoded.tolist() == [(day - pd.Timestamp(0)).days for day in days]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_eight_digits_are_a_date_only_if_the_column_says_so(tmp_path, ending):
    days = pd.date_range("1997-01-28", periods=60, freq="100D")
    frame = frame_of(start_date=days.strftime("%Y%m%d").astype(int), day=days.strftime("%Y%m%d").astype(int))
    path = tmp_path / f"t.{ending}"
    write_frame(frame, path)
    for data in (frame, path):
        trained = rb.train(data, target="y")
        assert trained.preparation.names[:3] == ("day", "a", "start_date in days")
        assert any(note.startswith("dates became numbers: 'start_date' (") for note in trained.notes)
        encoded = trained.preparation.read_raw(frame).native().toarray()[:, 2]
        assert encoded.tolist() == [(day - pd.Timestamp(0)).days for day in days]
    frame.loc[3, "start_date"] = 20121399
    assert rb.train(frame, target="y").preparation.names == ("start_date", "day", "a")
    names = rb.TableEncoder().fit(frame.assign(start_date=frame.day)[["start_date"]]).get_feature_names_out()
    assert names[0] == "start_date in days"


def write_frame(frame, path):
    """Write a frame in the format of a path."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)


def test_columns_of_one_name_train(run):
    write("t.csv", "id,score,score,label\n1,0.5,7,a\n2,0.9,3,b\n3,0.4,8,a\n4,0.8,2,b\n")
    ran = run("train", "t.csv", "-o", "m")
    assert "note: columns of one name have its number in theirs: 'score (column 3)'" in ran.err.splitlines()
    assert rb.load("m")[0].get_feature_names_out().tolist() == ["id", "score", "score (column 3)"]
    assert "4 of 4 rows right" in run("evaluate", "m", "t.csv").out
    write("other.csv", "id,score,label\n1,7,a\n")
    assert "there is no column 'score (column 3)'" in run("predict", "m", "other.csv").err
    write("twice.csv", "id,label,score,label\n1,a,7,a\n2,b,3,b\n")
    assert "two columns are called 'label'" in run("train", "twice.csv", "-o", "m").err
    assert "choose one by its position" in run("train", "twice.csv", "-o", "m", "--target", "label").err
    assert run("train", "twice.csv", "-o", "m", "--target", "4", "--ignore", "2").code == 0
