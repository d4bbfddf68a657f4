"""Check a proof that data is, or is not, linearly separable: ``python check.py PROOF DATA.csv``.

A proof about sentences is checked in the same way: ``python check.py PROOF CORPUS.conllu``.

This file needs only Python's standard library: copy it to check a proof anywhere. docs/look_up/proofs.md describes
what a proof states and why that suffices. No tolerance decides anything: floats decide a row only if a proved
error bound leaves no doubt, and integers decide the others.

Exit codes: 0 the proof holds, 1 it is rejected (false, or about other data), 2 wrong usage, or a file that cannot
be read or is not a proof.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import chain, tee
from math import fsum, inf, isfinite, lcm
from operator import add, mul
from reprlib import repr as short
from typing import Any, NamedTuple

# Limits that keep time and memory in proportion to the input; honest proofs stay far below them.
LARGEST_FILE = 2**28  # bytes of a proof, and characters of a line of data
LARGEST_BITS = 2**20  # bits of a numerator, a denominator, or the common denominator of a list
LARGEST_LIST = 2**31  # bits that the common denominator of a list may add to all its numbers
LARGEST_EXPONENT = 100_000
LARGEST_SCORE, MOST_TEMPLATES = 2**14, 256  # of proofs about sentences: bits of a weight, and templates
LARGEST_MATRIX, MOST_WORK = 2**26, 2**32  # entries of a matrix, and multiplications to find its rank
EXACT, SPACE = 2**53, " \t\n\v\f\r"  # where float64 begins to round integers; what may stand around labels

NUMBER = re.compile(r"(-?0x[0-9a-f]+)(?:p([+-]?[0-9]{1,6})|/(0x[0-9a-f]+))?")
PRIMES = 0x2545F4914F6CDD3B, 0x16A09E667F3BCC908B2FB1417  # powers of two have many remainders modulo these
Pair = tuple[int, int]  # (m, e) is the number m·2^e
Kept = dict[int, tuple[list[float], int]]  # weighted rows by number: (x, 1), or x without bias, and y


class ProofError(ValueError):
    """The proof is malformed, false, or about other data."""

    def __str__(self) -> str:
        return f"Rejected: {self.args[0]}"


class DataError(ValueError):
    """The data cannot be read."""


# ---- numbers ----------------------------------------------------------------------------------------------------


def parts(text: str) -> tuple[int, int, int]:
    """Return the numerator, the exponent of two and the denominator of a NUMBER."""
    match = NUMBER.fullmatch(text)
    if not match:
        raise ProofError(f"{short(text)} is not a number such as 0x1f, -0x3p-4 or 0x1/0x3")
    top, power, bottom = int(match[1], 16), int(match[2] or 0), int(match[3] or "1", 16)
    if abs(power) > LARGEST_EXPONENT or max(top.bit_length(), bottom.bit_length()) > LARGEST_BITS or not bottom:
        raise ProofError(f"the number {short(text)} is too long, too large, too small or divided by zero")
    return top, power, bottom


def number(text: str) -> Fraction:
    """Return the value of a NUMBER: hexadecimal, optionally times a power of two or over a denominator.

    >>> number("-0x3p-4"), number("0x1/0xa")
    (Fraction(-3, 16), Fraction(1, 10))
    """
    top, power, bottom = parts(text)
    return over((top, power), bottom)


def text_of(value: Fraction | int) -> str:
    """Write a number in the format of proofs; `number` reads it.

    >>> text_of(26), text_of(Fraction(-3, 16)), text_of(Fraction(1, 10))
    ('0x1a', '-0x3p-4', '0x1/0xa')
    """
    top, bottom = value.as_integer_ratio()
    power = bottom.bit_length() - 1
    if bottom != 1 << power or power > LARGEST_EXPONENT:
        return f"{top:#x}/{bottom:#x}"
    return f"{top:#x}p-{power}" if power else f"{top:#x}"


def over(pair: Pair, denominator: int) -> Fraction:
    """Return m·2^e over a denominator."""
    m, e = pair
    return Fraction(m << max(e, 0), denominator << max(-e, 0))


def total(pairs: Iterable[Pair]) -> Pair:
    """Return Σ m·2^e."""
    pairs = list(pairs)
    low = min((e for _, e in pairs), default=0)
    return sum(m << (e - low) for m, e in pairs), low


class Vector(NamedTuple):
    """Numbers m·2^e / denominator in some columns, and zeros in the others."""

    columns: Sequence[int]
    pairs: Sequence[Pair]
    denominator: int = 1

    def dot(self, values: Sequence[float]) -> Pair:
        """Return the product with floats, times the denominator."""
        met = ((pair, values[j].as_integer_ratio()) for j, pair in zip(self.columns, self.pairs, strict=True))
        return total((m * p, e + 1 - q.bit_length()) for (m, e), (p, q) in met if m and p)


def vector(columns: Sequence[int], texts: Sequence[str], where: str) -> Vector:
    """Read NUMBERs and write them over one denominator."""
    numbers, common = [parts(text) for text in texts], 1
    for bottom in {bottom for _, _, bottom in numbers}:
        common = lcm(common, bottom)
        if common.bit_length() > LARGEST_BITS or common.bit_length() * len(texts) > LARGEST_LIST:
            raise ProofError(f"the common denominator of {where} is too large")
    factor = {bottom: common // bottom for _, _, bottom in numbers}
    return Vector(columns, [(top * factor[bottom], power) for top, power, bottom in numbers], common)


class Side:
    """Decides the sign of y f(x) − least, f(x) = <w, x> + b, given w, b and least as one vector."""

    def __init__(self, exact: Vector, width: int) -> None:
        # Dividing by a power of two, so that no number is above 1, does not change signs.
        top = max((m.bit_length() + e for m, e in exact.pairs if m), default=0)
        self.exact, self.floats = exact, [0.0] * (width + 2)
        for j, (m, e) in zip(exact.columns, exact.pairs, strict=True):
            self.floats[j] = m / (1 << (top - e)) if m else 0.0  # Python rounds this division to nearest

    def sign(self, row: list[float], y: int) -> int:
        """Return −1, 0 or 1, by floats if their error bound allows it.

        With u = 2^-53, rounding to nearest moves a result by at most u times itself, or 2^-1075 if it is
        subnormal. So rounding the coefficients c_j costs at most Σ (u|c_j x_j| + 2^-1075 |x_j|), rounding the
        products p_j at most Σ (u|p_j| + 2^-1075), and fsum, which rounds once, u|Σ p_j|. With S = Σ|p_j| and D
        terms that is less than 3.1 u S + 2^-1075 (2D + Σ|x_j|) in total. Plain summation computes S, without
        cancellation, to a relative error of D u. So the bound below suffices for D < 2^40, including its own
        rounding.
        """
        values = [*row, 1.0, float(-y)]
        products = list(map(mul, self.floats, values))
        bound = 2.0**-50 * sum(map(abs, products)) + 2.0**-1074 * (sum(map(abs, values)) + 2 * len(values) + 8)
        try:
            f = fsum(products)
        except OverflowError:  # partial sums beyond the largest float
            bound = inf
        if bound < inf and abs(f) > bound:
            return y if f > 0 else -y
        m, _ = self.exact.dot(values)
        return y * ((m > 0) - (m < 0))


def has_rank(vectors: Sequence[Vector], width: int, wanted: int) -> bool:
    """Return whether the rank modulo a prime is at least `wanted`; the true rank is never smaller."""
    work = len(vectors) * width
    if work > LARGEST_MATRIX:
        raise ProofError(f"{len(vectors)} vectors of length {width} are too many to find their rank")
    for prime in PRIMES:
        basis: list[tuple[int, list[int]]] = []
        for columns, pairs, _ in vectors:  # a common denominator does not change the rank
            row = [0] * width
            for j, (m, e) in zip(columns, pairs, strict=True):
                row[j] = m * pow(2, e, prime) % prime if m else 0
            for pivot, other in basis:
                if c := row[pivot]:
                    work += width
                    row = [(x - c * z) % prime for x, z in zip(row, other, strict=True)]
            if work > MOST_WORK:
                raise ProofError(f"the rank of {len(vectors)} vectors of length {width} takes too long to find")
            if (pivot := next((j for j, x in enumerate(row) if x), -1)) >= 0:
                inverse = pow(row[pivot], -1, prime)
                basis.append((pivot, [x * inverse % prime for x in row]))
        if len(basis) >= wanted:
            return True
    return False


# ---- the proof file ---------------------------------------------------------------------------------------------

HASH = re.compile("[0-9a-f]{64}")
HUNDRED = "(?:[1-9]?[0-9]|100)"
PART = rf"(?:form|lower|shape|(?:prefix|suffix)(?:1?[1-9]|10|20)|{HUNDRED})(?:\[[+-]{HUNDRED}\])?"
TEMPLATE = re.compile(f"{PART}(?: & {PART})*")
VECTOR = {"columns": [int], "values": [NUMBER]}  # or a list of numbers
WEIGHTED = {"rows": [int], "weights": [NUMBER]}
PLANE = {"w": VECTOR, "b": NUMBER}
DATA = {"rows": int, "features": int, "positive": str, "negative": str, "sha256": HASH}
PARTITIONS = [{"rows": int, "sha256": HASH}]  # of version 2, in place of one fingerprint of all rows
PROOF = {"format": str, "version": int, "verdict": str, "bias": bool, "data": DATA}
VERDICTS = {"separable": {"hyperplane": PLANE}, "inseparable": {"combination": WEIGHTED}}
CLASS_DATA = {"rows": int, "features": int, "classes": [str], "sha256": HASH}
CLASH = {**WEIGHTED, "rivals": [int]}
CLASS_VERDICTS: dict[str, Any] = {"separable": {"hyperplanes": [PLANE]}, "inseparable": {"combination": CLASH}}
SENTENCES = {"sentences": int, "tokens": int, "labels": [str], "templates": [TEMPLATE]}
SENTENCES |= {"forbidden": [[int]], "without": [int], "sha256": HASH}
LINES = {"sentences": [int], "labellings": [[int]], "weights": [NUMBER]}
SCORES = {"count": int, "features": VECTOR, "pairs": VECTOR}
SENTENCE_VERDICTS: dict[str, Any] = {"separable": {"scores": SCORES}, "inseparable": {"combination": LINES}}
MARGIN = {"least": NUMBER, "squared": [NUMBER], **WEIGHTED}
TIES = {"quasi": {"kind": str, **PLANE, "strict": int}, "overlap": {"kind": str, **WEIGHTED, "null": [VECTOR]}}
TIES["open"] = {"kind": str}  # whether there are ties was not determined, and nothing is proved about it


def conform(value: Any, shape: Any, where: str) -> None:
    """Raise ProofError unless a JSON value has a shape: a type, a pattern, [shape] or a closed dict of shapes."""
    if shape is VECTOR and type(value) is list:
        shape = [NUMBER]
    kind = {list: list, dict: dict, re.Pattern: str}.get(type(shape), shape)
    if type(value) is not kind:  # exactly: true is not 1 here
        raise ProofError(f"{where} is {short(value)}, not of type {kind.__name__}")
    if kind is dict:
        for key in [*shape, *value]:
            if key not in value or key not in shape:
                raise ProofError(f"{where} has {'no' if key in shape else 'an unknown'} field {short(key)}")
        for key in shape:
            conform(value[key], shape[key], f"{where}.{key}")
    elif kind is list:
        for i, item in enumerate(value):
            conform(item, shape[0], f"{where}[{i}]")
    elif kind is int and value < 0:
        raise ProofError(f"{where} is negative: {short(value)}")
    elif shape is NUMBER:
        try:
            parts(value)
        except ProofError as error:
            raise ProofError(f"{where}: {error.args[0]}") from None
    elif shape is HASH and not HASH.fullmatch(value):
        raise ProofError(f"{where} is {short(value)}, not 64 hexadecimal digits")
    elif shape is TEMPLATE and not TEMPLATE.fullmatch(value):
        raise ProofError(f"{where} is {short(value)}, not a template such as lower[-1] & lower")


def read_proof(text: str) -> dict[str, Any]:
    """Read a proof and check that all fields are present and of the right type; `check` checks what it states."""
    return conforming(parse(text))


def read_proofs(text: str) -> list[dict[str, Any]]:
    """Read a proof, or a list of proofs: one for each question, and copies of it count once."""
    value = parse(text)
    if value == []:
        raise ProofError("it is an empty list")
    proofs: dict[object, dict[str, Any]] = {}
    for each in map(conforming, value if type(value) is list else [value]):
        if "classes" in each["data"] or "sentences" in each["data"]:
            if value != each and value != [each]:
                about = "all classes together" if "classes" in each["data"] else "sentences"
                raise ProofError(f"it has several proofs, and one of them is about {about}")
            return [each]
        positive, negative = each["data"]["positive"], each["data"]["negative"]
        question = label_key(positive), None if negative is None else label_key(negative)
        if proofs.setdefault(question, each) != each:
            rest = "the rest" if negative is None else short(negative)
            raise ProofError(f"it has two different proofs for {short(positive)} and {rest}")
    return list(proofs.values())


def require_labels(proofs: Sequence[dict[str, Any]], labels: Iterable[object]) -> None:
    """Raise ProofError if one of several proofs is about a label that the data does not have.

    Each proof takes a pass over the data, so that there are at most as many as the square of the number of labels.
    """
    known = {label_key(text) for text in set(map(str, labels))} if len(proofs) > 1 else set()
    for proof in proofs if known else ():
        for label in (proof["data"]["positive"], proof["data"]["negative"]):
            if label is not None and label_key(label) not in known:
                raise ProofError(f"it is about other data: no row has the label {short(label)}")


def parse(text: str) -> Any:
    """Parse JSON; no object may have the same field twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise ProofError("an object has the same field twice")
        return fields

    try:
        return json.loads(text, object_pairs_hook=once)
    except RecursionError:
        raise ProofError("it is nested too deeply") from None
    except ProofError:
        raise
    except ValueError as error:  # not JSON, or an integer of thousands of digits
        raise ProofError(f"it is not JSON: {error}") from None


