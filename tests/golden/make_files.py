"""Write golden files by the command line: models and what they say, records, proofs; kept, and never written over.

Run as ``python -m tests.golden.make_files`` from the root. What is there already stays as it is: later versions
must read it and say the same.
"""

from __future__ import annotations

import io
import json
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rosenblatt as rb
from rosenblatt.cli.main import main as command
from tests.golden.tables import tables
from tests.golden.trained.make import options_of

FOLDER = Path(__file__).parent / "files"


class Case(NamedTuple):
    """How a model is trained, and what it is asked.

    Attributes
    ----------
    train, new : str
        The file it learns from, and the one it predicts.
    options : str
        Of training, between blanks.
    exact : bool
        Whether its scores are sums of our own, to the bit, and not of a library's.
    labelled : bool
        Whether the new file has labels, to be evaluated by.
    """

    train: str
    new: str
    options: str = ""
    exact: bool = True
    labelled: bool = True

    @property
    def linear(self) -> bool:
        """Whether the model is hyperplanes among the features of the file, whose weights have names."""
        return not any(f"--learner {name}" in self.options for name in NOT_LINEAR)


NOT_LINEAR = ("kernel", "voted", "network", "extreme", "mark-one")

CASES = {
    "text-vocabulary": Case("mail.csv", "mail-new.csv", "--text message --weighting count --bits 8 --vocabulary"),
    "text-ngrams": Case(
        "mail.csv", "mail-new.csv", "--text message --weighting count --ngrams 2 --bits 8 --ignore length"
    ),
    "text-scaled": Case(
        "mail.csv", "mail-new.csv", "--text message --weighting count --bits 6 --scale --learner perceptron"
    ),
    "categories": Case("things.csv", "things-new.csv", "--target kind --max-iter 20"),
    "categories-tsv-gz": Case("things.tsv.gz", "things-new.csv", "--learner perceptron --max-iter 20 --seed 3"),
    "missing-scaled": Case("gaps.csv", "gaps-new.csv", "--missing mean --scale --max-iter 20"),
    "missing-zero": Case("gaps.csv", "gaps-new.csv", "--missing zero --learner perceptron --max-iter 9"),
    "missing-scaled-kernel": Case(
        "gaps.csv",
        "gaps-new.csv",
        "--missing mean --scale --learner kernel --kernel polynomial(degree=2,c=1) --max-iter 6",
    ),
    "missing-scaled-rbf": Case(
        "gaps.csv",
        "gaps-new.csv",
        "--missing mean --scale --learner kernel --kernel rbf(gamma=0.5) --budget 20",
        exact=False,
    ),
    "missing-scaled-voted": Case(
        "gaps.csv", "gaps-new.csv", "--missing mean --scale --learner voted --max-iter 4"
    ),
    "missing-scaled-network": Case(
        "gaps.csv",
        "gaps-new.csv",
        "--missing mean --scale --learner network --set hidden_layer_sizes=[3] --max-iter 30",
        exact=False,
    ),
    "svmlight-one-based": Case("counts.svm", "counts-new.svm", "--one-based --max-iter 8"),
    "svmlight-zero-based": Case("counts0.svm", "counts0-new.svm", "--learner perceptron --max-iter 8"),
    "hashed": Case("events.csv", "events-new.csv", "--hashed user --bits 6 --max-iter 8"),
    "headerless": Case(
        "bare.csv", "bare-new.csv", "--no-header --target 1 --text 4 --weighting count --bits 6 --categorical 3,5"
    ),
    "classes-ovr": Case("points.csv", "points-new.csv", "--learner perceptron --multiclass ovr --max-iter 9"),
    "classes-ovo": Case("points.csv", "points-new.csv", "--multiclass ovo --order cyclic --max-iter 9"),
    "classes-direct": Case("points.csv", "points-new.csv", "--bias radius --margin 1 --scale --max-iter 9"),
    "mixed-pocket": Case("things.csv", "things-new.csv", "--learner pocket --max-iter 6"),
    "mixed-lifted": Case("things.csv", "things-new.csv", "--learner lifted --features colour,weight,count"),
    "mixed-soft-margin": Case(
        "things.csv", "things-new.csv", "--learner soft-margin --set alpha=0.01 --scale", exact=False
    ),
    "mixed-extreme": Case("things.csv", "things-new.csv", "--learner extreme --set n_hidden=7", exact=False),
    "max-margin": Case("pixels.npz", "pixels-new.npz", "--learner max-margin", exact=False),
    "mark-one": Case(
        "pixels.npy", "pixels-new.npy", "--learner mark-one --set n_association=40 --set retina=[4,4] --max-iter 5"
    ),
    "json-lines": Case(
        "visits.jsonl",
        "visits-new.jsonl",
        "--text note --weighting count --bits 6 --missing mean --max-iter 10 --vocabulary",
    ),
    "parquet": Case("trips.parquet", "trips-new.parquet", "--missing mean --scale --max-iter 10"),
    "arrow": Case("trips.arrow", "trips-new.arrow", "--missing zero --target y --early-stopping --max-iter 10"),
    "sparse-npz": Case("sparse.npz", "sparse-new.npz", "--max-iter 10 --class-weight balanced", labelled=False),
    "text-centred": Case(
        "mail.csv", "mail-new.csv", "--text message --weighting count --bits 6 --scale --max-iter 20"
    ),
    "mixed-centred": Case("levels.csv", "levels-new.csv", "--na unknown --missing mean --scale --max-iter 20"),
    "mixed-centred-kernel": Case(
        "levels.csv",
        "levels-new.csv",
        "--na unknown --missing mean --scale --learner kernel --kernel polynomial(degree=2,c=1) --max-iter 6",
    ),
}

