"""Twenty real tables, each with the first command that one would type: ``python -m benchmarks.first_commands``.

For each table and each of five splits (a fifth is held out, stratified) three models are trained: by the command
line as typed, by `rosenblatt.train` of the frame that pandas reads, and by scikit-learn's linear models with the
preparation of its documentation. Rows and columns are the same for all, but for a first column without a name,
which counts rows: the file has it, the frames do not. Rows without a label stay in the files; scikit-learn's
models do not get them, and all are measured on the others.

Tables come from packages of the group ``bench`` and from the folder of ``--data``. What cannot be found is named,
and left out. ``--page`` writes the page from ``first_commands.json``, to which each run adds.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import subprocess
import sys
import tarfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

SPLITS = 5
HELD_OUT = 0.2
MOST_CATEGORIES = 1000
"""Distinct texts up to which scikit-learn gets a column one-hot, as the command does."""

TEXT_LENGTH = 25
"""The mean length from which scikit-learn gets a column as TF-IDF."""

RESULTS = Path(__file__).with_name("first_commands.json")
PAGE = Path(__file__).parents[1] / "docs" / "look_up" / "twenty_tables.md"
MARKS = "<!-- made by benchmarks/first_commands.py -->", "<!-- end -->"
TARGET = 0.3  # points of the mean gap
REASON_FROM = 1.0  # points behind scikit-learn's model from which a table needs its reason

REASONS = {
    "sonar": "The penalty of logistic regression, on 208 rows: over 40 splits it gains 0.9 ± 0.6 points with C=1 "
    "and 1.7 ± 0.6 with C=0.1, and loses 1.1 ± 0.9 with C=100. PA-I has no penalty; `--learner averaged` gains "
    "0.9 ± 0.5.",
}
"""What is known of a table that is more than a point behind."""


class Table(NamedTuple):
    """A table: its name, the column to predict, what is in it, and how to get its text as CSV."""

    name: str
    target: str
    what: str
    content: Callable[[Path | None], str]


class MissingTableError(Exception):
    """A table whose package or file is not there."""


def _package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        raise MissingTableError(f"the package {name} is not installed")
    return Path(found.origin).parent


def _inside(package: str, path: str) -> Callable[[Path | None], str]:
    """Return how to read a CSV file of a package, as it is."""
    return lambda data: (_package(package) / path).read_text(encoding="utf-8")


def _tabs_of(package: str, path: str) -> Callable[[Path | None], str]:
    """Return how to read a file of a package whose columns are apart by tabs, as CSV."""
    return lambda data: str(pd.read_csv(_package(package) / path, sep="\t", quotechar="'").to_csv(index=False))


def _json_of(package: str, path: str) -> Callable[[Path | None], str]:
    """Return how to read a JSON list of a package, as CSV."""
    return lambda data: str(pd.read_json(_package(package) / path).to_csv(index=False))


def of_r(name: str) -> Callable[[Path | None], str]:
    """Return how to read a table of R from the archive of pydataset, as it is."""

    def read(data: Path | None) -> str:
        with tarfile.open(_package("pydataset") / "resources.tar.gz") as archive:
            for member in archive:
                if member.name.endswith(f"/{name}.csv") and (file := archive.extractfile(member)) is not None:
                    return file.read().decode("utf-8")
        raise MissingTableError(f"pydataset has no {name}")

    return read


def _bundled(name: str) -> Callable[[Path | None], str]:
    """Return how to read a set of scikit-learn, with names for its classes."""

    def read(data: Path | None) -> str:
        import sklearn.datasets

        found = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
        frame = found.frame.copy()
        frame["target"] = [str(found.target_names[code]) for code in found.target]
        return str(frame.to_csv(index=False))

    return read


def _given(name: str, names: list[str] | None = None, **how: Any) -> Callable[[Path | None], str]:
    """Return how to read a file of the folder of data, as CSV with a header."""

    def read(data: Path | None) -> str:
        if data is None or not (data / name).is_file():
            raise MissingTableError(f"{name} is not in the folder of --data")
        frame = pd.read_csv(data / name, header=None, **how)
        frame.columns = names or [*(f"x{j}" for j in range(frame.shape[1] - 1)), "label"]
        return str(frame.to_csv(index=False))

    return read


TABLES = [
    Table("penguins", "species", "numbers with gaps, categories", _inside("palmerpenguins", "data/penguins.csv")),
    Table("cars", "Origin", "numbers with gaps, names, dates", _json_of("vega_datasets", "_data/cars.json")),
    Table("weather", "weather", "numbers, dates", _inside("vega_datasets", "_data/seattle-weather.csv")),
    Table("anes96", "vote", "numbers", _tabs_of("statsmodels", "datasets/anes96/anes96.csv")),
    Table("breast_cancer", "target", "30 numbers", _bundled("breast_cancer")),
    Table("wine", "target", "13 numbers, three classes", _bundled("wine")),
    Table("digits", "target", "64 numbers, ten classes", _bundled("digits")),
    Table("titanic", "survived", "categories, row numbers", of_r("titanic")),
    Table("Chile", "vote", "numbers with gaps, categories, four classes and gaps", of_r("Chile")),
    Table("biopsy", "class", "nine grades with gaps, an ID", of_r("biopsy")),
    Table("Aids2", "status", "categories, numbers, days", of_r("Aids2")),
    Table("Hdma", "deny", "numbers, yes and no", of_r("Hdma")),
    Table("turnout", "vote", "numbers, a category", of_r("turnout")),
    Table("Males", "union", "numbers, categories, an ID", of_r("Males")),
    Table("Participation", "lfp", "numbers, a category", of_r("Participation")),
    Table("bfi", "gender", "25 answers with gaps", of_r("bfi")),
    Table(
        "sms", "label", "text", _given("SMSSpamCollection", ["label", "text"], sep="\t", quoting=csv.QUOTE_NONE)
    ),
    Table("spambase", "label", "57 numbers", _given("spambase.data")),
    Table("sonar", "label", "60 numbers, 208 rows", _given("sonar.csv")),
    Table("banknote", "label", "four numbers", _given("banknote_authentication.csv")),
]


def command_of(table: Table) -> str:
    """Return the first command, as typed."""
    return f"rosenblatt train {table.name}.csv --target {table.target} -o {table.name}.model"


def measure(table: Table, content: str) -> dict[str, Any]:
    """Train and test on all splits; what fails says why, and has no accuracy."""
    whole = with_gaps(pd.read_csv(io.StringIO(content), dtype=str, keep_default_na=False), table.target)
    found: dict[str, Any] = {"rows": len(whole), "columns": whole.shape[1] - 1, "problem": None}
    scores: dict[str, list[float]] = {"command": [], "python": [], "LogisticRegression": [], "LinearSVC": []}
    seconds: dict[str, list[float]] = {name: [] for name in scores}
    for split in range(SPLITS):
        train, test = split_rows(whole, table.target, split)
        with TemporaryDirectory() as place:
            folder = Path(place)
            write_split(table, train, test, folder)
            for name, how in _contestants(table).items():
                if found["problem"] is not None and name == "command":
                    continue
                begin = time.perf_counter()
                try:
                    scores[name].append(how(folder))
                except subprocess.CalledProcessError as error:
                    found["problem"] = error.stderr.strip().splitlines()[-1]
                except Exception as error:  # a table that cannot be trained on is a result, which the page shows
                    found[f"{name} problem"] = f"{type(error).__name__}: {error}"[:300]
                seconds[name].append(time.perf_counter() - begin)
    found["accuracy"] = {name: mean(each) for name, each in scores.items() if len(each) == SPLITS}
    found["seconds"] = {name: min(each) for name, each in seconds.items() if each}
    return found


def with_gaps(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return a frame whose missing labels are empty: a word would be a class, and R has no other gap than NA."""
    return frame.assign(**{target: frame[target].replace("NA", "")})