def conforming(proof: Any) -> dict[str, Any]:
    """Return a proof after checking that all fields are present and of the right type."""
    if type(proof) is not dict or proof.get("format") != "rosenblatt-proof":
        raise ProofError('it has no "format": "rosenblatt-proof"')
    if type(proof.get("version")) is not int or proof["version"] not in (1, 2):
        raise ProofError(f"it is of version {short(proof.get('version'))}, and this checker knows 1 and 2")
    verdict, data, ties = proof.get("verdict"), proof.get("data"), proof.get("ties")
    if type(verdict) is not str or verdict not in VERDICTS:
        raise ProofError(f"its verdict is {short(verdict)}, neither 'separable' nor 'inseparable'")
    shape: dict[str, Any] = {**PROOF, **VERDICTS[verdict]}
    if type(proof.get("reading", {})) is not dict:
        raise ProofError(f"proof.reading is {short(proof['reading'])}, not of type dict")
    told = {key: value for key, value in proof.items() if key != "reading"}
    if type(data) is dict and "classes" in data:
        conform(told, {**PROOF, "data": CLASS_DATA, **CLASS_VERDICTS[verdict]}, "proof")
        return proof
    if type(data) is dict and "sentences" in data:
        return conforming_sentences(proof)
    if proof["version"] == 2:
        shape["data"] = {**{key: DATA[key] for key in DATA if key != "sha256"}, "partitions": PARTITIONS}
    if type(data) is dict and data.get("negative", "") is None:
        shape["data"] = {**shape["data"], "negative": type(None)}
    if verdict == "separable" and "margin" in proof:
        shape["margin"] = MARGIN
    if verdict == "inseparable" and "ties" in proof:
        kind = ties.get("kind") if type(ties) is dict else None
        if type(kind) is not str or kind not in TIES:
            raise ProofError(f"proof.ties is of kind {short(kind)}, neither 'quasi' nor 'overlap' nor 'open'")
        shape["ties"] = TIES[kind]
    conform(told, shape, "proof")
    return proof


