"""Small data files of every kind that the command line reads, as bytes by name: to train on, and new ones.

New ones have their columns in another order, columns of no use, names and words never met, and gaps where the
command line allows them.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from scipy.sparse import csr_array

MANY, FEW = 60, 14

SPAM = ["WIN", "free", "prize", "click", "€uro", "now", "b4", "cash", "don't_miss", "grün"]
HAM = ["meeting", "lunch", "tomorrow", "Müller", "report", "notes", "thanks", "don't", "mañana", "b2b"]
NEVER_MET = ["zebra", "ΑΒΓ", "quux", "😀", "win!"]
COLOURS = ["red", "green", "light, blue", 'so-called "white"', "Grün"]


def _csv(rows: Iterable[Sequence[Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _message(rng: Random, spam: bool, more: Sequence[str] = ()) -> str:
    likely, seldom = (SPAM, HAM) if spam else (HAM, SPAM)
    words = [*rng.choices(likely, k=4), *rng.choices(seldom, k=2), *rng.choices([*more, "the", "a"], k=2)]
    rng.shuffle(words)
    return rng.choice([" ", ", ", "  ", " - "]).join(words) + rng.choice(["", ".", "!!", ' "so"'])


def _mail(rng: Random) -> dict[str, bytes]:
    rows: list[list[Any]] = [["message", "length", "label"]]
    for _ in range(MANY):
        spam = rng.random() < 0.5
        rows.append([_message(rng, spam), round(rng.uniform(1, 9) + spam, 2), ("ham", "spam")[spam]])
    new: list[list[Any]] = [["label", "remark", "length", "message"]]
    for _ in range(FEW):
        spam = rng.random() < 0.5
        new.append([("ham", "spam")[spam], "", round(rng.uniform(1, 9), 2), _message(rng, spam, NEVER_MET)])
    return {"mail.csv": _csv(rows), "mail-new.csv": _csv(new)}


def _thing(rng: Random) -> tuple[str, str, float, int, str]:
    colour, shape = rng.choice(COLOURS), rng.choice(["round", "square", "flat"])
    weight, count = round(rng.uniform(-3, 3), 3), rng.randrange(9)
    votes = (colour == "red") + (shape == "round") + 0.5 * weight + 0.125 * count + rng.gauss(0, 0.3)
    return colour, shape, weight, count, "a" if votes > 0.9 else "b"


def _things(rng: Random) -> dict[str, bytes]:
    rows = [_thing(rng) for _ in range(MANY)]
    new = [(kind, count, shape, weight, colour) for colour, shape, weight, count, kind in map(_thing, [rng] * FEW)]
    new[3] = (*new[3][:4], "purple")
    new[5] = (*new[5][:2], "oval", *new[5][3:])
    return {
        "things.csv": _csv([("colour", "shape", "weight", "count", "kind"), *rows]),
        "things-new.csv": _csv([("kind", "count", "shape", "weight", "colour"), *new]),
        "things.tsv.gz": gzip.compress(
            _csv([("shape", "weight", "count", "kind"), *(row[1:] for row in rows)], "\t"), mtime=0
        ),
    }


def _with_gaps(rng: Random, gap: Any, absent: float) -> list[Any]:
    values = [round(rng.uniform(-2, 2) * scale + 10 * (scale > 1), 3) for scale in (1, 100, 0.01, 5)]
    label = "yes" if values[0] + values[1] / 100 + 40 * values[2] > 0.1 else "no"
    return [*(gap if rng.random() < absent else value for value in values), label]


def _gaps(rng: Random) -> dict[str, bytes]:
    heading = ["a", "b", "c", "d", "label"]
    marks = ["", "NA", "?", "nan"]
    rows = [_with_gaps(rng, marks[k % 4], 0.15) for k in range(MANY)]
    new = [_with_gaps(rng, marks[k % 4], 0.3)[::-1] for k in range(FEW)]
    return {"gaps.csv": _csv([heading, *rows]), "gaps-new.csv": _csv([heading[::-1], *new])}


def _events(rng: Random) -> dict[str, bytes]:
    def event(most: int) -> list[Any]:
        user, hour = rng.randrange(most), rng.randrange(24)
        return [f"user-{user:03}", f"page {user * hour % 7}", hour, int(user % 3 == 0) ^ (rng.random() < 0.1)]

    heading = ["user", "page", "hour", "class"]
    files = {"events.csv": [event(30) for _ in range(MANY)], "events-new.csv": [event(60) for _ in range(FEW)]}
    return {name: _csv([heading, *rows]) for name, rows in files.items()}


def _bare(rng: Random) -> dict[str, bytes]:
    def line() -> list[Any]:
        spam = rng.random() < 0.5
        number = round(rng.uniform(-1, 1) + spam, 3)
        return [("0", "1")[spam], number, rng.choice(["x", "y", "z"]), _message(rng, spam), rng.randrange(5)]

    new = [line() for _ in range(FEW)]
    new[2][2] = "w"
    return {"bare.csv": _csv(line() for _ in range(MANY)), "bare-new.csv": _csv(new)}


def _points(rng: Random) -> dict[str, bytes]:
    def point(middle: int) -> list[Any]:
        x, y = ((4, 0), (-2, 3), (-2, -3))[middle]
        return [x + rng.randrange(-20, 21) / 8, y + rng.randrange(-20, 21) / 8, rng.randrange(8), 10 * middle + 1]

    heading = ["x", "y", "z", "target"]
    files = {
        "points.csv": [point(k % 3) for k in range(MANY)],
        "points-new.csv": [point(k % 3) for k in range(FEW)],
    }
    return {name: _csv([heading, *rows]) for name, rows in files.items()}


def _counts(rng: Random) -> dict[str, bytes]:
    def line(first: int, n_features: int) -> str:
        label = rng.choice([-1, 1])
        met = sorted(rng.sample(range(n_features), 6))
        pairs = [f"{j + first}:{rng.randrange(1, 9) / 4 * (label if j % 4 == 0 else 1):g}" for j in met]
        return f"{label:+} {' '.join(pairs)}"

    def lines(count: int, first: int, n_features: int) -> bytes:
        written = [line(first, n_features) for _ in range(count)]
        written[0] = f"+1 {first}:0.5 7:-1.25e-1 # a remark"
        return "\n".join(["# counts", *written, ""]).encode()

    return {
        "counts.svm": lines(MANY, 1, 20),
        "counts-new.svm": lines(FEW, 1, 26),
        "counts0.svm": lines(MANY, 0, 20),
        "counts0-new.svm": lines(FEW, 0, 26),
    }


def _visits(rng: Random) -> dict[str, bytes]:
    def visit(places: Sequence[str], absent: float) -> dict[str, Any]:
        place, stay, paid = rng.choice(places), rng.randrange(120) / 8, rng.random() < 0.5
        label = "again" if stay / 4 + 2 * paid + (place == "café") > 2.6 else "never"
        visit = {"place": place, "stay": stay, "paid": paid, "label": label, "note": _message(rng, paid)}
        return {name: None if name == "stay" and rng.random() < absent else each for name, each in visit.items()}

    rows = [visit(["café", "bar", "pub"], 0.1) for _ in range(MANY)]
    new = [dict(reversed(visit(["café", "bar", "diner"], 0.2).items())) for _ in range(FEW)]
    new[4].pop("note")
    return {
        name: "".join(json.dumps(each, ensure_ascii=name == "visits.jsonl") + "\n" for each in lines).encode()
        for name, lines in {"visits.jsonl": rows, "visits-new.jsonl": new}.items()
    }


def _trips(rng: Random) -> dict[str, bytes]:
    def table(count: int, lines: Sequence[str]) -> pa.Table:
        line, late = rng.choices(lines, k=count), [rng.randrange(9) for _ in range(count)]
        km = [round(rng.uniform(0, 30), 1) for _ in range(count)]
        night = [rng.random() < 0.3 for _ in range(count)]
        kept: Any = [None if rng.random() < 0.1 else each for each in late]
        missed = [b - (name == "S1") + 2 * dark > 4 for b, name, dark in zip(late, line, night, strict=True)]
        return pa.table(
            {
                "line": pa.array(line).dictionary_encode(),
                "late": pa.array(kept, pa.int32()),
                "km": pa.array(km, pa.float32()),
                "night": pa.array(night),
                "y": pa.array([("made it", "missed")[each] for each in missed]),
            }
        )

    def parquet(table: pa.Table) -> bytes:
        file = io.BytesIO()
        pa.parquet.write_table(table, file, row_group_size=25, compression="zstd")
        return file.getvalue()

    def arrow(table: pa.Table) -> bytes:
        file = io.BytesIO()
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=25)
        return file.getvalue()

    old, new = table(MANY, ["S1", "S2", "U8"]), table(FEW, ["S1", "U8", "M41"])
    new = new.select(["y", "night", "line", "km", "late"])
    return {
        "trips.parquet": parquet(old),
        "trips-new.parquet": parquet(new),
        "trips.arrow": arrow(old.drop_columns(["line"])),
        "trips-new.arrow": arrow(new.drop_columns(["line"])),
    }


def _arrays(rng: Random) -> dict[str, bytes]:
    def rows(count: int) -> np.ndarray:
        return np.array([[rng.randrange(-16, 17) / 8 for _ in range(16)] for _ in range(count)])

    def npz(X: np.ndarray) -> bytes:
        file = io.BytesIO()
        np.savez_compressed(file, X=X.astype(np.float32), y=labels(X))
        return file.getvalue()

    def labels(X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 0] + X[:, 5] > 0.25, "up", "down")

    def npy(X: np.ndarray) -> bytes:
        file = io.BytesIO()
        np.save(file, np.column_stack([X, X[:, 2] > X[:, 3]]))
        return file.getvalue()

    def sparse(X: np.ndarray, **more: Any) -> bytes:
        file, few = io.BytesIO(), csr_array(np.where(np.abs(X) > 1, X, 0.0))
        parts = {name: getattr(few, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez_compressed(file, format="csr", **parts, **more)  # as scipy saves it, and labels
        return file.getvalue()

    old, new = rows(MANY), rows(FEW)
    return {
        "pixels.npz": npz(old),
        "pixels-new.npz": npz(new),
        "pixels.npy": npy(old),
        "pixels-new.npy": npy(new),
        "sparse.npz": sparse(old, y=labels(old)),
        "sparse-new.npz": sparse(new),
    }


def _digits(rng: Random) -> dict[str, bytes]:
    shapes = {0: "0110100110010110", 1: "0010001000100010", 7: "1111000100100100"}
    rows = [
        [*(4 * int(bit) + rng.randrange(3) for bit in shapes[digit]), digit]
        for digit in (rng.choice([0, 1, 7]) for _ in range(24))
    ]
    return {
        "digits.csv": _csv([[*(f"p{k}" for k in range(16)), "digit"], *rows]),
        "and.csv": b"x1,x2,label\n0,0,-1\n1,0,-1\n0,1,-1\n1,1,1\n",
        "xor.csv": b"x1,x2,label\n0,0,-1\n1,0,1\n0,1,1\n1,1,-1\n",
        "tied.csv": b"x1,x2,label\n0,0,a\n2,0,a\n1,0,b\n1,0.5,b\n0,1,b\n",
        "overlap.csv": b"x1,x2,x3,kind\n0.1,0,1,p\n1,0.1,1,p\n0,1,1,q\n1,1,1,q\n0.5,0.25,1,q\n0.5,0.75,1,p\n",
    }


def _levels(rng: Random) -> dict[str, bytes]:
    def row(towns: Sequence[str]) -> list[Any]:
        town, age = rng.choice(towns), rng.randrange(18, 80)
        income = rng.choice([round(rng.lognormvariate(10, 0.5)), round(rng.lognormvariate(10, 0.5)), "-"])
        votes = 0.05 * (age - 45) + (town == "Ulm") - (town in ("", "unknown")) + rng.gauss(0, 0.3)
        return [rng.choice([0, 0, 2.5]), age, income, town, ("no", "yes")[votes > 0]]

    head = ["hours", "age", "income", "town", "label"]
    towns = ["Ulm", "Bonn", "Köln", "", "unknown"]
    return {
        "levels.csv": _csv([head, *(row(towns) for _ in range(MANY))]),
        "levels-new.csv": _csv([head, *(row([*towns, "Rome"]) for _ in range(FEW))]),
    }


MAKERS: tuple[Callable[[Random], dict[str, bytes]], ...] = (
    *(_mail, _things, _gaps, _events, _bare, _points, _counts, _visits, _trips, _arrays, _digits, _levels),
)


def tables() -> dict[str, bytes]:
    """Return all data files by name."""
    return {name: content for make in MAKERS for name, content in make(Random(make.__name__)).items()}