def write_split(table: Table, train: pd.DataFrame, test: pd.DataFrame, folder: Path) -> None:
    """Write the rows to train on, and those held out, as files of a folder."""
    train.to_csv(folder / f"{table.name}.csv", index=False, header=_header(train))
    test.to_csv(folder / "held_out.csv", index=False, header=_header(test))


def _header(frame: pd.DataFrame) -> list[str]:
    """Return the names of columns as they are in the file; pandas has its own for one that has none."""
    return ["" if str(name).startswith("Unnamed") else str(name) for name in frame.columns]


def split_rows(frame: pd.DataFrame, target: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    from sklearn.model_selection import train_test_split

    few = frame[target].map(frame[target].value_counts()) < 2
    train, test = train_test_split(
        frame, test_size=HELD_OUT, random_state=seed, stratify=None if few.any() else frame[target]
    )
    return train, test


def _contestants(table: Table) -> dict[str, Callable[[Path], float]]:
    peers = {
        name: (lambda folder, name=name: by_scikit_learn(table, folder, name))
        for name in ("LogisticRegression", "LinearSVC")
    }
    return {
        "command": lambda folder: _typed(table, folder),
        "python": lambda folder: _called(table, folder),
        **peers,
    }


def _typed(table: Table, folder: Path) -> float:
    """Run the command as typed, in a process of its own, and evaluate its model on the rows held out."""
    command = [sys.executable, "-m", *command_of(table).split()]
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    from rosenblatt.cli.main import main

    said = io.StringIO()
    model, rows = str(folder / f"{table.name}.model"), str(folder / "held_out.csv")
    with contextlib.redirect_stdout(said):
        code = main(["evaluate", model, rows, "--json", "--quiet"])
    if code:
        raise RuntimeError(f"evaluate ended with {code}")
    return float(json.loads(said.getvalue())["accuracy"])


def as_frames(table: Table, folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    train, test = (pd.read_csv(folder / name) for name in (f"{table.name}.csv", "held_out.csv"))
    counted = [name for name in train.columns if str(name).startswith("Unnamed")]
    return train.drop(columns=counted), test.drop(columns=counted)


def _called(table: Table, folder: Path) -> float:
    import rosenblatt as rb

    train, test = as_frames(table, folder)
    model = rb.train(train, target=table.target).model
    test = test.dropna(subset=table.target)
    predicted = model.predict(test.drop(columns=table.target))
    return float(np.mean(predicted.astype(str) == test[table.target].to_numpy().astype(str)))


def _with_days(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with days in place of dates, and with their months and weekdays as columns of text."""
    made = frame.copy()
    for name in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[name]):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas says that it guesses the form of each value
            days = pd.to_datetime(frame[name], errors="coerce")
        if days.isna().sum() > frame[name].isna().sum():
            continue
        made[name] = (days - pd.Timestamp(0)) / pd.Timedelta(days=1)
        made[f"{name} month"], made[f"{name} weekday"] = days.dt.month_name(), days.dt.day_name()
    return made


def by_scikit_learn(table: Table, folder: Path, name: str) -> float:
    """Train a linear model of scikit-learn with imputation, indicators, dates, one-hot columns and TF-IDF."""
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import LinearSVC

    train, test = (_with_days(each.dropna(subset=table.target)) for each in as_frames(table, folder))
    X, y = train.drop(columns=table.target), train[table.target].astype(str)
    numbers = [each for each in X.columns if pd.api.types.is_numeric_dtype(X[each])]
    others = [each for each in X.columns if each not in numbers]
    texts = [each for each in others if X[each].dropna().str.len().mean() >= TEXT_LENGTH]
    few = [each for each in others if each not in texts and X[each].nunique() <= MOST_CATEGORIES]
    steps: list[Any] = [
        (
            "numbers",
            make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()),
            numbers,
        ),
        ("categories", OneHotEncoder(handle_unknown="ignore"), few),
        *((f"text {each}", TfidfVectorizer(), each) for each in texts),
    ]
    model = LogisticRegression(max_iter=1000) if name == "LogisticRegression" else LinearSVC()
    pipeline = make_pipeline(ColumnTransformer(steps), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(X, y)
        return float(pipeline.score(test.drop(columns=table.target), test[table.target].astype(str)))


def peer(found: dict[str, Any]) -> tuple[str, float]:
    """Return the better of scikit-learn's models on the rows held out, and its accuracy."""
    return max(
        (
            (name, found["accuracy"][name])
            for name in ("LogisticRegression", "LinearSVC")
            if name in found["accuracy"]
        ),
        key=lambda each: each[1],
    )


def page(results: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        "| table | rows × columns | in it | command line | Python | scikit-learn | gap | s, command | s, Python "
        "| s, peer |"
    )
    yield "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|"
    gaps, below = [], []
    for table in TABLES:
        if table.name not in results:
            continue
        found = results[table.name]
        name, best = peer(found)
        ours, python = (found["accuracy"].get(each) for each in ("command", "python"))
        gap = None if ours is None else 100 * (best - ours)
        shown = [f"{100 * each:.1f}" if each is not None else "fails" for each in (ours, python)]
        seconds = [f"{found['seconds'].get(each, 0.0):.2f}" for each in ("command", "python", name)]
        size = f"{found['rows']:,} × {found['columns']}"
        theirs = f"{100 * best:.1f} ({'LR' if name == 'LogisticRegression' else 'SVC'})"
        yield (
            f"| {table.name} | {size} | {table.what} | {shown[0]} | {shown[1]} | {theirs} | "
            + " | ".join(["" if gap is None else f"{gap:+.1f}", *seconds])
            + " |"
        )
        if gap is not None:
            gaps.append(gap)
        if gap is None or gap > REASON_FROM:
            below.append(
                (table, found["problem"] if gap is None else REASONS.get(table.name, "not looked into yet"))
            )
    yield ""
    judged = "within" if mean(gaps) <= TARGET else "which misses"
    yield (
        f"Mean gap of the {len(gaps)} tables that the command trains on: {mean(gaps):+.2f} points, {judged} the "
        f"target of {TARGET}."
    )
    least = sorted(gaps)[2:]
    yield f"Without the two tables on which the command is furthest ahead it is {mean(least):+.2f}."
    if below:
        yield ""
        yield "| table | first command | behind by more than a point, or fails |"
        yield "|---|---|---|"
        for table, reason in below:
            yield f"| {table.name} | `{command_of(table)}` | {reason} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Twenty real tables, by the first command that one would type.")
    parser.add_argument("names", nargs="*", help="tables; by default all")
    parser.add_argument("--data", type=Path, help="a folder with the files that no package has")
    parser.add_argument("--page", action="store_true", help="write the page of the documentation, after measuring")
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for table in TABLES:
        if given.names and table.name not in given.names:
            continue
        try:
            content = table.content(given.data)
        except MissingTableError as missing:
            print(f"{table.name}: left out, {missing}")
            continue
        found = measure(table, content)
        results[table.name] = found
        ours, python = (found["accuracy"].get(each, float("nan")) for each in ("command", "python"))
        name, best = peer(found)
        print(
            f"{table.name:14} {ours:.4f} {python:.4f} {best:.4f} {name:18} gap {100 * (best - ours):+.2f}",
            flush=True,
        )
        for each in ("problem", "python problem"):
            if found.get(each):
                print(f"    {each}: {found[each]}", flush=True)
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    if given.page:
        before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        made = "\n".join(page(results))
        PAGE.write_text(f"{before}{MARKS[0]}\n{made}\n{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
