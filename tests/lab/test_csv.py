"""The lab page reads CSV as the command line does: the same numbers, labels and names, or both refuse."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import rosenblatt as rb
from rosenblatt.estimators._features import columns_to_scale
from rosenblatt.exceptions import RosenblattError
from rosenblatt.rows.features import as_rows
from tests.lab.lab_engine import Engine, needs_node

pytestmark = [pytest.mark.slow, needs_node]

TABLES = {
    "semicolons and decimal commas, no header": "1,5;2;a\n2,5;3;b\n",
    "label first": "label,x,z\na,1,2\nb,2,3\na,3,4\n",
    "class in the middle": "x,class,z\n1,u,2\n2,v,3\n3,u,4\n",
    "a target of many values is none": "y,x,c\n1.5,1,a\n2.5,2,b\n3.5,3,a\n4.5,4,b\n5.5,5,a\n6.5,6,b\n7.5,1,a\n",
    "a target of several numbers is none": "x,y,c\n1.5,2,a\n2,3,a\n7,3,b\n8,2,b\n",
    "two codes with a usual name": "x,y,c\n1.5,0,a\n2,1,a\n7,0,b\n8,1,b\n",
    "the target is first": ",c,y,x\n0,a,4,1\n1,a,5,2\n2,b,4,1\n3,b,5,4\n",
    "an empty target": "x,y,c\n1,,a\n2,,b\n3,,a\n",
    "names become features": "colour;size;class\nred;1,5;a\nblue;2,5;b\nred;3;a\n",
    "names without a header": "a;1,5;2\nb;2,5;2\na;3;4\n",
    "a missing name": "x,z,c\n1,NA,a\n2,u,b\n3,v,a\n",
    "tabs": "l\tx\n1\t2\n0\t3\n",
    "bars": "x|z|l\n1|2|a\n2|1|b\n",
    "Excel": "sep=;\nx;l\n1,5;a\n2,5;b\n",
    "quotes": '"a b",x\n1,"u ""v"", w"\n2,"two\nlines"\n',
    "truth": "f,x,c\ntrue,2,0\nfalse,3,1\ntrue,4,1\n",
    "truth as labels": "x,y\n1,true\n2,false\n",
    "numbers as labels": "1.0,2\n1,3\n2.50,3\n3,10\n",
    "labels in several notations": "x,l\n1,1e3\n2,-0\n3,0\n",
    "row numbers": ",x,c\n0,2,0\n1,3,1\n2,4,1\n",
    "row numbers of pandas": "Unnamed: 0,x,c\n0,2,0\n1,3,1\n2,4,1\n",
    "an empty column": "x,e,c\n2,,0\n3,,1\n4,,1\n",
    "column numbers": "label,0,1\na,1,2\nb,3,4\na,5,6\n",
    "spaces": "1, 2 , a\n 3,4,b \n",
    "carriage returns": "x,l\r\n1,a\r\n\r\n2,b\r\n",
    "a byte order mark": "\ufeffx,l\n1,a\n2,b\n",
    "points at the ends": "x,l\n.5,a\n5.,b\n",
    "a plus": "x,l\n+1,a\n-2e3,b\n",
    "decimal commas beside points": "w;x;l\n1,5;1.5;a\n2,5;2.5;b\n",
    "thousands": 'x,l\n"7,700",a\n950,b\n"1,200",a\n',
    "both marks": "x;l\n1.234,5;a\n2,5;b\n",
    "half of them numbers": "x;l\n1,5;a\n2.5;b\n",
    "a word among numbers": "x,l\n1,a\n2,b\n3,a\nfoo,b\n5,a\n6,b\n",
    "a missing number": "x,z,c\n1,,a\n2,3,b\n",
    "a dash among numbers": "x,l\n-,a\n2,b\n",
    "a missing label": "x,y\n1,\n2,b\n",
    "an infinite number": "x,l\n1e400,a\n2,b\n",
    "a long integer": "x,l\n12345678901234567,a\n2,b\n",
    "a ragged row": "x,l\n1,a\n2\n",
    "spaces alone": "1,a\n   \n2,b\n",
    "an open quote": 'x,l\n1,"a\n2,b\n',
    "one column": "x\n1\n2\n",
    "two columns of one name": "x,x,l\n1,2,a\n3,4,b\n",
    "one of two columns of one name is empty": "z,x,x,l\n5,,2,a\n6,,4,b\n",
    "a feature called as the target": "label,label,x\n0,a,1\n1,b,2\n0,a,3\n",
    "a column without a name": "x,,l\n1,2,a\n3,4,b\n",
    "names and no row": "x,l\n",
    "nothing": "\n\n",
    "one class": "x,l\n1,a\n2,a\n",
}


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    yield engine
    engine.close()


def read(text, path, target=None):
    """Return what the command line reads, as the page would say it; None if it refuses."""
    path.write_bytes(text.encode())
    try:
        X, y, names = rb.read_table(path, **({} if target is None else {"target": target}), log=lambda _: None)
    except RosenblattError:
        return None
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        return None  # training would refuse these
    codes = codes if len(labels) > 2 else 2 * codes - 1
    shown = [label if isinstance(label, str) else json.dumps(label) for label in labels.tolist()]
    X = X.toarray() if sparse.issparse(X) else X
    return {"features": list(names), "labels": shown, "X": X.tolist(), "y": codes.tolist()}


def require_same(engine, text, path, target=None):
    ours = engine.ask(do="csv", text=text, **({} if target is None else {"target": target}))
    theirs = read(text, path, target)
    if theirs is None:
        assert "refused" in ours, (text, ours)
        return False
    if "refused" in ours:
        for place in ("dates", "texts", "takes at most", "is missing"):  # what the page has no place for
            if place in ours["refused"]:
                return False
    assert "refused" not in ours, (text, ours, theirs)
    ours["labels"] = [number_or(label) for label in ours["labels"]]
    theirs["labels"] = [number_or(label) for label in theirs["labels"]]
    assert ours == theirs, text
    return True


def number_or(label):
    try:
        return float(label)
    except ValueError:
        return label


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_as_on_the_command_line(engine, tmp_path, name):
    require_same(engine, TABLES[name], tmp_path / "table.csv")


@pytest.mark.parametrize("target", ["x1", "1", "-1", "2", "nothing", "9"])
def test_the_label_may_be_in_any_column(engine, tmp_path, target):
    require_same(engine, "a;1,5;2\nb;2,5;2\na;3;4\n", tmp_path / "table.csv", target)


def test_random_tables(engine, tmp_path):
    rng = np.random.default_rng(7)
    kinds = (
        lambda: str(rng.integers(-9, 99)),
        lambda: f"{rng.normal():.3g}",
        lambda: f"{rng.normal():.2f}".replace(".", ","),
        lambda: str(rng.choice(["red", "blue", "a b", 'q"q', "NA", "x;y"])),
        lambda: str(rng.choice(["true", "false"])),
        lambda: str(rng.choice(["a", "b", "c"])),
        lambda: str(rng.choice(["0", "1"])),
        lambda: str(rng.choice(["7,700", "950", "1.200", "3"])),
    )
    names = ("x", "label", "y", "class", "id", "", "a b", "2", "Target", "colour")
    read_alike = 0
    for _ in range(1500):
        width, height = int(rng.integers(2, 5)), int(rng.integers(2, 9))
        which = rng.integers(len(kinds), size=width)
        delimiter = str(rng.choice([",", ";", "\t", "|"]))
        rows = [[kinds[k]() for k in which] for _ in range(height)]
        if rng.random() < 0.6:
            rows.insert(0, [str(name) for name in rng.choice(names, width, replace=bool(rng.random() < 0.1))])
        if rng.random() < 0.05:
            rows[-1].pop()
        quote = {delimiter, '"', "\n"}
        lines = [
            delimiter.join('"' + cell.replace('"', '""') + '"' if quote & set(cell) else cell for cell in row)
            for row in rows
        ]
        read_alike += require_same(
            engine, "\n".join(lines) + "\n" * int(rng.integers(0, 2)), tmp_path / "table.csv"
        )
    assert read_alike > 500


def plain(sentence):
    """Return a sentence without the marks between thousands, and with plain minus signs."""
    return sentence and re.sub(r"(?<=\d),(?=\d)", "", sentence).replace("−", "-")


def test_columns_that_should_be_scaled(engine):
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(400):
        n, d = int(rng.integers(2, 30)), int(rng.integers(1, 5))
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.choice([0.0, 0.0, 50.0, 1e4], d)
        X[:, rng.random(d) < 0.2] *= rng.random((n, 1)) < 0.05
        names = [f"c{j}" for j in range(d)]
        beta = float(rng.choice([0.0, 1.0, 2.5]))
        y = np.where(np.arange(n) % 2, 1, -1)
        theirs = columns_to_scale(replace(as_rows(X), names=tuple(names)), beta)
        ours = engine.ask(do="scale", X=X.tolist(), y=y.tolist(), names=names, beta=beta)["told"]
        assert plain(ours) == plain(theirs)
        told += ours is not None
    assert told > 50
