"""Proofs made by hand, and what they say evaluated in the plainest way: the checker is compared with this."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.certify.check import ProofError, check, read_proof

Proof = dict[str, Any]


class Case(NamedTuple):
    rows: list[list[float]]
    labels: list[str]
    proof: Proof


def value(text: str) -> Fraction:
    if "/" in text:
        top, bottom = text.split("/")
        return Fraction(int(top, 16), int(bottom, 16))
    m, _, e = text.partition("p")
    return int(m, 16) * Fraction(2) ** int(e or 0)


def same(a: str, b: str) -> bool:
    try:
        return Fraction(a) == Fraction(b)
    except ValueError:
        return a.strip() == b.strip()


def signs_of(data: Proof, labels: list[str]) -> list[int]:
    def sign(label: str) -> int:
        if same(label, data["positive"]):
            return 1
        return -1 if data["negative"] is None or same(label, data["negative"]) else 0

    return [sign(label) for label in labels]


def hash_of(rows: list[list[float]], signs: list[int]) -> str:
    X = np.array(rows, "<f8")
    at, columns = np.nonzero(X)
    lengths = np.bincount(at, minlength=len(X))
    pieces = np.array(signs, "i1"), lengths.astype("<u8"), columns.astype("<u8"), X[at, columns]
    digests = b"".join(hashlib.sha256(piece.tobytes()).digest() for piece in pieces)
    return hashlib.sha256(b"rosenblatt-data-1\n" + np.array(X.shape, "<u8").tobytes() + digests).hexdigest()


def case(
    rows: Any, labels: str, *, bias: bool = True, positive="1", negative: str | None = "0", **stated: Any
) -> Case:
    rows, names = [[float(x) for x in row] for row in rows], labels.split()
    data = {"rows": len(rows), "features": len(rows[0]), "positive": positive, "negative": negative}
    data["sha256"] = hash_of(rows, signs_of(data, names))
    verdict = "separable" if "hyperplane" in stated else "inseparable"
    head = {"format": "rosenblatt-proof", "version": 1, "verdict": verdict, "bias": bias, "data": data}
    return Case(rows, names, head | stated)


def numbers(*values: Any) -> list[str]:
    def text(v: Fraction) -> str:
        return f"{v.numerator:#x}" + (f"/{v.denominator:#x}" if v.denominator > 1 else "")

    return [text(Fraction(v)) for v in values]


def plane(*w: Any, b: Any) -> Proof:
    return {"w": numbers(*w), "b": numbers(b)[0]}


def weighted(**weights: Any) -> Proof:
    return {"rows": [int(key[1:]) for key in weights], "weights": numbers(*weights.values())}


SQUARE = [(0, 0), (1, 0), (0, 1), (1, 1)]
XOR = case(SQUARE, "0 1 1 0", combination=weighted(r0=1, r1=1, r2=1, r3=1))
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
OR_MARGIN = {"least": "0x1", "squared": ["0x1p-3", "0x1/0x8"], **weighted(r0=1, r1=HALF, r2=HALF)}
SPAM = [[int(c) for c in row] for row in ["11011", "00110", "01100", "10010", "10101", "10110"]]
SIX = [(1.5, -0.5), (1, 1), (-2, 1), (-1, -1.5), (2, -2), (-2, -2)]
LINE = [(0,), (1,), (1,), (2,)]
FLAT = [(0, 5), (1, 5), (2, 5)]

CASES = {
    "xor": XOR,
    "xor, overlap": XOR._replace(
        proof=XOR.proof | {"ties": {"kind": "overlap", **weighted(r0=1, r1=1, r2=1, r3=1), "null": []}}
    ),
    "xor without bias": case(
        SQUARE[1:],
        "1 1 0",
        bias=False,
        combination=weighted(r2=1, r0=1, r1=1),
        ties={"kind": "overlap", **weighted(r0=2, r1=2, r2=2), "null": []},
    ),
    "a zero row without bias": case(SQUARE, "0 1 1 0", bias=False, combination=weighted(r0=3)),
    "and": case(SQUARE, "0 0 0 1", hyperplane=plane(2, 3, b=-4)),
    "or": case(SQUARE, "0 1 1 1", hyperplane=plane(2, 2, b=-1)),
    "or, margin": case(SQUARE, "0 1 1 1", hyperplane=plane(2, 2, b=-1), margin=OR_MARGIN),
    "margin without bias": case(
        [(1, 0), (0, 1), (-3, -3)],
        "1 1 0",
        bias=False,
        hyperplane=plane(1, 1, b=0),
        margin={"least": "0x1", "squared": ["0x1p-2", "0x1/0x2"], **weighted(r0=HALF, r1=HALF)},
    ),
    "or, margin in thirds": case(
        SQUARE,
        "0 1 1 1",
        hyperplane=plane(THIRD * 2, THIRD * 2, b=-THIRD),
        margin=OR_MARGIN | {"least": "0x1/0x3"},
    ),
    "six points": case(SIX, "+ + + - - -", positive="+", negative="-", hyperplane=plane(0.5, 1.0, b=0.2)),
    "spam, sparse": case(
        SPAM,
        "spam ham spam ham spam ham",
        positive="spam",
        negative="ham",
        hyperplane={"w": {"columns": [1, 3, 4], "values": ["0x2", "-0x1", "0x1"]}, "b": "0x0"},
    ),
    "against the rest": case(
        SQUARE, "a b c d", positive="a", negative=None, hyperplane={"w": ["-0x1", "-0x2p0"], "b": "0x1p-1"}
    ),
    "a pair of three": case(
        LINE, "0 7 1.0 1", hyperplane={"w": ["0x1"], "b": "-0x1/0x3"}
    ),
    "quasi": case(
        LINE,
        "0 0 1 1",
        combination=weighted(r1=1, r2=1),
        ties={"kind": "quasi", **plane(1, b=-1), "strict": 2},
    ),
    "quasi without bias": case(
        [(1, 0), (0, 1), (0, 2)],
        "1 1 0",
        bias=False,
        combination=weighted(r1=2, r2=1),
        ties={"kind": "quasi", "w": {"columns": [0], "values": ["0x1"]}, "b": "0x0", "strict": 1},
    ),
    "overlap in a plane": case(
        FLAT,
        "0 1 0",
        combination=weighted(r0=1, r1=2, r2=1),
        ties={"kind": "overlap", **weighted(r2=1, r0=1, r1=2), "null": [numbers(0, 1, -5)]},
    ),
    "overlap at a point": case(
        [(3, 0), (3, 0)],
        "0 1",
        combination=weighted(r0=1, r1=1),
        ties={
            "kind": "overlap",
            **weighted(r0=HALF, r1=HALF),
            "null": [numbers(1, 0, -3), {"columns": [1], "values": ["0x1/0x7"]}],
        },
    ),
}  # fmt: skip


def rank(rows: list[list[Fraction]]) -> int:
    rows, found = [list(row) for row in rows], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows[found:] if row[j]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(found, pivot)
        found += 1
        for k in range(found, len(rows)):
            c = rows[k][j] / pivot[j]
            rows[k] = [x - c * p for x, p in zip(rows[k], pivot, strict=True)]
    return found


def holds(proof: Proof, rows: list[list[float]], labels: list[str]) -> bool:
    """Tell if a well-formed proof's statements are true of the data and shown by what it gives."""
    data, bias = proof["data"], proof["bias"]
    n, d = len(rows), len(rows[0])
    if data["negative"] is not None and same(data["positive"], data["negative"]):
        return False
    y = signs_of(data, labels)
    if (data["rows"], data["features"], data["sha256"]) != (n, d, hash_of(rows, y)) or not any(y):
        return False
    X = [[Fraction(x) for x in row] for row in rows]
    part = [i for i in range(n) if y[i]]
    z = [[y[i] * x for x in [*X[i], Fraction(1)][: d + bias]] for i in range(n)]

    def spread(vector: Any, length: int) -> list[Fraction] | None:
        if isinstance(vector, list):
            return [value(v) for v in vector] if len(vector) == length else None
        columns, values = vector["columns"], vector["values"]
        if columns != sorted(set(columns)) or len(columns) != len(values) or any(j >= length for j in columns):
            return None
        there = dict(zip(columns, values, strict=True))
        return [value(there.get(j, "0x0")) for j in range(length)]

    def outputs(given: Proof) -> tuple[list[Fraction], list[Fraction]] | None:
        w, b = spread(given["w"], d), value(given["b"])
        if w is None or (b and not bias):
            return None
        return w, [y[i] * (sum(c * x for c, x in zip(w, X[i], strict=True)) + b) for i in part]

    def weights(given: Proof) -> dict[int, Fraction] | None:
        at, by = given["rows"], [value(v) for v in given["weights"]]
        fine = at and len(at) == len(by) == len(set(at)) and all(i in part for i in at) and min(by) > 0
        return dict(zip(at, by, strict=True)) if fine else None

    def balances(given: Proof) -> bool:
        by = weights(given)
        return by is not None and all(sum(by[i] * z[i][j] for i in by) == 0 for j in range(d + bias))

    if proof["verdict"] == "separable":
        made = outputs(proof["hyperplane"])
        if made is None or min(made[1]) <= 0:
            return False
        if "margin" in proof:
            margin, w = proof["margin"], made[0]
            by, least = weights(margin), value(margin["least"])
            if by is None or len(margin["squared"]) != 2 or not 0 < least <= min(made[1]):
                return False
            low, high = map(value, margin["squared"])
            sums = [sum(by[i] for i in by if y[i] == s) for s in (1, -1)]
            if (sums != [1, 1]) if bias else (sum(sums) != 1):
                return False
            gap = [sum(by[i] * z[i][j] for i in by) for j in range(d)]
            most = sum(g * g for g in gap) / (4 if bias else 1)
            return 0 < low <= high and low * sum(c * c for c in w) <= least**2 and most <= high
        return True
    if not balances(proof["combination"]):
        return False
    ties = proof.get("ties")
    if ties is None or ties["kind"] == "open":
        return True
    if ties["kind"] == "quasi":
        made = outputs(ties)
        return made is not None and min(made[1]) >= 0 and 1 <= sum(f > 0 for f in made[1]) == ties["strict"]
    null = [spread(v, d + bias) for v in ties["null"]]
    if not balances(ties) or any(v is None for v in null):
        return False
    if any(sum(a * b for a, b in zip(v, z[i], strict=True)) for v in null for i in part):
        return False
    return rank(null) == len(null) and rank([z[i] for i in ties["rows"]]) + len(null) == d + bias


