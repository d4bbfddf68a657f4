"""Labels, names of columns and provenance may hold any character; terminals, tables and pages stay whole."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.escaping import printable
from rosenblatt.reports.page import write_report

TITLE = "\x1b]0;owned\x07"
LABELS = [f"red{TITLE}", "two\nlines", 'a "quote"', "\ttab\u202e"]
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def write_table(path, labels=LABELS, names=(f"height{TITLE}", "$\\frac$\nwidth")):
    """Write rows in a plane, a corner of it for each label."""
    rng = np.random.default_rng(0)
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*names, "label"])
        for k, label in enumerate(labels * 10):
            side = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]][k % len(labels)])
            rows.writerow([*(3 * side + rng.uniform(-1, 1, 2)).round(3).tolist(), label])
    return path


@pytest.mark.parametrize("labels", [LABELS, LABELS[:2]])
def test_no_command_prints_a_control_character(run, labels):
    write_table("t.csv", labels)
    commands = [
        ["train", "t.csv", "-o", "m", "--holdout", "0.25"],
        ["inspect", "m"],
        ["evaluate", "m", "t.csv"],
        ["evaluate", "--cv", "3", "t.csv"],
        ["certify", "t.csv", "-o", "proof.json"],
        ["check", "proof.json", "t.csv"],
        ["trace", "t.csv", "--limit", "3"],
        ["report", "m", "t.csv", "-o", "page.html"],
        ["train", "t.csv", "-o", "m", "--target", f"none{TITLE}"],
        ["train", f"none{TITLE}.csv", "-o", "m"],
        ["train", "t.csv", "-o", "m", "--learner", "max-margin"],
    ]
    for command in commands:
        ran = run(*command)
        assert not CONTROLS.search(ran.out + ran.err), (command, ran.out, ran.err)
        assert "defect" not in ran.err, (command, ran.err)
    assert printable(LABELS[0]) in run("inspect", "m").out
    for command in (
        ["inspect", "m", "--json"],
        ["evaluate", "m", "t.csv", "--json"],
        ["predict", "m", "t.csv", "--json"],
    ):
        assert not CONTROLS.search(run(*command).out)


def test_a_table_has_a_line_for_each_label(done):
    write_table("t.csv")
    done("train", "t.csv", "-o", "m")
    lines = done("evaluate", "m", "t.csv").splitlines()
    assert sum(line.lstrip().startswith("two\\nlines") for line in lines) == 2


@pytest.mark.parametrize("options", [(), ("--scores",)])
def test_predictions_are_quoted_as_in_csv(run, options, tmp_path):
    write_table("t.csv")
    run("train", "t.csv", "-o", "m")
    assert run("predict", "m", "t.csv", "-o", "p.tsv", *options).code == 0
    with open("p.tsv", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    heading = rows.pop(0) if options else ["label"]
    assert len(rows) == 10 * len(LABELS)
    assert {row[0] for row in rows} == set(LABELS)
    assert {len(row) for row in rows} == {len(heading)}
    assert heading[1:] == [f"score:{label}" for label in sorted(LABELS)] * bool(options)
    lines = run("predict", "m", "t.csv", "--json").out.split("\n")[:-1]
    assert [json.loads(line)["label"] for line in lines] == [row[0] for row in rows]


def test_a_report_of_hostile_names_is_a_page_that_runs_nothing(run):
    write_table("t.csv", [*LABELS[:3], "<script>alert(1)</script>"])
    run("train", "t.csv", "-o", "m")
    ran = run("report", "m", "t.csv", "-o", "page.html")
    assert ran.code == 0, ran
    page = Path("page.html").read_text(encoding="utf-8")
    assert not CONTROLS.search(page)
    assert "<script" not in page
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert page.index("Content-Security-Policy") < page.index("<style")


def test_a_report_in_python_draws_labels_that_are_no_formulas(tmp_path):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array(["$\\frac$", "\x00b"] * 2)
    clf = rb.Perceptron(max_iter=3)
    clf.fit(X, y)
    page = write_report(tmp_path / "p.html", clf, X, y, names=["\x1bname", "$x_"]).read_text()
    assert not CONTROLS.search(page)
