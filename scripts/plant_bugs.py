"""``python scripts/plant_bugs.py``: plant bugs one by one, and see which test of ``make test`` catches each.

Fast tests are worth little if they let bugs through. Each bug of `BUGS` is planted in a copy of the tree, where
the tests of `make test` run until one fails: first the module's doctests and the tests named after it, then those
of its room, then all. A bug that none of them catches is listed as NOT CAUGHT, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/rosenblatt")
TESTED_IN = {
    "escaping": ["tests/cli/test_hostile_text.py"],
    "codecs": ["tests/models"],
    "tables/monomials.py": ["tests/estimators/test_monomial_map.py"],
}
"""The tests of rooms that have no folder of tests, and of modules that have no file of tests."""


class Bug(NamedTuple):
    """A change to one file of the package that no test may let through."""

    file: str
    """Below ``src/rosenblatt``."""
    old: str
    """Text that occurs once in the file."""
    new: str
    says: str
    """What is wrong then."""

    @property
    def path(self) -> Path:
        """The file, from the root."""
        return PACKAGE / self.file

    @property
    def room(self) -> str:
        """The folder of the package, or the module where it is in none."""
        return Path(self.file).parts[0].removesuffix(".py")

    def planted(self, text: str) -> str:
        """Return the text of the file with the bug."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: {self.old!r} occurs {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)

    def selections(self, root: Path, *, rooms: bool) -> Iterator[list[str]]:
        """Yield paths of tests, the likeliest to fail first."""
        name = Path(self.file).stem.lstrip("_")
        usual = [f"tests/{self.room}", f"tests/test_{self.room}.py"]
        tests = TESTED_IN.get(self.file) or TESTED_IN.get(self.room, usual)
        found = [each for each in tests if (root / each).exists()]
        near = sorted((root / "tests").rglob(f"test_{name}*.py"))
        doctests = [str(self.path)] if self.file.endswith(".py") else []
        first = [*doctests, *(str(path.relative_to(root)) for path in near)]
        if first:
            yield first
        if found:
            yield found
        if not rooms:
            yield []