def conforming_sentences(proof: dict[str, Any]) -> dict[str, Any]:
    """Return a proof about sentences after checking that all fields are present and of the right type."""
    shape = {name: PROOF[name] for name in ("format", "version", "verdict")} | SENTENCE_VERDICTS[proof["verdict"]]
    shape["data"] = SENTENCES
    if proof["data"].get("templates", "") is None:  # the tokens are features by name
        shape["data"] = {**SENTENCES, "templates": type(None)}
        if proof["verdict"] == "separable":
            shape["scores"] = {**SCORES, "names": [str]}
    conform({key: value for key, value in proof.items() if key != "reading"}, shape, "proof")
    return proof


# ---- the data ---------------------------------------------------------------------------------------------------


def label_key(text: str) -> object:
    """Return the form in which labels are compared: a number if the text is one, else the text.

    >>> label_key(" 1.0 ") == label_key("1"), label_key("1_0") == label_key("10")
    (True, False)
    """
    text = text.strip(SPACE)
    return Decimal(text) if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?", text) else text


def signer(positive: str, negative: str | None) -> Callable[[object], int]:
    """Return a function from labels to signs: 1, −1, or 0 for any other class.

    >>> sign = signer("1", "0")
    >>> sign(1.0), sign(" 0 "), sign("spam")
    (1, -1, 0)
    """
    key = label_key
    plus, minus = key(positive), None if negative is None else key(negative)
    if plus == minus:
        raise ProofError(f"both classes have the label {short(positive)}")
    known: dict[str, int] = {}

    def sign(label: object) -> int:
        if (y := known.get(text := str(label))) is None:
            y = known[text] = 1 if key(text) == plus else -1 if minus is None or key(text) == minus else 0
        return y

    return sign


class RowFingerprint:
    """The SHA-256 of rows and signs, without zeros, so that it does not depend on how they are stored."""

    def __init__(self, width: int, *, classes: bool = False) -> None:
        self.width, self.rows = width, 0
        # Signs are one byte each; the numbers of several classes are eight.
        self.head, self.label = (b"rosenblatt-classes-1\n", "<Q") if classes else (b"rosenblatt-data-1\n", "b")
        self.digests = [sha256() for _ in range(4)]  # signs, numbers of non-zeros, their columns, their values
        self.all_columns = struct.pack(f"<{width}Q", *range(width))

    def add(self, row: list[float], sign: int) -> None:
        """Add the next row."""
        columns = self.all_columns
        if 0.0 in row:
            nonzero = [j for j, x in enumerate(row) if x]
            columns, row = struct.pack(f"<{len(nonzero)}Q", *nonzero), [row[j] for j in nonzero]
        pieces = (
            struct.pack(self.label, sign),
            struct.pack("<Q", len(row)),
            columns,
            struct.pack(f"<{len(row)}d", *row),
        )
        for digest, piece in zip(self.digests, pieces, strict=True):
            digest.update(piece)
        self.rows += 1

    def hexdigest(self) -> str:
        """Return the fingerprint of all rows so far."""
        head = self.head + struct.pack("<QQ", self.rows, self.width)
        return sha256(head + b"".join(digest.digest() for digest in self.digests)).hexdigest()

    def difference(self, data: dict[str, Any]) -> str:
        """Return how the rows differ from those of a proof, or nothing."""
        same = self.rows == data["rows"] and self.hexdigest() == data["sha256"]
        return "" if same else f"these {self.rows} rows have SHA-256 {self.hexdigest()}"


class PartFingerprints:
    """The fingerprints of rows in the partitions that a proof of version 2 lists."""

    def __init__(self, width: int, partitions: Sequence[dict[str, Any]]) -> None:
        self.width, self.partitions, self.rows, self.at, self.fault = width, partitions, 0, 0, ""
        self.part = RowFingerprint(width)

    def add(self, row: list[float], sign: int) -> None:
        """Add the next row, and look at the fingerprint where a partition ends."""
        self.rows += 1
        if self.at == len(self.partitions):
            return
        self.part.add(row, sign)
        wanted = self.partitions[self.at]
        if self.part.rows == wanted["rows"]:
            if not self.fault and self.part.hexdigest() != wanted["sha256"]:
                self.fault = f"partition {self.at} has SHA-256 {self.part.hexdigest()}"
            self.at, self.part = self.at + 1, RowFingerprint(self.width)

    def difference(self, data: dict[str, Any]) -> str:
        """Return how the rows differ from those of a proof, or nothing."""
        whole = self.at == len(self.partitions) and not self.part.rows
        if not whole or not self.rows == data["rows"] == sum(part["rows"] for part in self.partitions):
            return self.fault or f"these {self.rows} rows are not its {len(self.partitions)} partitions"
        return self.fault


def fingerprint(rows: Iterable[Sequence[float]], signs: Iterable[int], width: int) -> str:
    """Return the SHA-256 of data, as in proofs; signs are 1, −1 or 0.

    >>> fingerprint([[0.5, 0.0]], [1], 2) == fingerprint([[0.5, -0.0]], [1], 2)
    True
    """
    made = RowFingerprint(width)
    for row, sign in zip(rows, signs, strict=True):
        made.add([float(x) for x in row], sign)
    return made.hexdigest()


def read_table(
    path: str, *, target: str | None = None, delimiter: str | None = None, header: bool | None = None
) -> Iterator[tuple[list[float], str]]:
    """Yield each row of a CSV or TSV file in UTF-8, with its label; empty lines are skipped.

    `target` is the name or the position, from 1, of the column of labels; by default the last. The delimiter is by
    default a comma, or a tab if the path ends in .tsv or .tab. The first line holds names if `header` says so, or
    by default if none of its features is a number.
    """
    delimiter = delimiter or ("\t" if path.lower().endswith((".tsv", ".tab")) else ",")
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(bounded_lines(file), delimiter=delimiter, strict=True)
        first: list[str] = []
        try:
            for cells in filter(None, lines):
                if not first:
                    first, place = cells, find_column(target, cells)
                    features = cells[:place] + cells[place + 1 :]
                    if header or (header is None and not any(map(is_number, features))):
                        continue
                if len(cells) != len(first):
                    raise DataError(f"line {lines.line_num} has {len(cells)} columns, the first has {len(first)}")
                features = cells[:place] + cells[place + 1 :]
                try:
                    row = list(map(float, features))
                    fine = is_plain("".join(features)) and all(map(isfinite, row))
                    fine = fine and (max(map(abs, row)) < EXACT or all(map(is_exact, features)))
                except ValueError:
                    fine = False
                if not fine:
                    j = next(j for j, x in enumerate(features) if not is_exact(x))
                    raise DataError(
                        f"line {lines.line_num}, column {j + 1 + (j >= place)}: {short(features[j])} is not a "
                        "finite number, or float64 rounds it (the option header is for names, target for labels)"
                    )
                yield row, cells[place]
        except csv.Error as error:
            raise DataError(f"line {lines.line_num}: {error}") from None
        except UnicodeDecodeError as error:
            raise DataError(f"after line {lines.line_num}: not UTF-8, {error.reason}") from None


def bounded_lines(file: Any) -> Iterator[str]:
    """Yield the lines of a text; raise DataError for one that is too long to be held."""
    while line := file.readline(LARGEST_FILE + 1):
        if len(line) > LARGEST_FILE:
            raise DataError(f"a line has more than {LARGEST_FILE} characters")
        yield line


def is_plain(text: str) -> bool:
    """Return whether numbers in a text have only ASCII digits, without the underscores of Python."""
    return text.isascii() and "_" not in text


def is_number(cell: str) -> bool:
    """Return whether a cell is a number.

    >>> is_number(" -1.5e3"), is_number("1_0"), is_number("\N{FULLWIDTH DIGIT ONE}")
    (True, False, False)
    """
    try:
        float(cell)
    except ValueError:
        return False
    return is_plain(cell)


