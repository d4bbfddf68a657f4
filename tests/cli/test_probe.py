"""`rosenblatt probe`: a table, a page and a model from a file of embeddings and a file of labels."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import main
from rosenblatt.probes import devices, gpu
from rosenblatt.reports.probes_page import render_probes

X = np.random.default_rng(0).standard_normal((90, 4)).astype(np.float32)
SIDES = np.where(X[:, 0] > 0, 1, -1)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("y.npy", X[:, 1:])
    lines = [f"{'' if i < 9 else SIDES[i]},{'abc'[i % 3]},{int(X[i, 1] > 0)}" for i in range(90)]
    (tmp_path / "labels.csv").write_text("side,letter,bit\n" + "\n".join(lines) + "\n")


def labels():
    side = SIDES.copy()
    side[:9] = 0
    letters = np.array(list("abc"))[np.arange(90) % 3]
    return {"side": side, "letter": letters, "bit": np.where(X[:, 1] > 0, "1", "0")}


def test_the_files_are_those_of_python(capsys):
    command = "probe x.npy labels.csv -o t.csv --report t.html --model t.model --json --quiet"
    assert main(command.split()) == 0
    expected = rb.Probes(controls=1).fit(X, labels())
    assert json.loads(capsys.readouterr().out) == expected.table().to_dicts()
    assert Path("t.csv").read_text() == expected.table().to_csv()
    assert rb.load("t.model").coef_.tobytes() == expected.coef_.tobytes()
    page = Path("t.html").read_text(encoding="utf-8")
    assert all(f'<td class="t">{name}</td>' in page for name in ("side", "letter=a", "bit"))
    assert "<svg" in page
    assert "http" not in page.replace("http-equiv", "")
    assert [row["rows"] for row in csv.DictReader(Path("t.csv").read_text().splitlines())] == [
        "81",
        "90",
        "90",
        "90",
        "90",
    ]


def test_layers_and_shards(capsys):
    assert (
        main(["probe", "x.npy", "y.npy", "labels.csv", "--layers", "--no-verdict", "--report", "l.html", "-q"])
        == 0
    )
    assert str(rb.Probes(controls=1, decide=False).fit_layers({"x": X, "y": X[:, 1:]}, labels())) in (
        capsys.readouterr().out
    )
    np.save("a.npy", X[:40])
    np.save("b.npy", X[40:])
    assert main(["probe", "a.npy", "b.npy", "labels.csv", "-q"]) == 0
    assert "letter=c" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        ("probe x.npy labels.csv", "a,b\n1\n", "labels.csv:2: has 1 fields, but the first line has 2"),
        ("probe x.npy labels.csv", "a,a\n1,2\n", "two columns 'a'"),
        (
            "probe x.npy labels.csv",
            "a\n1\n0\n",
            "labels.csv:3: column 'a' has 2 labels, but there are 90 rows of the embeddings.",
        ),
        ("probe x.npy labels.csv", "a,b\n", "labels.csv:1: column 'a' has 0 labels, but there are 90 rows"),
        (
            "probe x.npy labels.csv",
            "a\n" + "1\n0\n" * 46,
            "labels.csv:92: column 'a' has 92 labels, but there are 90",
        ),
        (
            "probe x.npy labels.csv",
            '"a\nb",c\n1,"2\n3"\n4\n',
            "labels.csv:5: has 1 fields, but the first line has 2",
        ),
        (
            "probe x.npy labels.csv",
            "a,b\n" + "1,0\n0,0\n" * 45,
            "labels.csv:1: column 'b' has rows of one side only",
        ),
        ("probe x.npy labels.csv", "a,b\n" + "1,\n0,\n" * 45, "labels.csv:1: column 'b' has no label at all"),
        (
            "probe x.npy labels.csv --layers",
            "a=b,a\n" + "0,a\n1,b\n1,c\n" * 30,
            "labels.csv:1: the file has two problems with the name 'a=b'. Rename a column.",
        ),
        ("probe x.npy labels.csv", "", "labels.csv:1: the file has no column"),
        ("probe x.npy y.npy labels.csv", None, "3 and 4 columns"),
        ("probe x.npy labels.csv --layers --model m", None, "Drop --layers"),
        ("probe labels.csv x.npy", None, "is no text in UTF-8"),
    ],
)
def test_what_cannot_be_probed(command, text, told, capsys):
    if text is not None:
        Path("labels.csv").write_text(text)
    assert main(command.split()) == 2
    assert told in capsys.readouterr().err


def test_a_missing_gpu_is_told_in_options(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    gpu._cupy.cache_clear()
    monkeypatch.setattr(devices, "_told", set())
    assert main(["probe", "x.npy", "labels.csv", "--device", "cuda"]) == 2
    told = "Install it with its parts of CUDA: pip install 'cupy-cuda13x[ctk]', or "
    told += "'cupy-cuda12x[ctk]' for an older driver. Or use --device cpu."
    assert told in capsys.readouterr().err
    assert main(["probe", "x.npy", "labels.csv", "--device", "auto", "--no-verdict"]) == 0
    assert told + " Meanwhile the CPU is used." in capsys.readouterr().err


def test_few_rows_have_a_note(capsys):
    np.save("wide.npy", np.random.default_rng(1).standard_normal((90, 44)))
    assert main(["probe", "wide.npy", "labels.csv", "--report", "t.html", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "note: 5 of 5 probes have at most twice as many rows as weights." in shown
    assert "5 of 5 probes have at most twice as many rows" in Path("t.html").read_text(encoding="utf-8")
    assert main(["probe", "x.npy", "labels.csv", "--report", "t.html", "--quiet"]) == 0
    assert "twice as many" not in capsys.readouterr().out + Path("t.html").read_text(encoding="utf-8")


def test_names_are_escaped():
    page = render_probes(rb.Probes().fit(X, {"<script>": SIDES, "$\\frac": X[:, 1] > 0}))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
