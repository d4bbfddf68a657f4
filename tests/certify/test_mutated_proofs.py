"""Changed proofs of three classes and of sentences: both checkers judge alike, and accept only what is true."""

from __future__ import annotations

import copy
import csv
import json
import random
import re
from collections import Counter
from typing import Any, NamedTuple

import pytest

import rosenblatt as rb
from rosenblatt.certify import Certificate, check, proof_reader
from rosenblatt.cli.main import main
from tests.certify import proofs as tables
from tests.sequences import proofs as sentences

FEW, MANY = 60, 1500
"""Changes of each proof in the usual test and in the slow one; files are written for a tenth of them."""
CODES = {"holds": 0, "does not hold": 1, "refused": 2}


class Proved(NamedTuple):
    """Data of one kind, and true proofs about it."""

    X: list[list[Any]]
    y: list[Any]
    proofs: Any


def of_classes(X: Any, labels: str, **options: Any) -> Proved:
    rows, y = [list(map(float, row)) for row in X], labels.split()
    return Proved(rows, y, json.loads(rb.certify(rows, y, **options).to_json()))


LINE = [[0], [1], [2], [1.5]]
WHEEL = [[-2, -6], [-1, 2], [6, 1], [-1, -2], [-4, 5], [2, 0]]
CORNERS = [[4, 0], [0, 4], [-4, -4], [5, 1], [1, 5]]
CASES = {
    "an argmax": of_classes(LINE, "a b c b", multiclass="direct"),
    "an argmax of numbers": of_classes(CORNERS, "0 1 2 0 1", multiclass="direct"),
    "an argmax without bias": of_classes(CORNERS, "0 1 2 0 1", multiclass="direct", bias=False),
    "a circle": of_classes(WHEEL, "0 0 1 1 2 2", multiclass="direct"),
    "a circle without bias": of_classes([[1], [2], [-1]], "a b c", multiclass="direct", bias=False),
    "tables": of_classes(CORNERS, "0 1 2 0 1", margin=True),
    "tables, some inseparable": of_classes([[0], [1], [2], [1]], "a b c c", margin=True),
    **{name: Proved(*each) for name, each in sentences.CASES.items()},
}
everyone = pytest.mark.parametrize("name", CASES)


def about(proof: Any) -> str:
    return "sentences" if "sentences" in proof["data"] else "classes" if "classes" in proof["data"] else "table"


# What is true, by plain fractions


def is_true(found: list[Any], X: Any, y: Any) -> bool:
    judge = {"sentences": sentences.holds, "classes": tables.holds_of_classes, "table": tables.holds}
    return all(judge[about(proof)](proof, X, y) for proof in found)


# The judges


def judged_alone(text: str, X: Any, y: Any) -> str:
    """Ask the checker that stands alone."""
    try:
        found = check.read_proofs(text)
    except check.ProofError:
        return "refused"
    try:
        _, code = check.checked(found, lambda: zip(X, y, strict=True))
    except check.DataError:
        return "refused"
    return "does not hold" if code else "holds"


def judged_by_library(text: str, X: Any, y: Any) -> str:
    """Ask the library, as `rosenblatt check` does."""
    try:
        found = check.read_proofs(text)
        verification, _ = proof_reader.verify_proofs(found, X, y)
    except (check.ProofError, rb.exceptions.RosenblattError):
        return "refused"
    return "holds" if verification else "does not hold"


def judged_as_object(text: str, X: Any, y: Any) -> bool:
    """Ask the certificate that is read from the text."""
    try:
        return bool(Certificate.from_json(text).verify(X, y))
    except (check.ProofError, rb.exceptions.RosenblattError):
        return False


# Changes

NUMBER = re.compile(r"-?0x[0-9a-f]+([p/].*)?")
LABELS = ["a", "b", "c", "0", "1", "2", "1.0", " 2 ", "+1", "3", "P", "V", "N", "D", "O", "B-X", "", "é", "0x1"]


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [at, *(path for key in keys for path in paths(value[key], (*at, key)))]