def is_exact(cell: str) -> bool:
    """Return whether a cell is a finite number; an integer that float64 would round is none."""
    x = float(cell) if is_number(cell) else inf
    return isfinite(x) and (abs(x) < EXACT or re.search("[.eE]", cell) is not None or Decimal(cell) == x)


WORD_ID = re.compile(r"([1-9][0-9]*)|[0-9]+-[0-9]+|[0-9]+\.[0-9]+", re.ASCII)
CONLLU = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]


def read_sentences(
    path: str, *, columns: Sequence[str], label: str, format: str | None = None
) -> Iterator[tuple[list[tuple[str, ...]], list[str]]]:
    """Yield the tokens and labels of each sentence of a file in UTF-8.

    `columns` are the fields of a token, by name. The format is "conllu", by default if the path ends in .conllu or
    .conllup, or "conll": fields called 1, 2, and so on, separated by tabs, or by blanks if the first token has no
    tab. An empty line ends a sentence.
    """
    conllu = path.lower().endswith((".conllu", ".conllup")) if format is None else format == "conllu"
    first = "" if conllu else first_token(path)
    tabs = conllu or "\t" in first
    names = CONLLU if conllu else [str(k + 1) for k in range(len(split_line(first, tabs)))]
    tokens: list[list[str]] = []
    places: list[int] = []
    line_number = 0

    def sentence() -> tuple[list[tuple[str, ...]], list[str]]:
        found = [tuple(token[k] for k in places[:-1]) for token in tokens], [token[places[-1]] for token in tokens]
        tokens.clear()
        return found

    with open(path, encoding="utf-8-sig", newline="\n") as file:
        try:
            for line_number, line in enumerate(bounded_lines(file), 1):
                text = line.removesuffix("\n").removesuffix("\r")
                if not text.strip(" \t"):
                    if tokens:
                        yield sentence()
                    continue
                if conllu and text.startswith("#"):
                    if tokens:
                        raise DataError(f"line {line_number}: a comment stands within a sentence")
                    if named := re.fullmatch(r"#\s*global\.columns\s*=\s*(.+)", text):
                        names = named[1].lower().split()
                    continue
                fields = split_line(text, tabs)
                if len(fields) != len(names):
                    if conllu or tokens or not text.startswith("#"):
                        raise DataError(f"line {line_number} has {len(fields)} fields, not {len(names)}")
                    continue
                if "" in fields:
                    raise DataError(f"line {line_number}: field {fields.index('') + 1} is empty")
                if not places:
                    places = [find_name(each, names) for each in [*columns, label]]
                if (
                    conllu
                    and "id" in names
                    and not is_word(fields[names.index("id")], len(tokens) + 1, line_number)
                ):
                    continue
                if conllu or fields[0] != "-DOCSTART-":
                    tokens.append(fields)
            if tokens:
                yield sentence()
        except UnicodeDecodeError as error:
            raise DataError(f"after line {line_number}: not UTF-8, {error.reason}") from None