MODEL, PREDICTED, EVALUATED, WEIGHTS = "{}.model", "{}.predicted.tsv", "{}.evaluated.json", "{}.weights.json"


class Proof(NamedTuple):
    """What is decided with a proof, and the same data as a table that needs nothing but Python to be read."""

    data: str
    table: str
    options: str
    code: int


PROOFS = {
    "xor": Proof("@xor", "xor.csv", "", 1),
    "and": Proof("@and", "and.csv", "", 0),
    "and-margin": Proof("@and", "and.csv", "--margin", 0),
    "and-no-bias": Proof("@and", "and.csv", "--no-bias", 1),
    "three-digits": Proof("digits.csv", "digits.csv", "--target digit", 0),
    "tied": Proof("tied.csv", "tied.csv", "", 1),
    "overlap": Proof("overlap.csv", "overlap.csv", "--margin", 1),
}

PROOF = "{}.proof.json"

TRACES = {
    "six-points": "@six-points",
    "six-points-radius": "@six-points --start 0,0 --eta0 1 --bias radius --first 1",
    "points": "points.csv --shuffle --seed 5 --max-iter 4",
}

RECORDS: dict[str, dict[str, Any]] = {
    "direct-averaged": {"average": True, "bias": "radius"},
    "ovo-margin": {"multiclass": "ovo", "margin": 0.5, "order": "cyclic"},
    "ovr-l1": {"multiclass": "ovr", "penalty": "l1", "alpha": 0.01},
    "elasticnet": {"penalty": "elasticnet", "alpha": 0.001, "init": "random", "tie": "half"},
}
"""Parameters of runs in Python whose records are saved."""

RECORD = "{}.trace.{}"
REPLAYED = "replayed.json"
"""The weights that each record in NPZ leads to, their digits in hexadecimal."""


def said(*arguments: Any) -> tuple[int, bytes]:
    """Run a command in the folder of golden files; return its exit code and what it printed."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", newline="")
    with chdir(FOLDER), redirect_stdout(out), redirect_stderr(io.StringIO()) as err:
        code = command([str(each) for each in arguments])
        out.flush()
    assert code in (0, 1), err.getvalue()
    return code, raw.getvalue()


def done(*arguments: Any) -> bytes:
    """Run a command that must succeed; return what it printed."""
    code, printed = said(*arguments)
    assert code == 0, printed
    return printed


def train(name: str, model: Any) -> None:
    """Train the model of a case anew."""
    case = CASES[name]
    done("train", case.train, "-o", model, *options_of(case.options.split()), "--quiet")


def weights_of(model: Any) -> list[list[Any]]:
    """Return the largest weights of a model and the names of their features."""
    told = json.loads(done("inspect", model, "--weights", 12, "--json"))["weights"]
    return [[each["of"], each["feature"], each["weight"]] for each in told]


def recorded(name: str) -> tuple[rb.Trace, Any, Any]:
    """Return the record of a run in Python, and its data."""
    rows = np.loadtxt(FOLDER / "points.csv", delimiter=",", skiprows=1)
    X, y = rows[:, :3], rows[:, 3].astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rb.Perceptron(max_iter=4, **RECORDS[name]).fit(X, y).trace_, X, y


def hexadecimal(values: Any) -> list[str]:
    """Return floats by their digits, which are exact."""
    return [float(value).hex() for value in np.ravel(values)]


def as_text(value: Any) -> bytes:
    """Return JSON as it is stored."""
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()


class Writer:
    """Writes files that are not there yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def lacks(self, name: str) -> bool:
        """Whether a file is yet to be written."""
        return not (self.folder / name).exists()

    def write(self, name: str, content: bytes) -> None:
        """Write a file unless it is there."""
        if self.lacks(name):
            (self.folder / name).write_bytes(content)


def _write_models(to: Writer) -> None:
    for name, case in CASES.items():
        model = MODEL.format(name)
        if to.lacks(model):
            train(name, model)
        if to.lacks(PREDICTED.format(name)):
            to.write(PREDICTED.format(name), done("predict", model, case.new, "--scores"))
        if case.labelled and to.lacks(EVALUATED.format(name)):
            to.write(EVALUATED.format(name), done("evaluate", model, case.new, "--json"))
        if case.linear and to.lacks(WEIGHTS.format(name)):
            to.write(WEIGHTS.format(name), as_text(weights_of(model)))


def _write_proofs(to: Writer) -> None:
    for name, (data, _, options, code) in PROOFS.items():
        if to.lacks(PROOF.format(name)):
            assert said("certify", data, *options.split(), "-o", PROOF.format(name))[0] == code


def _write_records(to: Writer) -> None:
    for name, arguments in TRACES.items():
        for ending in ("npz", "csv"):
            if to.lacks(path := RECORD.format(name, ending)):
                to.write(f"{name}.trace.txt", done("trace", *arguments.split(), "-o", path))
    replayed = {}
    for name in RECORDS:
        trace, X, y = recorded(name)
        for ending in ("npz", "csv"):
            if to.lacks(path := RECORD.format(name, ending)):
                trace.save(to.folder / path)
        model = rb.Trace.load(to.folder / RECORD.format(name, "npz")).replay(X, y)
        replayed[name] = [hexadecimal(model.coef), hexadecimal(model.intercept)]
    for name, arguments in TRACES.items():
        told = json.loads(done("trace", *arguments.split(), "--json"))
        replayed[name] = [hexadecimal(told["coef"]), hexadecimal(told["intercept"])]
    to.write(REPLAYED, as_text(replayed))


def main() -> None:
    """Write what is not there yet."""
    to = Writer(FOLDER)
    for name, content in tables().items():
        to.write(name, content)
    _write_models(to)
    _write_proofs(to)
    _write_records(to)


if __name__ == "__main__":
    main()