BUGS = [
    Bug(
        "probes/cpu.py",
        "add(X, rows[q - 1], c, c * (t0 + at_visit[q - 1]), w, u, at)",
        "add(X, rows[q - 1], c, c * (t0 + q - 1), w, u, at)",
        "averages of problems with rows left out count visits wrongly",
    ),
    Bug(
        "tables/scaling.py",
        "(1 + self.n_rows) / (1 + count)",
        "(1 + self.n_rows) / max(count, 1)",
        "words that all rows have get less weight than they should",
    ),
    Bug(
        "estimators/table_encoder.py",
        "        self._fit(X, before, weigh=False)",
        "        self._fit(X, before)",
        "partial_fit changes the weights of words that a model was trained with",
    ),
    Bug(
        "tables/roles.py",
        "2 * len({*values}) <= len(values)",
        "False",
        "a sentence that many rows repeat is taken as text",
    ),
    Bug(
        "presets.py",
        '{"eta0": 0.2, "tie": "sign", "zero": 1}',
        '{"eta0": 0.2, "tie": "sign", "zero": -1, "bias": "radius"}',
        "the worked example of Koski moves the bias by R²",
    ),
    Bug(
        "exercises.py",
        "state = _plus(state, eta * labels[i], [*rows[i], gain])",
        "state = _plus(state, eta * labels[i], [*rows[i], F(1)])",
        "runs of exercises have a bias where the lecture has none, or has R²",
    ),
    Bug(
        "atomic.py",
        "elif HAS_OWNERS and found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):",
        "elif HAS_OWNERS and found.st_mode & stat.S_IWOTH:",
        "a private file that the group may write to is trusted",
    ),
    Bug(
        "learning/state.py",
        "u = None if u is None else scaling.fold(u)",
        "u = state.u",
        "the sum behind an average is not brought back to unscaled features",
    ),
    Bug(
        "tables/cache.py",
        "            if failure is not None:\n                raise failure\n",
        "",
        "an error of the reading thread is lost, and the data looks shorter",
    ),
    Bug(
        "calibration.py",
        "1.0 / (n_minus + 2.0))\n",
        "0.0)\n",
        "Platt's target for the negative class is 0, so that separated scores get endless slopes",
    ),
    Bug(
        "certify/rigorous.py",
        "lost = bound_sum(m + 2) * bound_norm(",
        "lost = 0.0 * bound_norm(",
        "a weighted sum that rounds to 0 counts as 0",
    ),
    Bug(
        "certify/margin.py",
        "return root_above(self.squared[1])",
        "return root_below(self.squared[1])",
        "the upper bound on the margin is rounded down",
    ),
    Bug(
        "certify/margin.py",
        "return square + self.b**2 / self.padding if",
        "return square + self.b**2 * self.padding if",
        "the bias is weighed by the padding, not by its inverse",
    ),
    Bug(
        "cli/token.py",
        ".read_grants(scopes), None if forever else days)",
        ".read_grants(scopes), days)",
        "--forever is ignored",
    ),
    Bug(
        "server/caller.py",
        "json.dumps(value, allow_nan=False,",
        "json.dumps(value,",
        "the client sends NaN to the server",
    ),
    Bug(
        "tables/scaling.py",
        "folded[..., -1] = weights[..., -1] - (folded",
        "folded[..., -1] = weights[..., -1] + (folded",
        "the bias for unscaled features has the means with the wrong sign",
    ),
    Bug(
        "threads.py",
        "yield -(-int(quota) // int(period))",
        "yield int(quota) // int(period)",
        "a limit of half a core is a limit of none",
    ),
    Bug(
        "rows/batch.py",
        "if not 0.0 <= weight < np.inf:",
        "if not weight < np.inf:",
        "a negative weight of one example is taken",
    ),
    Bug(
        "datasets.py",
        "= sign * margin * w\n",
        "= sign * 2 * margin * w\n",
        "made data has a larger margin than it says",
    ),
    Bug(
        "distributed/mixing.py",
        "own.u = own.u * (n_rows / n_all)",
        "own.u = own.u * (n_all / n_rows)",
        "a partition starts with the wrong share of the sum behind the average",
    ),
    Bug(
        "distributed/mixing.py",
        "full = 0 < rooms[worker].memory < 2 * memory",
        "full = 0 < rooms[worker].memory < memory",
        "a worker counts as full at all of its memory, not at half",
    ),
    Bug(
        "escaping.py",
        '_UNSAFE = "\\x7f-\\x9f\\u061c',
        '_UNSAFE = "\\x7f\\u061c',
        "control characters beyond ASCII reach the terminal",
    ),
    Bug(
        "estimators/monomial_map.py",
        "room = 8 * monomials.n_columns",
        "room = monomials.n_columns",
        "columns are counted where bytes are limited",
    ),
    Bug(
        "evaluation.py",
        "return _shares(2 * self._right, self.predicted + self.support)",
        "return _shares(self._right, self.predicted + self.support)",
        "F1 is half of what it is",
    ),
    Bug(
        "tables/svmlight_plain.py",
        "base = 0 if zero_based else 1",
        "base = 1 if zero_based else 0",
        "columns are written from 0 where they count from 1",
    ),
    Bug(
        "geometry.py",
        "projected: Floats = X - np.multiply.outer",
        "projected: Floats = X + np.multiply.outer",
        "points are projected away from the hyperplane",
    ),
    Bug(
        "cli/check.py",
        "return DONE if found else NO",
        "return DONE",
        "a proof that fails its check counts as checked",
    ),
    Bug(
        "kernels/values.py",
        "values *= -float(self.gamma)",
        "values *= float(self.gamma)",
        "the Laplacian kernel grows with the distance",
    ),
    Bug(
        "lab/widget.js",
        '"allow-scripts allow-downloads"',
        '"allow-scripts allow-downloads allow-same-origin"',
        "the page in a widget has access to the notebook",
    ),
    Bug(
        "learning/stream.py",
        "classes[at[0] :] += 1",
        "classes[at[0] + 1 :] += 1",
        "a new class counts only from its second example on",
    ),
    Bug(
        "loops/order.py",
        "dtype=np.uint64), -first)",
        "dtype=np.uint64), first)",
        "a cyclic order begins at another row than asked for",
    ),
    Bug(
        "locking.py",
        "fcntl.LOCK_EX | fcntl.LOCK_NB",
        "fcntl.LOCK_SH | fcntl.LOCK_NB",
        "two runs hold the same lock",
    ),
    Bug(
        "loops/order.py",
        "for left in range(order.size, 1, -1):",
        "for left in range(order.size, 2, -1):",
        "the first two rows are never exchanged",
    ),
    Bug(
        "networks/backpropagation.py",
        "rate = rule.eta * math.sqrt(1.0 - rule.beta_2**t)",
        "rate = rule.eta * (1.0 - rule.beta_2**t)",
        "Adam corrects its second moment without the root",
    ),
    Bug(
        "tables/monomials.py",
        "self.degrees = range(degree + 1) if c else",
        "self.degrees = range(1, degree + 1) if c else",
        "the constant monomial is missing",
    ),
    Bug(
        "margins/widest.py",
        "return 0.5 * (plus - minus), -0.5 * (plus + minus)",
        "return 0.5 * (plus - minus), 0.5 * (plus + minus)",
        "the best bias has the wrong sign",
    ),
    Bug(
        "learning/linear.py",
        "for c, side in zip(pair, (-1.0, 1.0), strict=True):",
        "for c, side in zip(pair, (1.0, -1.0), strict=True):",
        "one against one, each machine learns the two classes exchanged",
    ),
    Bug(
        "plot/certificate.py",
        "groups = [(X[side > 0], style.POSITIVE), (X[side < 0], style.NEGATIVE)]",
        "groups = [(X[side > 0], style.NEGATIVE), (X[side < 0], style.POSITIVE)]",
        "each hull has the colour of the other class",
    ),
    Bug(
        "evaluation.py",
        "np.sum(np.diff(f) * (t[1:] + t[:-1]) / 2.0)",
        "np.sum(np.diff(f) * t[1:])",
        "ties count as if they were ranked right",
    ),
    Bug(
        "certify/rationals.py",
        "if near == -inf or exact(near) < value:",
        "if near == -inf or exact(near) <= value:",
        "a rational that is a float is rounded to the next one",
    ),
    Bug(
        "registry.py",
        '"perceptron": {}},',
        '"perceptron": {"average": True}},',
        "on the command line the perceptron is the averaged one",
    ),
    Bug(
        "evaluation.py",
        "squares = self.squares + other.squares + apart * apart * share * self.n_rows",
        "squares = self.squares + other.squares",
        "R² of merged rows leaves out that the means differ",
    ),
    Bug(
        "reports/sections.py",
        'return "for" if self.effect > 0 else "against"',
        'return "for" if self.effect < 0 else "against"',
        "the report says that a feature speaks for a class where it speaks against it",
    ),
    Bug(
        "codecs.py",
        "if found != _digest(text[len(SUM) + DIGITS + 2 :], tensors):",
        "if len(found) != DIGITS:",
        "the checksum of a model file is not compared",
    ),
    Bug(
        "sequences/tag_scores.py",
        '(letter in ("O", "B", "S") or kind != inside)',
        '(letter in ("O", "B", "S"))',
        "a span goes on through tokens of another type",
    ),
    Bug(
        "server/limits.py",
        "if len(rows) > self.rows:",
        "if len(rows) >= self.rows:",
        "a request with as many rows as allowed is refused",
    ),
    Bug(
        "server/guard.py",
        "level = min(self.burst, level + (now - then) * self.rate)",
        "level = level + (now - then) * self.rate",
        "a caller who waits a day may send a day's requests at once",
    ),
    Bug(
        "server/tokens.py",
        "return self.expires is None or now < self.expires",
        "return True",
        "a token never expires",
    ),
    Bug(
        "stopping.py",
        "self.waited = self.waited + 1 if loss > self.best - self.tol else 0",
        "self.waited = self.waited + 1 if loss > self.best + self.tol else 0",
        "a loss that hardly falls renews patience",
    ),
    Bug(
        "models/files.py",
        "    } | told",
        "    }",
        "the command and the hash of the data are not stored with the model",
    ),
    Bug(
        "tasks/updates.py",
        "str(record.visit[k] + 1), str(i + 1), str(y[i])",
        "str(record.visit[k] + 1), str(i), str(y[i])",
        "rows are counted from 0 in a table that counts from 1",
    ),
    Bug(
        "testing.py",
        'require(one == expected["predict"].tolist(), "predict_one differs from predict")',
        "del one",
        "the checks for learners let predict_one differ from predict",
    ),
    Bug(
        "tables/words.py",
        "for n in lengths if n <= end]",
        "for n in lengths if n < end]",
        "the runs of words at the beginning of a text are missing",
    ),
    Bug(
        "theory/observed_run.py",
        'return f"its rule is {type(own).__name__}, for which no bound is evaluated"',
        'return ""',
        "the perceptron's bounds are claimed for a rule that nothing is known of",
    ),
    Bug(
        "theory/separable.py",
        "(square + beta) ** 2 / beta / margin.squared[0]",
        "(square + beta) / beta / margin.squared[0]",
        "the bound of the radius is too small",
    ),
    Bug(
        "learning/trace.py",
        "if self.most is not None and sum(self.mistakes_per_pass) > self.most:",
        "if self.most is not None and sum(self.mistakes_per_pass) >= self.most:",
        "a record is dropped one mistake too early",
    ),
    Bug(
        "compat/river.py",
        "self._estimator = clone(given)",
        "self._estimator = given",
        "the estimator that was given learns, and not a copy of it",
    ),
]