def first_token(path: str) -> str:
    """Return the first line that is neither empty nor begins with #; it tells how columns are separated."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="\n") as file:
        lines = (line.removesuffix("\n").removesuffix("\r") for line in bounded_lines(file))
        return next((text for text in lines if text.strip(" \t") and not text.startswith("#")), "")


def split_line(text: str, tabs: bool) -> list[str]:
    """Return the fields of a line, separated by tabs or by blanks."""
    return text.split("\t") if tabs else re.split("[ \t]+", text.strip(" \t"))


def find_name(name: str, names: list[str]) -> int:
    """Return the index of a column of sentences."""
    if name not in names:
        raise DataError(
            f"there is no column {short(name)} among {', '.join(names)} (see the options columns, label, format)"
        )
    return names.index(name)


def is_word(written: str, expected: int, line: int) -> bool:
    """Return whether an id of CoNLL-U is that of a word, not of a range (1-2) or an empty node (8.1)."""
    found = WORD_ID.fullmatch(written)
    if found is None or (found[1] and int(written[:9]) != expected):
        raise DataError(
            f"line {line}: the id is {short(written)}, but {expected}, a range or an empty node is due"
        )
    return found[1] is not None


def find_column(target: str | None, names: list[str]) -> int:
    """Return the index of the column of labels."""
    if len(names) < 2:
        raise DataError("the first line has one column, but features and a label are needed (see delimiter)")
    if target is None:
        return len(names) - 1
    if re.fullmatch("[0-9]{1,9}", target):  # a number is always a position, even if a column has it as its name
        place = int(target) - 1
    else:
        place = names.index(target) if target in names else -1
    if not 0 <= place < len(names):
        raise DataError(f"target {short(target)} is neither a name in the first line nor 1 to {len(names)}")
    return place


# ---- what is proved ---------------------------------------------------------------------------------------------


def entries(value: Any, width: int, where: str) -> tuple[Sequence[int], list[str], str]:
    """Return the columns and numbers of a VECTOR of this length, and its name for errors."""
    columns, texts = (value["columns"], value["values"]) if isinstance(value, dict) else (range(width), value)
    if len(columns) != len(texts):
        raise ProofError(f"{where} has {len(texts)} numbers for {len(columns)} columns")
    if any(j >= k for j, k in zip(columns, [*columns[1:], width], strict=False)):
        raise ProofError(f"the columns of {where} do not increase within 0 to {width - 1}")
    return columns, texts, where


def plane(proof: dict[str, Any], width: int) -> tuple[Side | None, int]:
    """Return the hyperplane of a proof, or None, and the smallest sign allowed for y f(x) − least."""
    ties, margin = proof.get("ties", {}), proof.get("margin", {})
    source = proof.get("hyperplane", ties)
    if "w" not in source:
        return None, 0
    columns, texts, _ = entries(source["w"], width, "w")
    exact = vector([*columns, width, width + 1], [*texts, source["b"], margin.get("least", "0x0")], "w")
    (b, _), (least, _) = exact.pairs[-2:]
    if b and not proof["bias"]:
        raise ProofError("it is about hyperplanes through the origin, but b is not 0")
    if margin and least <= 0:  # a positive margin proves that rows are strictly on their side
        raise ProofError("margin.least is not above 0")
    return Side(exact, width), 0 if margin or ties else 1


def weigh(part: dict[str, Any], kept: Kept, where: str) -> tuple[Vector, list[int]]:
    """Return weight_i y_i as a vector over the rows of a part, and the y_i; weights must be positive."""
    rows, weights = part["rows"], vector(range(len(part["weights"])), part["weights"], where)
    if not rows or len(rows) != len(weights.pairs) or len(set(rows)) != len(rows):
        raise ProofError(f"{where} does not give one or more different rows a weight each")
    for i, (m, _) in zip(rows, weights.pairs, strict=True):
        if i not in kept or not kept[i][1]:
            raise ProofError(f"{where}: there is no row {short(i)} of either class")
        if m <= 0:
            raise ProofError(f"{where}: the weight of row {i} is not above 0")
    signs = [kept[i][1] for i in rows]
    return weights._replace(pairs=[(y * m, e) for y, (m, e) in zip(signs, weights.pairs, strict=True)]), signs


def check_zero(part: dict[str, Any], kept: Kept, where: str) -> None:
    """Raise ProofError unless Σ weight_i z_i = 0."""
    weights, _ = weigh(part, kept, where)
    for j, column in enumerate(zip(*(kept[i][0] for i in part["rows"]), strict=True)):
        if weights.dot(column)[0]:
            raise ProofError(f"{where}: Σ weight·z is not 0 in column {j}")


def check_margin(proof: dict[str, Any], kept: Kept, width: int) -> str:
    """Raise ProofError unless w and the weighted rows prove the bounds of γ²; return the bounds in words."""
    margin, bias = proof["margin"], proof["bias"]
    if len(margin["squared"]) != 2:
        raise ProofError("margin.squared is not a pair")
    low, high = map(number, margin["squared"])
    w = vector(*entries(proof["hyperplane"]["w"], width, "w"))
    norm = over(total((m * m, 2 * e) for m, e in w.pairs), w.denominator**2)
    if not 0 < low <= high or low * norm > number(margin["least"]) ** 2:
        raise ProofError("w and margin.least do not prove the lower bound of the squared margin")
    weights, signs = weigh(margin, kept, "margin")
    for y in (1, -1) if bias else (0,):
        chosen = ((m * s, e) for s, (m, e) in zip(signs, weights.pairs, strict=True) if y in (0, s))
        if over(total(chosen), weights.denominator) != 1:
            raise ProofError("margin: the weights do not sum to 1" + " in each class" * bias)
    columns = zip(*(kept[i][0][:width] for i in margin["rows"]), strict=True)
    square = total((m * m, 2 * e) for m, e in map(weights.dot, columns))
    if over(square, weights.denominator**2) > high * (4 if bias else 1):
        raise ProofError("the weighted rows do not prove the upper bound of the squared margin")
    return f"; the largest margin γ has {readable(low)} ≤ γ² ≤ {readable(high)}"


def check_overlap(ties: dict[str, Any], null: list[Vector], kept: Kept, length: int) -> None:
    """Raise ProofError unless the rows sum to 0 and span the complement of independent null vectors."""
    check_zero(ties, kept, "ties")
    rows = []
    for i in ties["rows"]:
        ratios = [x.as_integer_ratio() for x in kept[i][0]]
        rows.append(Vector(range(length), [(p, 1 - q.bit_length()) for p, q in ratios]))
    if not has_rank(null, length, len(null)):
        raise ProofError("ties: the null vectors are not independent")
    if not has_rank(rows, length, length - len(null)):
        raise ProofError(f"ties: the rows do not span {length - len(null)} dimensions")


def check(proof: dict[str, Any], rows: Iterable[Any], labels: Iterable[Any]) -> str:
    """Return in words what a proof from `read_proof` proves about the data; raise ProofError if it does not hold.

    Rows and labels are read once, in parallel. Labels are compared as numbers if both are numbers, else as text.
    Of a proof about sentences, rows are sequences of tokens, and labels are sequences of texts, compared as such.
    """
    if "classes" in proof["data"]:
        return check_classes(proof, rows, labels)
    if "sentences" in proof["data"]:
        return check_sentences(proof, rows, labels)
    data, bias, ties = proof["data"], proof["bias"], proof.get("ties", {})
    width, sign = data["features"], signer(data["positive"], data["negative"])
    table = ((list(map(float, row)), sign(label)) for row, label in zip(rows, labels, strict=True))
    first = next(table, None)
    if first is None:
        raise DataError("the data has no rows")
    if len(first[0]) != width:  # checked before any vector of this length is created
        raise ProofError(f"it is about other data: with {short(width)} features, not {len(first[0])}")
    side, least = plane(proof, width)
    length = width + bias
    if len(ties.get("null", ())) > length:
        raise ProofError("ties: there are more null vectors than dimensions")
    null = [vector(*entries(v, length, "a null vector")) for v in ties.get("null", ())]
    wanted = {i for part in ("combination", "margin", "ties") for i in proof.get(part, {}).get("rows", ())}
    kept: Kept = {}
    counts, strict, fault = {1: 0, -1: 0, 0: 0}, 0, ""
    digest = PartFingerprints(width, data["partitions"]) if "partitions" in data else RowFingerprint(width)
    for i, (row, y) in enumerate(chain([first], table)):
        if len(row) != width or not all(map(isfinite, row)):
            raise DataError(f"row {i} does not have {width} finite values")
        digest.add(row, y)
        counts[y] += 1
        z = [*row, 1.0] if bias else row
        if i in wanted:
            kept[i] = z, y
        if not y or fault:  # after a fault only the fingerprint matters
            continue
        s = side.sign(row, y) if side else 0
        strict += s > 0
        if s < least:
            fault = f"row {i} is not on its side of the hyperplane" + ", by margin.least" * ("margin" in proof)
        if any(v.dot(z)[0] for v in null):
            fault = f"ties: a null vector is not orthogonal to row {i}"
    if difference := digest.difference(data):
        raise ProofError(f"it is about other data: {difference}")
    if fault or not counts[1] + counts[-1]:
        raise ProofError(fault or "no row belongs to its classes")
    others = "any other" if data["negative"] is None else repr(data["negative"])
    about = f"{data['positive']!r} ({counts[1]} rows) and {others} ({counts[-1]} rows)"
    planes = "hyperplane" if bias else "hyperplane through the origin"
    if proof["verdict"] == "separable":
        shown = check_margin(proof, kept, width) if "margin" in proof else ""
        return f"Separable: a {planes} has {about} strictly on its two sides{shown}."
    check_zero(proof["combination"], kept, "combination")
    shown = ""
    if "strict" in ties:
        if not 1 <= strict == ties["strict"]:
            raise ProofError(f"ties: {strict} rows are strictly on their side, not {short(ties['strict'])}")
        shown = f"; with ties one does, {strict} rows strictly"
    elif ties and ties["kind"] == "open":
        shown = "; whether one does with ties was not determined"
    elif ties:
        check_overlap(ties, null, kept, length)
        shown = "; one that has no row on its wrong side has all rows on it"
    return f"Inseparable: no {planes} has {about} strictly on its two sides{shown}."


class Functions:
    """Linear functions, one for each class, and whether that of one class is above all others on a row."""

    def __init__(self, proof: dict[str, Any], width: int) -> None:
        planes, count = proof["hyperplanes"], len(proof["data"]["classes"])
        if len(planes) != count or count * (width + 1) > LARGEST_MATRIX:
            raise ProofError(f"it has {len(planes)} hyperplanes of {width} features for {count} classes")
        columns: list[int] = []
        texts: list[str] = []
        for k, each in enumerate(planes):
            own, numbers, _ = entries(each["w"], width, f"hyperplanes[{k}].w")
            columns += [k * (width + 1) + j for j in [*own, width]]
            texts += [*numbers, each["b"]]
        exact = vector(columns, texts, "the hyperplanes")  # over one denominator, which changes no comparison
        top = max((m.bit_length() + e for m, e in exact.pairs if m), default=0)
        self.exact: list[tuple[list[int], list[Pair]]] = [([], []) for _ in planes]
        self.floats = [[0.0] * (width + 1) for _ in planes]
        for place, (m, e) in zip(columns, exact.pairs, strict=True):
            k, j = divmod(place, width + 1)
            self.exact[k][0].append(j)
            self.exact[k][1].append((m, e))
            self.floats[k][j] = m / (1 << (top - e)) if m else 0.0
            if m and j == width and not proof["bias"]:
                raise ProofError("it is about functions without a bias, but a b is not 0")

    def about(self, k: int, values: list[float]) -> tuple[float, float]:
        """Return a score in floats, and the bound of its error that `Side.sign` proves."""
        products = list(map(mul, self.floats[k], values))
        bound = 2.0**-50 * sum(map(abs, products)) + 2.0**-1074 * (sum(map(abs, values)) + 2 * len(values) + 8)
        try:
            return fsum(products), bound
        except OverflowError:
            return 0.0, inf

    def rival(self, row: list[float], own: int) -> int | None:
        """Return a class whose function is not strictly below that of the row's own class; None if all are."""
        values = [*row, 1.0]
        f, bound = self.about(own, values)
        for k in range(len(self.floats)):
            if k == own:
                continue
            g, other = self.about(k, values)
            if bound + other < inf and f - g > bound + other:
                continue
            (m, e), (n, d) = (Vector(*self.exact[c]).dot(values) for c in (own, k))
            if total([(m, e), (-n, d)])[0] <= 0:
                return k
        return None