def hash_of_classes(rows: list[list[float]], codes: list[int]) -> str:
    X = np.array(rows, "<f8")
    at, columns = np.nonzero(X)
    lengths = np.bincount(at, minlength=len(X))
    pieces = np.array(codes, "<u8"), lengths.astype("<u8"), columns.astype("<u8"), X[at, columns]
    digests = b"".join(hashlib.sha256(piece.tobytes()).digest() for piece in pieces)
    return hashlib.sha256(b"rosenblatt-classes-1\n" + np.array(X.shape, "<u8").tobytes() + digests).hexdigest()


def codes_of(classes: list[str], labels: list[str]) -> list[int] | None:
    """Return the place of each label among classes that all differ; None if there is no such place."""
    if any(same(a, b) for a, b in itertools.combinations(classes, 2)):
        return None
    places = [next((k for k, name in enumerate(classes) if same(name, label)), None) for label in labels]
    return None if None in places else places


def holds_of_classes(proof: Proof, rows: list[list[float]], labels: list[str]) -> bool:
    """Tell if a well-formed proof about all classes together is true of the data, and shown by what it gives."""
    data, bias, count = proof["data"], proof["bias"], len(proof["data"]["classes"])
    n, d = len(rows), len(rows[0])
    own = codes_of(data["classes"], labels)
    if own is None or count < 2:
        return False
    if (data["rows"], data["features"], data["sha256"]) != (n, d, hash_of_classes(rows, own)):
        return False
    X = [[Fraction(x) for x in [*row, 1.0]] for row in rows]
    if proof["verdict"] == "separable":
        vectors = []
        for plane in proof["hyperplanes"]:
            w = plane["w"]
            columns, values = (w["columns"], w["values"]) if isinstance(w, dict) else (list(range(d)), w)
            if columns != sorted(set(columns)) or len(columns) != len(values) or any(j >= d for j in columns):
                return False
            there = dict(zip(columns, map(value, values), strict=True))
            vectors.append([*(there.get(j, Fraction(0)) for j in range(d)), value(plane["b"])])
        if len(vectors) != count or (not bias and any(vector[-1] for vector in vectors)):
            return False
        scores = [[sum(c * v for c, v in zip(vector, x, strict=True)) for vector in vectors] for x in X]
        return all(f[k] > g for f, k in zip(scores, own, strict=True) for j, g in enumerate(f) if j != k)
    given = proof["combination"]
    lines, weights = list(zip(given["rows"], given["rivals"], strict=False)), list(map(value, given["weights"]))
    if not lines or not len(set(lines)) == len(given["rows"]) == len(given["rivals"]) == len(weights):
        return False
    if min(weights) <= 0 or any(i >= n or k >= count or k == own[i] for i, k in lines):
        return False
    sums = [[Fraction(0)] * (d + bias) for _ in range(count)]
    for (i, rival), weight in zip(lines, weights, strict=True):
        for j in range(d + bias):
            sums[own[i]][j] += weight * X[i][j]
            sums[rival][j] -= weight * X[i][j]
    return not any(map(any, sums))


def accepted(proof: Proof, rows: Any, labels: Any) -> bool:
    """Tell if the checker accepts; its rejections begin with that word."""
    try:
        check(read_proof(json.dumps(proof)), rows, labels)
    except ProofError as error:
        return not str(error).startswith("Rejected: ")
    return True


def put(proof: Proof, path: tuple[Any, ...], value: Any) -> Proof:
    """Return a copy with another value in one place."""
    made = copy.deepcopy(proof)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made


def paths(value, at=()):
    yield at
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from paths(value[key], (*at, key))


def at(proof, path):
    for key in path:
        proof = proof[key]
    return proof
