"""Proofs about sentences, and what they state evaluated in the plainest way: over all labellings."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import struct
from fractions import Fraction
from typing import Any, NamedTuple

from rosenblatt.certify.check import ProofError, check, number, read_proof
from rosenblatt.sequences.sentence_verdict import certify_sequences


class SentenceCase(NamedTuple):
    """Sentences of words, or of tuples with a word first, their labels, and a true proof about them."""

    X: list[list[Any]]
    y: list[list[str]]
    proof: dict[str, Any]


def case(X: list[str], y: list[str], **options: Any) -> SentenceCase:
    words, labels = [each.split() for each in X], [each.split() for each in y]
    return SentenceCase(words, labels, json.loads(certify_sequences(words, labels, **options).to_json()))


DUCK = ["we saw her duck", "they saw her duck"], ["P V P V", "P V D N"]
CASES = {
    "an exchange": case(*DUCK, templates=["lower"]),
    "separable": case(*DUCK, templates=["lower", (("lower", -2), ("lower", 0))]),
    "without one": case(*DUCK, templates=["lower"], without=[1]),
    "constraints": case(["a b", "b a"], ["O B-X", "B-X I-X"], templates=["form", ("form", -1)], constraints="bio"),
    "the same counts": case(["x x x x"], ["A A B A"], templates=["form"]),
    "four lines": case(["ac", "bd", "ad", "bc"], ["P", "P", "N", "N"], templates=["prefix1", "suffix1"]),
}


def features(token_rows: list[Any], templates: list[str]) -> list[list[Any]]:
    """Return the features of each token as texts."""

    def text(i: int, part: str) -> str:
        column, offset = re.fullmatch(r"(\w+)(?:\[(.*)\])?", part).groups()
        at = i + int(offset or 0)
        if not 0 <= at < len(token_rows):
            return "before" if at < 0 else "behind"
        word = token_rows[at]
        length = int(column[6:]) if column[:6] in ("prefix", "suffix") else 0
        shape = re.sub("[a-z]+", "x", word)  # all words here are in lower case
        made = {"form": word, "lower": word, "0": word, "shape": shape}
        made |= {"prefix": word[:length], "suffix": word[-length:]}
        return "=" + made[column[:6] if length else column]

    return [  # a template listed twice makes two features
        [(k, *(text(i, part) for part in t.split(" & "))) for k, t in enumerate(templates)]
        for i in range(len(token_rows))
    ]


def hash_of(X: list[list[str]], codes: list[list[int]]) -> str:
    made = b"rosenblatt-sentences-1\n"
    for words, own in zip(X, codes, strict=True):
        made += struct.pack("<Q", len(words))
        for word, code in zip(words, own, strict=True):
            made += struct.pack("<Q", len(word.encode())) + word.encode() + struct.pack("<Q", code)
    return hashlib.sha256(made).hexdigest()


def holds(proof: dict[str, Any], X: list[list[str]], y: list[list[str]]) -> bool:
    """Tell if a well-formed proof's statements are true of the sentences and shown by what it gives."""
    data = proof["data"]
    labels = data["labels"]
    n = len(labels)
    if data["templates"] is None:
        return False  # the fingerprint of words is not that of features
    if not 0 < len(data["templates"]) <= 256 or any(re.search(r"(^|& )[1-9]", each) for each in data["templates"]):
        return False  # words have one field, which is called 0
    if len(set(labels)) < n or set(labels) != {label for own in y for label in own}:
        return False
    codes = [[labels.index(label) for label in own] for own in y]
    if (data["sentences"], data["tokens"]) != (len(X), sum(map(len, X))) or data["sha256"] != hash_of(X, codes):
        return False
    forbidden = {tuple(pair) for pair in data["forbidden"]}
    if any(len(pair) != 2 or max(pair) > n or pair == (n, n) for pair in forbidden):
        return False
    if any(i >= len(X) for i in data["without"]):
        return False
    numbers: dict[Any, int] = {}
    rows = [features(words, data["templates"]) for words in X]
    for sentence in rows:
        for token in sentence:
            for feature in token:
                numbers.setdefault(feature, len(numbers))

    def allowed(z: Any) -> bool:
        return not any(pair in forbidden for pair in itertools.pairwise([n, *z, n]))

    if not all(map(allowed, codes)):
        return False

    def phi(i: int, z: Any) -> dict[Any, int]:
        counts: dict[Any, int] = {}
        for token, pair in zip(rows[i], itertools.pairwise([n, *z]), strict=True):
            for key in [*((numbers[feature], pair[1], "f") for feature in token), (*pair, "t")]:
                counts[key] = counts.get(key, 0) + 1
        return counts

    part = [i for i in range(len(X)) if i not in data["without"]]
    if proof["verdict"] == "separable":
        scores = proof["scores"]
        weights: dict[Any, int] = {}
        for name, kind, height in (("features", "f", len(numbers)), ("pairs", "t", n + 1)):
            given = scores[name]
            if isinstance(given, list):
                if len(given) != height * n:
                    return False
                given = {"columns": range(height * n), "values": given}
            columns = list(given["columns"])
            if columns != sorted(set(columns)) or len(columns) != len(given["values"]):
                return False
            if any(at >= height * n for at in columns):
                return False
            for at, text in zip(columns, given["values"], strict=True):
                if "p" in text or "/" in text:
                    return False
                weights[at // n, at % n, kind] = int(text, 16)
        if scores["count"] != len(numbers):
            return False

        def score(i: int, z: Any) -> int:
            return sum(count * weights.get(key, 0) for key, count in phi(i, z).items())

        return all(
            score(i, codes[i]) > score(i, z)
            for i in part
            for z in itertools.product(range(n), repeat=len(X[i]))
            if allowed(z) and list(z) != codes[i]
        )
    given = proof["combination"]
    lines = list(zip(given["sentences"], map(tuple, given["labellings"]), strict=False))
    if not lines or not len(set(lines)) == len(given["sentences"]) == len(given["labellings"]) == len(
        given["weights"]
    ):
        return False
    sums: dict[Any, Fraction] = {}
    for (i, z), text in zip(lines, given["weights"], strict=True):
        if i not in part or len(z) != len(X[i]) or max(z) >= n or list(z) == codes[i] or not allowed(z):
            return False
        if number(text) <= 0:
            return False
        for counts, sign in ((phi(i, codes[i]), 1), (phi(i, z), -1)):
            for key, count in counts.items():
                sums[key] = sums.get(key, Fraction(0)) + sign * count * number(text)
    return not any(sums.values())


def accepted(proof: dict[str, Any], X: Any, y: Any) -> bool:
    """Tell if the checker accepts; its rejections begin with that word."""
    try:
        check(read_proof(json.dumps(proof)), X, y)
    except ProofError as error:
        return not str(error).startswith("Rejected: ")
    return True