def check_classes(proof: dict[str, Any], rows: Iterable[Sequence[float]], labels: Iterable[object]) -> str:
    """Return in words what a proof about all classes together proves; raise ProofError if it does not hold."""
    data, bias, classes = proof["data"], proof["bias"], proof["data"]["classes"]
    width, number_of = data["features"], {label_key(label): k for k, label in enumerate(classes)}
    if len(number_of) < len(classes) or len(classes) < 2:
        raise ProofError("its classes are fewer than two, or two of them are the same")
    known: dict[str, int] = {}
    part = proof.get("combination", {"rows": [], "rivals": [], "weights": []})
    wanted, kept = set(part["rows"]), dict[int, tuple[list[float], int]]()
    functions, fault, digest = None, "", RowFingerprint(0, classes=True)
    for i, (cells, label) in enumerate(zip(rows, labels, strict=True)):
        row = list(map(float, cells))
        if len(row) != width:  # checked before any vector of this length is created
            raise ProofError(f"it is about other data: with {short(width)} features, not {len(row)}")
        if not i:
            digest = RowFingerprint(width, classes=True)
        if not all(map(isfinite, row)):
            raise DataError(f"row {i} does not have {width} finite values")
        if (own := known.get(text := str(label), -1)) < 0:
            own = known[text] = number_of.get(label_key(text), -1)
            if own < 0:
                raise ProofError(f"it is about other data: row {i} has the label {short(text)}")
        digest.add(row, own)
        if i in wanted:
            kept[i] = [*row, 1.0] if bias else row, own
        if proof["verdict"] == "separable" and not fault:
            functions = functions or Functions(proof, width)
            if (rival := functions.rival(row, own)) is not None:
                fault = f"on row {i} the function of its class is not above that of {short(classes[rival])}"
    if not digest.rows:
        raise DataError("the data has no rows")
    if difference := digest.difference(data):
        raise ProofError(f"it is about other data: {difference}")
    if fault:
        raise ProofError(fault)
    about = f"{len(classes)} classes, {digest.rows} rows"
    planes = "linear functions" if bias else "linear functions without a bias"
    if proof["verdict"] == "separable":
        return (
            f"Separable: on every row one of {planes} is strictly above all others, that of its class ({about})."
        )
    check_clash(part, kept, len(classes))
    return f"Inseparable: no {planes} have, on every row, that of its class strictly above all others ({about})."


def check_clash(part: dict[str, Any], kept: dict[int, tuple[list[float], int]], count: int) -> None:
    """Raise ProofError unless, for each class, its rows and those it is the rival of sum to the same."""
    chosen, rivals = part["rows"], part["rivals"]
    weights = vector(range(len(part["weights"])), part["weights"], "combination")
    pairs = set(zip(chosen, rivals, strict=False))
    if not chosen or not len(chosen) == len(rivals) == len(weights.pairs) == len(pairs):
        raise ProofError("combination does not give one or more different rows and rivals a weight each")
    parts: dict[int, list[tuple[int, Pair]]] = {}
    for i, k, (m, e) in zip(chosen, rivals, weights.pairs, strict=True):
        if i not in kept or k >= count or k == kept[i][1]:
            raise ProofError(f"combination: there is no row {short(i)} with the rival {short(k)}")
        if m <= 0:
            raise ProofError(f"combination: a weight of row {i} is not above 0")
        parts.setdefault(kept[i][1], []).append((i, (m, e)))
        parts.setdefault(k, []).append((i, (-m, e)))
    for k, terms in parts.items():
        signed = Vector(range(len(terms)), [pair for _, pair in terms])
        for j, column in enumerate(zip(*(kept[i][0] for i, _ in terms), strict=True)):
            if signed.dot(column)[0]:
                raise ProofError(f"combination: the rows for and against class {k} differ in column {j}")


# ---- sentences --------------------------------------------------------------------------------------------------

Token = (
    Any  # a text, or a tuple of texts; without templates a dict from features to numbers, or a list of features
)
Feature = Any  # (template, value, value, …), or a name


def column_text(token: Token, column: str) -> str:
    """Return the text of a column of a token: its form, a number for one of its fields, or made from the form.

    >>> column_text("McDonald", "shape"), column_text(("Cats", "NNS"), "1"), column_text("cats", "suffix2")
    ('XxXx', 'NNS', 'ts')
    """
    fields = (token,) if isinstance(token, str) else token
    if column.isdigit():
        return str(fields[int(column)])
    form = str(fields[0])
    if column in ("form", "lower"):
        return form if column == "form" else form.lower()
    if column == "shape":
        letters = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in form]
        return "".join(c for i, c in enumerate(letters) if i == 0 or letters[i - 1] != c)
    length = int(column[6:])
    return form[:length] if column.startswith("prefix") else form[-length:]


class TokenReader:
    """Finds the features of tokens as the templates of a proof say; without templates tokens hold features."""

    def __init__(self, templates: Sequence[str] | None) -> None:
        self.templates = None if templates is None else [self.split(each) for each in templates]
        columns = dict.fromkeys(column for template in self.templates or () for column, _ in template)
        self.columns = {column: k for k, column in enumerate(columns)}
        self.fields = sorted({int(column) if column.isdigit() else 0 for column in columns})
        self.known: dict[Token, tuple[str, ...]] = {}

    @staticmethod
    def split(template: str) -> list[tuple[str, int]]:
        """Return the pairs of column and offset of a template.

        >>> TokenReader.split("lower[-1] & lower")
        [('lower', -1), ('lower', 0)]
        """
        parts = (part.partition("[") for part in template.split(" & "))
        return [(column, int(offset[:-1] or 0)) for column, _, offset in parts]

    def texts(self, token: Token) -> list[str]:
        """Return the fields of a token that templates use."""
        fields: tuple[Any, ...] = token if isinstance(token, tuple) else (token,)
        there = [fields[k] for k in self.fields if k < len(fields)]
        if not all(isinstance(text, str) for text in there):
            raise DataError(f"{short(token)} is not a text or a tuple of texts")
        if len(there) < len(self.fields):
            raise ProofError(f"the token {short(token)} has no field {self.fields[-1]}, which a template uses")
        return there

    def bag(self, token: Token) -> list[tuple[str, float]]:
        """Return the features of a token without templates, with their values."""
        items = token.items() if isinstance(token, dict) else token
        return [(item, 1.0) if isinstance(item, str) else (item[0], float(item[1])) for item in items]

    def sentence(self, tokens: Sequence[Token]) -> list[list[tuple[Feature, Fraction | int]]]:
        """Return the features of each token of a sentence, with their values."""
        if self.templates is None:
            return [[(name, Fraction(value)) for name, value in self.bag(token)] for token in tokens]
        table = [self.known.get(token) or self.values(token) for token in tokens]
        found: list[list[tuple[Feature, Fraction | int]]] = []
        for i in range(len(tokens)):
            own: list[tuple[Feature, Fraction | int]] = []
            for k, template in enumerate(self.templates):
                key: list[object] = [k]
                for column, offset in template:
                    at = i + offset  # before the first token the value is 0, behind the last one 1
                    key.append(0 if at < 0 else 1 if at >= len(table) else table[at][self.columns[column]])
                own.append((tuple(key), 1))
            found.append(own)
        return found

    def values(self, token: Token) -> tuple[str, ...]:
        """Return the texts of all columns of a token, and remember them."""
        self.known[token] = found = tuple(column_text(token, column) for column in self.columns)
        return found


class SentenceFingerprint:
    """The SHA-256 of tokens and labels: of the fields that templates use, or of the sorted features."""

    def __init__(self, reader: TokenReader) -> None:
        self.reader, self.digest, self.sentences, self.tokens = reader, sha256(b"rosenblatt-sentences-1\n"), 0, 0

    def add(self, tokens: Sequence[Token], codes: Sequence[int]) -> None:
        """Add the next sentence."""
        pieces = [struct.pack("<Q", len(tokens))]
        for token, code in zip(tokens, codes, strict=True):
            if self.reader.templates is None:
                bag = sorted(self.reader.bag(token))
                pieces.append(struct.pack("<Q", len(bag)))
                texts = [name for name, _ in bag]
                pieces.append(struct.pack(f"<{len(bag)}d", *(value for _, value in bag)))
            else:
                texts = self.reader.texts(token)
            for text in texts:
                encoded = text.encode("utf-8", "surrogatepass")
                pieces += [struct.pack("<Q", len(encoded)), encoded]
            pieces.append(struct.pack("<Q", code))
        self.digest.update(b"".join(pieces))
        self.sentences += 1
        self.tokens += len(tokens)

    def hexdigest(self) -> str:
        """Return the fingerprint of all sentences so far."""
        return self.digest.hexdigest()