def inside(proof: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        proof = proof[key]
    return proof


def flipped(rng: random.Random, text: str) -> str:
    """Change one digit."""
    places = [k for k, c in enumerate(text) if c in "0123456789abcdef" and text[k + 1 : k + 2] != "x"]
    if not places:
        return text
    k = rng.choice(places)
    return text[:k] + rng.choice("0123456789abcdef") + text[k + 1 :]


def changed_number(rng: random.Random, old: str, others: list[str]) -> str:
    scaled = check.text_of(check.number(old) * rng.choice([2, 3, -1, 0])) if len(old) < 400 else old
    minus = old.removeprefix("-") if old.startswith("-") else f"-{old}"
    return rng.choice([flipped(rng, old), minus, rng.choice(others), scaled, "0x0", "-0x0", "0x1p-3", "0x1/0x3"])


def changed_list(rng: random.Random, old: list[Any]) -> list[Any]:
    if not old:
        return rng.choice([[0], ["0x1"], [[0, 1]], [None]])
    i, j, new = rng.randrange(len(old)), rng.randrange(len(old)), copy.deepcopy(old)
    kind = rng.choice(["drop", "double", "swap", "reverse", "empty", "append"])
    if kind == "drop":
        del new[i]
    elif kind == "double":
        new.insert(j, copy.deepcopy(new[i]))
    elif kind == "swap":
        new[i], new[j] = new[j], new[i]
    elif kind == "append":
        new.append(copy.deepcopy(new[i]))
    else:
        new = new[::-1] if kind == "reverse" else []
    return new


def changed_value(rng: random.Random, old: Any, others: list[str]) -> Any:
    """Return another value, most often of the same kind."""
    if rng.random() < 0.05:
        return rng.choice([None, True, -1, 0, 10**30, 1.5, "0x1", "a", [], {}, [0], [[]]])
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return rng.choice([old + 1, max(old - 1, 0), rng.randrange(8), 2**63, 2**64 + 1, 10**25])
    if isinstance(old, str):
        if NUMBER.fullmatch(old):
            return changed_number(rng, old, others)
        if re.fullmatch("[0-9a-f]{64}", old):
            return flipped(rng, old)
        return rng.choice([*LABELS, "separable", "inseparable", "quasi", "overlap", "open", "form", "lower[-1]"])
    if isinstance(old, list):
        return changed_list(rng, old)
    if isinstance(old, dict):
        left = dict(old)
        left.pop(rng.choice(list(old)), None) if old and rng.random() < 0.8 else left.update(more=1)
        return left
    return rng.choice(LABELS)  # it was null


def together(rng: random.Random, proof: Any) -> None:
    """Change several fields so that the proof may stay true: scale, shift, or reorder what belongs together."""
    part, planes = proof.get("combination"), proof.get("hyperplanes")
    if part:
        names = [name for name in part if len(part[name]) == len(part["weights"])]
        kind = rng.choice(["order", "scale", "drop"])
        if kind == "scale":
            by = rng.choice([2, 3, 5, -1])
            part["weights"] = [check.text_of(check.number(each) * by) for each in part["weights"]]
            return
        order = rng.sample(range(len(part["weights"])), len(part["weights"]))
        for name in names:
            part[name] = [part[name][k] for k in order[kind == "drop" :]]
    elif planes:
        by = rng.randrange(-3, 4)
        for plane in planes:  # what is added to all functions changes no comparison
            plane["b"] = check.text_of(check.number(plane["b"]) + by)
        if rng.random() < 0.5:
            order = rng.sample(range(len(planes)), len(planes))
            proof["hyperplanes"] = [planes[k] for k in order]
            if len(proof["data"]["classes"]) == len(order):
                proof["data"]["classes"] = [proof["data"]["classes"][k] for k in order]


def refingerprint(proof: Any, X: Any, y: Any) -> None:
    """Write the fingerprint that the data has with the labels of the proof, so that more than it is checked."""
    data = proof["data"]
    kind = about(proof)
    if kind == "classes":
        codes = tables.codes_of(data["classes"], y)
        data["sha256"] = data["sha256"] if codes is None else tables.hash_of_classes(X, codes)
    elif kind == "table":
        data["sha256"] = tables.hash_of(X, tables.signs_of(data, y))
    elif {label for own in y for label in own} <= set(data["labels"]):
        codes = [[data["labels"].index(label) for label in own] for own in y]
        data["sha256"] = sentences.hash_of(X, codes)


def mutant(rng: random.Random, case: Proved) -> str:
    """Return the text of a changed proof."""
    made = copy.deepcopy(case.proofs)
    if isinstance(made, list) and rng.random() < 0.2:
        made = changed_list(rng, made)
    else:
        proof = rng.choice(made) if isinstance(made, list) else made
        try:
            if rng.random() < 0.3:
                together(rng, proof)
            for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
                numbers = [each for path in paths(proof) if NUMBER.fullmatch(str(each := inside(proof, path)))]
                path = rng.choice([path for path in paths(proof) if path and path[0] != "format"])
                inside(proof, path[:-1])[path[-1]] = changed_value(rng, inside(proof, path), numbers or ["0x1"])
            if rng.random() < 0.7:
                refingerprint(proof, case.X, case.y)
        except (TypeError, KeyError, ValueError, AttributeError, IndexError):
            pass  # a change before left something of another shape, which is a change as well
    text = json.dumps(made)
    if rng.random() < 0.1:
        k = rng.randrange(len(text))
        text = rng.choice([text[:k] + text[k + 1 :], text[:k] + text[k] + text[k:], flipped(rng, text)])
    return text


# The comparison


def judge(text: str, case: Proved) -> str:
    """Require that all judges agree, and that only what is true is accepted."""
    X, y, _ = case
    alone, library = judged_alone(text, X, y), judged_by_library(text, X, y)
    assert alone == library, f"alone {alone}, by the library {library}: {text}"
    assert judged_as_object(text, X, y) == (alone == "holds"), text
    if alone != "refused":
        truth = is_true(check.read_proofs(text), X, y)
        assert (alone == "holds") == truth, f"{alone}, but it is {'true' if truth else 'false'}: {text}"
    return alone


def files(case: Proved, folder: Any) -> str:
    """Write the data of a case to a file, and return its place."""
    if about(case.proofs if isinstance(case.proofs, dict) else case.proofs[0]) == "sentences":
        path, lines = folder / "data.conll", zip(case.X, case.y, strict=True)
        written = ["".join(f"{a}\t{b}\n" for a, b in zip(*each, strict=True)) for each in lines]
        path.write_text("\n".join(written))
        return str(path)
    path = folder / "data.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([*map(repr, x), label] for x, label in zip(case.X, case.y, strict=True))
    return str(path)


def compare(name: str, number: int, seed: int, folder: Any, capsys: Any) -> Counter[str]:
    case, rng, told = CASES[name], random.Random(f"{name} {seed}"), Counter()
    data = files(case, folder)
    options = ["--columns", "1", "--label", "2"] if data.endswith("conll") else []
    proof = folder / "proof.json"
    assert judge(json.dumps(case.proofs), case) == "holds"
    for k in range(number):
        text = mutant(rng, case)
        found = judge(text, case)
        told[found] += 1
        if k % 10 == 0:
            proof.write_text(text)
            codes = check.main([str(proof), data, *options]), main(["check", str(proof), data, *options])
            said = capsys.readouterr()
            assert codes == (CODES[found], CODES[found]), f"{codes}, not {CODES[found]}: {said} {text}"
            assert "Traceback" not in said.out + said.err
            assert "a defect in rosenblatt" not in said.err, said.err + text
    return told


@everyone
def test_changed_proofs_are_judged_alike(name, tmp_path, capsys):
    told = compare(name, FEW, 1, tmp_path, capsys)
    assert min(told[each] for each in CODES) > 0, told


@pytest.mark.slow
@everyone
def test_many_changed_proofs_are_judged_alike(name, tmp_path, capsys):
    told = compare(name, MANY, 2, tmp_path, capsys)
    assert min(told[each] for each in CODES) >= MANY // 50, told