def main(arguments: list[str] | None = None) -> int:
    """Plant the bugs, and print what caught each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", metavar="REGEX", default="", help="bugs whose file or sentence it is found in")
    parser.add_argument("--rooms", action="store_true", help="do not run all tests where those of the room pass")
    parser.add_argument("-n", default="auto", metavar="CORES", help="processes of pytest")
    asked = parser.parse_args(arguments)
    chosen = [bug for bug in BUGS if re.search(asked.only, f"{bug.file}: {bug.says}")]
    missed, tests = [], []
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        root = copied(Path(folder) / "tree")
        for bug in chosen:
            began = time.perf_counter()
            test = caught_by(bug, root, rooms=asked.rooms, cores=asked.n)
            if test is None:
                missed.append(bug)
            else:
                tests.append(test)
            word = f"caught by {test}" if test else "NOT CAUGHT"
            print(f"{bug.file}: {bug.says}\n    {word} ({time.perf_counter() - began:.0f} s)", flush=True)
        if tests and (failing := first_failure(root, "numba", asked.n, sorted(set(tests)))) is not None:
            raise RuntimeError(f"{failing} fails without any bug, and so shows nothing")
    print(f"{len(chosen) - len(missed)} of {len(chosen)} bugs were caught")
    return 1 if missed else 0


def copied(place: Path) -> Path:
    """Copy the files of the tree that git knows, with their times, by which numba finds its compiled loops."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    (place / "scripts" / "plant_bugs.py").unlink()  # or its own test would catch every bug
    return place