def emission(features: Iterable[tuple[Any, int]], weights: dict[Any, list[int]], n_labels: int) -> list[int]:
    """Return the score of each label for a token: Σ value·weight over its features."""
    known = [(weights[feature], value) for feature, value in features if feature in weights]
    if not known:
        return [0] * n_labels
    if all(value == 1 for _, value in known):
        return list(map(sum, zip(*(row for row, _ in known), strict=True)))
    return [sum(value * row[label] for row, value in known) for label in range(n_labels)]


def smallest_gap(
    scores: Sequence[Sequence[int]],
    truth: Sequence[int],
    pairs: Sequence[Sequence[int]],
    forbidden: Sequence[Sequence[bool]],
    may_end: Sequence[bool],
) -> int | None:
    """Return the score of the truth minus that of the best other labelling; None if there is no other.

    `scores` has a row for each token. `pairs` and `forbidden` have a row for each label before, the last one for
    the start. For each label the best path that has left the truth is kept, beside the truth (Viterbi 1967).

    >>> smallest_gap([[2, 0], [0, 3]], [0, 1], [[0, 0], [0, -4], [0, 0]], [[False] * 2] * 3, [True] * 2)
    3
    """
    labels = range(len(may_end))
    most = sum(max(map(abs, row)) for row in scores) + len(scores) * max(abs(x) for row in pairs for x in row)
    never = -4 * most - 1  # less than any score, also with an allowed score added to it
    table = [
        [never if bad else x for x, bad in zip(*rows, strict=True)] for rows in zip(pairs, forbidden, strict=True)
    ]
    start, columns = table[-1], list(zip(*table[:-1], strict=True))
    on_truth = start[truth[0]] + scores[0][truth[0]]
    left = [never if label == truth[0] else start[label] + scores[0][label] for label in labels]
    for i in range(1, len(scores)):
        before, own, score = table[truth[i - 1]], truth[i], scores[i]
        new = [max(map(add, left, column)) for column in columns]
        left = [
            (new[label] if label == own else max(new[label], on_truth + before[label])) + score[label]
            for label in labels
        ]
        on_truth += before[own] + score[own]
    ends = [left[label] for label in labels if may_end[label] and left[label] >= -most]
    return on_truth - max(ends) if ends else None


class ReadSentences(NamedTuple):
    """Sentences that have the fingerprint of a proof, with their labels as numbers."""

    reader: TokenReader
    tokens: list[list[Token]]
    codes: list[list[int]]
    forbidden: list[list[bool]]  # a row for each label before, the last one for the start
    may_end: list[bool]


def sentences_of(
    proof: dict[str, Any], rows: Iterable[Sequence[Token]], labels: Iterable[Sequence[object]]
) -> ReadSentences:
    """Return the sentences if they are those of the proof."""
    data = proof["data"]
    names, number_of = data["labels"], {label: k for k, label in enumerate(data["labels"])}
    if len(number_of) < len(names) or not names:
        raise ProofError("it has no labels, or two of them are the same")
    reader, n = TokenReader(data["templates"]), len(names)
    if data["templates"] is not None and not 0 < len(data["templates"]) <= MOST_TEMPLATES:
        raise ProofError(f"it has {len(data['templates'])} templates, not 1 to {MOST_TEMPLATES}")
    fingerprint, kept, codes, seen = SentenceFingerprint(reader), [], [], set()
    for i, (tokens, own) in enumerate(zip(rows, labels, strict=True)):
        numbers = [number_of.get(str(label), -1) for label in own]
        if len(tokens) != len(numbers):
            raise DataError(f"sentence {i} has {len(tokens)} tokens and {len(numbers)} labels")
        if -1 in numbers:
            raise ProofError(
                f"it is about other data: sentence {i} has the label {short(str(own[numbers.index(-1)]))}"
            )
        fingerprint.add(tokens, numbers)
        kept.append(list(tokens))
        codes.append(numbers)
        seen.update(numbers)
    found = fingerprint.hexdigest()
    if (data["sentences"], data["tokens"], data["sha256"]) != (fingerprint.sentences, fingerprint.tokens, found):
        raise ProofError(f"it is about other data: these {len(kept)} sentences have SHA-256 {found}")
    if len(seen) < n:  # the work grows with the square of the number of labels
        raise ProofError("it has a label that no token has")
    if any(i >= len(kept) for i in data["without"]):
        raise ProofError(f"it leaves out a sentence that there is not: there are {len(kept)}")
    forbidden, may_end = [[False] * n for _ in range(n + 1)], [True] * n
    for pair in data["forbidden"]:
        if len(pair) != 2 or max(pair) > n or pair == [n, n]:
            raise ProofError(
                f"{short(pair)} is not a pair of labels from 0 to {n - 1}, with {n} for start and end"
            )
        if pair[1] == n:
            may_end[pair[0]] = False
        else:
            forbidden[pair[0]][pair[1]] = True
    for i, own in enumerate(codes):
        if not is_allowed(own, forbidden, may_end):
            raise ProofError(f"it forbids the true labels of sentence {i}")
    return ReadSentences(reader, kept, codes, forbidden, may_end)


def is_allowed(codes: Sequence[int], forbidden: list[list[bool]], may_end: list[bool]) -> bool:
    """Return whether a labelling has no forbidden pair of neighbours."""
    befores = [len(may_end), *codes[:-1]]
    return not codes or (
        not any(forbidden[k][c] for k, c in zip(befores, codes, strict=True)) and may_end[codes[-1]]
    )


def check_sentences(
    proof: dict[str, Any], rows: Iterable[Sequence[Token]], labels: Iterable[Sequence[object]]
) -> str:
    """Return in words what a proof about sentences proves; raise ProofError if it does not hold."""
    read, data = sentences_of(proof, rows, labels), proof["data"]
    left_out, n = set(data["without"]), len(data["labels"])
    taking_part = [i for i, tokens in enumerate(read.tokens) if tokens and i not in left_out]
    about = f"{len(taking_part)} sentences, {n} labels"
    if left_out:
        about += f"; {len(left_out)} of {data['sentences']} sentences are left out"
    if proof["verdict"] == "inseparable":
        check_exchange(proof["combination"], read, set(taking_part))
        return f"Inseparable: no weights label every sentence correctly ({about})."
    least, square = check_scores(proof, read, taking_part)
    shown = "" if least is None else f"; the largest margin γ has γ² ≥ {readable(Fraction(least * least, square))}"
    return (
        f"Separable: weights have the true labelling of every sentence strictly above all others ({about}){shown}."
    )


