"""Model files that somebody has changed: at random, or with care and a checksum that is right again."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from rosenblatt.codecs import TYPES, Tensors

VALUES: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 7, 2**31, 2**40, 2**53, 2**63, 2**64, 10**30, 0.0, 0.5, -1.0, 1e300, -0.0,
    "", "x", "inf", "nan", "direct", "ovo", "binary", [], {}, [None], [1], [0, 1], {"a": 1}, {"tuple": [1]},
    {"float": "nan"}, {"array": "state.w"}, {"dict": [[1, 2]]}, {"json": {"a": [1]}}, {"json": 3},
    {"kernel": ["rbf", {"gamma": 0.5}]}, ["rbf", {}],
    {"type": "int64", "labels": [1, 2]}, {"type": "text3", "labels": ["a", "b", "c"]},
]  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where something stands in a document."""
    found = [path] if path else []
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, each in inner:
        found += places(each, (*path, key))
    return found


def changed_document(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a document of which one thing is another."""
    document = json.loads(json.dumps(document))
    where = places(document)
    if not where:
        return document  # an earlier change left nothing
    path = rng.choice(where)
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    match rng.randrange(6):
        case 0:
            del parent[path[-1]]
        case 1 if isinstance(parent, dict):
            parent[rng.choice(["more", "state", "w", "kind"])] = rng.choice(VALUES)
        case 2:
            other: Any = document
            for key in rng.choice(where):
                other = other[key]
            parent[path[-1]] = json.loads(json.dumps(other))
        case 3 if type(parent[path[-1]]) is int:
            parent[path[-1]] += rng.choice([-1, 1, 2, 1000])
        case _:
            parent[path[-1]] = rng.choice(VALUES)
    return document


def changed_tensors(tensors: Tensors, rng: random.Random) -> Tensors:
    """Return arrays of which one is another."""
    changed = Tensors({name: array.copy() for name, array in tensors.items()})
    if not changed:
        return changed
    name = rng.choice(sorted(changed))
    array = np.atleast_1d(changed[name])
    match rng.randrange(8):
        case 0:
            with np.errstate(invalid="ignore"):  # NaN and −∞ as integers
                changed[name] = array.astype(rng.choice(sorted(TYPES.values(), key=str)))
        case 1:
            changed[name] = np.ascontiguousarray(array.T if array.ndim > 1 else array[None])
        case 2:
            changed[name] = np.ascontiguousarray(array[1:])
        case 3:
            changed[name] = np.concatenate([array, array])
        case 4 if array.size:
            special = (
                [np.nan, np.inf, -1e300, 1e300, -1.0]
                if array.dtype.kind == "f"
                else [-1, 1, 100, 2**31 - 1, 2**62]
            )
            with np.errstate(all="ignore"):
                array.flat[rng.randrange(array.size)] = np.array(rng.choice(special)).astype(array.dtype)
        case 5:
            del changed[name]
        case 6:
            other = rng.choice(sorted(changed))
            changed[name], changed[other] = changed[other], changed[name]
        case _:
            changed[name] = array.reshape(-1)
    return changed


def changed_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return a file of which some bytes are others, or missing, or more."""
    raw = bytearray(content)
    at = rng.randrange(len(raw)) if rng.random() < 0.5 else rng.randrange(min(len(raw), 200))
    match rng.randrange(6):
        case 0:
            return bytes(raw[:at])
        case 1:
            raw[at] ^= 1 << rng.randrange(8)
        case 2:
            raw[at] = rng.randrange(256)
        case 3:
            del raw[at : at + rng.randrange(1, 9)]
        case 4:
            raw[at:at] = rng.randbytes(rng.randrange(1, 9))
        case _:
            raw[:8] = rng.choice([0, 1, 8, 2**20, 2**26 + 1, 2**40, 2**63, 2**64 - 1]).to_bytes(8, "little")
    return bytes(raw)