def first_failure(root: Path, cache: str, cores: str, paths: list[str]) -> str | None:
    """Return the first test of `make test` that fails in the tree at `root`, of all or of some paths, or None."""
    here = os.pathsep.join([str(root / "src"), str(root)])
    environment = os.environ | {"PYTHONPATH": here, "NUMBA_CACHE_DIR": str(root.parent / cache), "CI": "true"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", cores, *paths]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode in (0, 5):  # 5: no test was selected
        return None
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return found[1]


def caught_by(bug: Bug, root: Path, *, rooms: bool, cores: str) -> str | None:
    """Return the first test that fails with the bug in the tree at `root`, or None; the bug is removed again."""
    path = root / bug.path
    before, status = path.read_bytes(), path.stat()
    # Loops that are compiled into others are not compiled again there: a bug in them needs a cache of its own.
    compiled = bug.room == "loops" or b"loops._jit" in before
    cache = bug.file.replace("/", "-") if compiled else "numba"
    path.write_text(bug.planted(before.decode("utf-8")), encoding="utf-8")
    try:
        for paths in bug.selections(root, rooms=rooms):
            if (test := first_failure(root, cache, cores, paths)) is not None:
                return test
    finally:
        path.write_bytes(before)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return None


if __name__ == "__main__":
    sys.exit(main())