def whole_table(value: Any, width: int, n_labels: int, where: str) -> dict[int, list[int]]:
    """Return the whole numbers of a VECTOR as rows of a table; rows without any are left out."""
    table: dict[int, list[int]] = {}
    if width * n_labels > LARGEST_LIST:
        raise ProofError(f"{where} has too many rows: {short(width)}")
    for place, text in zip(*entries(value, width * n_labels, where)[:2], strict=True):
        top, _, _ = parts(text)
        if "p" in text or "/" in text or top.bit_length() > LARGEST_SCORE:
            raise ProofError(f"{where}: {short(text)} is not a whole number of up to {LARGEST_SCORE} bits")
        if top:
            table.setdefault(place // n_labels, [0] * n_labels)[place % n_labels] = top
    return table


def check_scores(
    proof: dict[str, Any], read: ReadSentences, taking_part: list[int]
) -> tuple[int | Fraction | None, int]:
    """Return the smallest gap of all sentences, and ‖w‖²; raise ProofError if a gap is not above 0."""
    data, scores = proof["data"], proof["scores"]
    n, width = len(data["labels"]), scores["count"]
    table = whole_table(scores["features"], width, n, "scores.features")
    held = whole_table(scores["pairs"], n + 1, n, "scores.pairs")
    pairs = [held.get(k, [0] * n) for k in range(n + 1)]
    numbers: dict[Feature, int] = {name: i for i, name in enumerate(scores.get("names", ()))}
    if "names" in scores and not len(numbers) == len(scores["names"]) == width:
        raise ProofError("scores.names are not as many different names as there are features")
    wanted, least = set(taking_part), None
    for i, tokens in enumerate(read.tokens):
        features = read.reader.sentence(tokens)
        numbered: list[list[tuple[int, Any]]] = []
        for own in features:
            if data["templates"] is None:
                numbered.append([(numbers[name], value) for name, value in own if name in numbers])
            else:
                numbered.append([(numbers.setdefault(key, len(numbers)), value) for key, value in own])
        if i in wanted:
            gap = smallest_gap(
                [emission(own, table, n) for own in numbered], read.codes[i], pairs, read.forbidden, read.may_end
            )
            if gap is not None and gap <= 0:
                raise ProofError(f"the true labelling of sentence {i} is not strictly above all others")
            least = gap if least is None else least if gap is None else min(least, gap)
    if len(numbers) != width:
        raise ProofError(f"it is about other data: with {short(width)} features, not {len(numbers)}")
    return least, sum(x * x for row in (*table.values(), *pairs) for x in row)


def check_exchange(part: dict[str, Any], read: ReadSentences, taking_part: set[int]) -> None:
    """Raise ProofError unless Σ weight·Δ = 0, Δ being the features of the truth minus those of a labelling."""
    sentences, labellings = part["sentences"], part["labellings"]
    weights = vector(range(len(part["weights"])), part["weights"], "combination")
    lines = {(i, tuple(codes)) for i, codes in zip(sentences, labellings, strict=False)}
    if not sentences or not len(sentences) == len(labellings) == len(weights.pairs) == len(lines):
        raise ProofError("combination does not give one or more different labellings of sentences a weight each")
    low, n = min(e for _, e in weights.pairs), len(read.may_end)
    sums: dict[Any, Fraction | int] = {}
    for i, codes, (m, e) in zip(sentences, labellings, weights.pairs, strict=True):
        if i not in taking_part or len(codes) != len(read.codes[i]) or max(codes) >= n:
            raise ProofError(
                f"combination: sentence {short(i)} takes no part, or its labels are not one for each token"
            )
        if codes == read.codes[i] or not is_allowed(codes, read.forbidden, read.may_end):
            raise ProofError(f"combination: a labelling of sentence {i} is the truth, or is forbidden")
        if m <= 0:
            raise ProofError(f"combination: a weight of sentence {i} is not above 0")
        features, weight = read.reader.sentence(read.tokens[i]), m << (e - low)
        for labels, sign in ((read.codes[i], weight), (codes, -weight)):
            for k, (before, label) in enumerate(zip([n, *labels[:-1]], labels, strict=True)):
                sums[before, label] = sums.get((before, label), 0) + sign
                for feature, value in features[k] if codes[k] != read.codes[i][k] else ():
                    sums[feature, label, None] = sums.get((feature, label, None), 0) + sign * value
    if any(sums.values()):
        raise ProofError("combination: Σ weight·Δ is not 0")


def readable(value: Fraction) -> str:
    """Write a positive number in few digits."""
    if max(value.numerator, value.denominator) < 2**64:
        return str(value)
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return f"about {float(value)}" if abs(power) < 1000 else f"about 2^{power}"


def main(argv: Sequence[str] | None = None) -> int:
    """Check proofs against a file and print what they prove; return the exit code."""
    parser = argparse.ArgumentParser(prog="check", description="Check a proof that data is separable, or is not.")
    parser.add_argument("proof", metavar="PROOF", help="a JSON file with a proof or a list of proofs")
    parser.add_argument("data", metavar="DATA", help="a CSV or TSV file with the float64 values of the proof; of "
                        "sentences a CoNLL or CoNLL-U file")  # fmt: skip
    parser.add_argument("--target", help="the column of labels: a name, or a number from 1 (default: the last)")
    parser.add_argument("--delimiter", help="between columns (default: a comma, or a tab for .tsv and .tab)")
    parser.add_argument("--header", action=argparse.BooleanOptionalAction, help="the first line holds names")
    parser.add_argument("--label", help="of sentences: the column of labels, by name")
    parser.add_argument("--columns", help="of sentences: the columns of a token, by name, such as form,xpos")
    parser.add_argument("--format", choices=["conll", "conllu"], help="of sentences: the format of DATA")
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    if options.delimiter is not None and (len(options.delimiter) != 1 or options.delimiter in '"\r\n'):
        print("the delimiter must be one character, and not a quote or a line end", file=sys.stderr)
        return 2
    try:
        proofs = read_file(options.proof)
        about_sentences = "sentences" in proofs[0]["data"]
        known = ("columns", "label", "format") if about_sentences else ("target", "delimiter", "header")
        columns, told = reading_of(proofs[0], {name: getattr(options, name) for name in known})
        if about_sentences:
            columns = sentence_columns(proofs[0], columns)
            lines, code = checked(proofs, lambda: read_sentences(options.data, **columns))
        else:
            lines, code = checked(proofs, lambda: read_table(options.data, **columns))
        show([*told, *lines])
    except BrokenPipeError:  # the reader of the output has left, which changes no answer
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (DataError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except MemoryError:
        print(f"there is not enough memory to check {options.proof} on {options.data}", file=sys.stderr)
        return 2
    return code


def read_file(path: str) -> list[dict[str, Any]]:
    """Read the proofs in a file; raise DataError if there are none."""
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise DataError(f"{path} is larger than {LARGEST_FILE} bytes")
    try:
        return read_proofs(content.decode())
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8: {error.reason}") from None
    except ProofError as error:
        raise DataError(f"{path} is not a proof: {error.args[0]}") from None


def reading_of(proof: dict[str, Any], given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return how to read the data, as given or else as the proof says, and a line about the latter.

    A proof may choose the columns that it is about: whoever checks it must know which ones.
    """
    kinds = {"target": (str, int), "delimiter": (str,), "header": (bool,)}
    kinds |= dict.fromkeys(("columns", "label", "format"), (str,))
    held = {name: value for name, value in proof.get("reading", {}).items() if given.get(name, "") is None}
    for name, value in held.items():
        wrong = name == "delimiter" and (len(str(value)) != 1 or str(value) in '"\r\n')
        if type(value) not in kinds[name] or wrong or (name == "format" and value not in ("conll", "conllu")):
            raise DataError(f"the proof's reading has {name} {short(value)}")
    words = ", ".join(f"{name} {short(value)}" for name, value in held.items())
    return {**given, **held, **({"target": str(held["target"])} if "target" in held else {})}, [
        f"Read as the proof says: {words}."
    ] * bool(held)


def sentence_columns(proof: dict[str, Any], reading: dict[str, Any]) -> dict[str, Any]:
    """Return how to read sentences, after checking that a file can hold what the proof is about."""
    if proof["data"]["templates"] is None:
        raise DataError("the proof is about features, which no file holds; check it from Python")
    if reading["label"] is None or reading["columns"] is None:
        raise DataError("the proof does not name the columns; name them with the options columns and label")
    return {**reading, "columns": reading["columns"].split(",")}


def checked(proofs: list[dict[str, Any]], table: Callable[[], Iterator[tuple[Any, Any]]]) -> tuple[list[str], int]:
    """Return what proofs prove about a table, in words, and the exit code."""
    try:
        if len(proofs) > 1:
            require_labels(proofs, (label for _, label in table()))
        lines = []
        for proof in proofs:
            one, two = tee(table())  # read in parallel, so that at most one row is buffered
            lines.append(check(proof, (row for row, _ in one), (label for _, label in two)))
    except ProofError as error:
        return [str(error)], 1
    return lines, 0


def show(lines: list[str]) -> None:
    """Print lines, with escapes for characters that the terminal does not have."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
