"""Proofs that are read back: what was written, and nothing that is no proof."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.certify import Certificate, check

MALFORMED = {
    "a column out of range": lambda p: p["hyperplane"].update(w={"columns": [0, 7], "values": ["0x1", "0x1"]}),
    "a column twice": lambda p: p["hyperplane"].update(w={"columns": [0, 0], "values": ["0x1", "0x1"]}),
    "too few numbers": lambda p: p["hyperplane"].update(w=["0x1"]),
    "millions of features": lambda p: (
        p["data"].update(features=10**9),
        p["hyperplane"].update(w={"columns": [], "values": []}),
    ),
    "one bound": lambda p: p["margin"].update(squared=["0x1"]),
    "a row beyond all": lambda p: p["margin"].update(rows=[2**64, 1, 2]),
    "a weight too many": lambda p: p["margin"].update(weights=["0x1"] * 9),
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_what_is_no_proof_is_not_read(change):
    proof = json.loads(rb.certify(*rb.datasets.load_or(), margin=True).to_json())
    change(proof)
    with pytest.raises(check.ProofError):
        Certificate.from_json(json.dumps(proof))


def test_what_is_read_is_what_was_written():
    for bias in (True, False):
        X, y = rb.datasets.load_or()
        X = X + 1.0
        found = rb.certify(X if bias else X * np.where(y > 0, 1, -1)[:, None], y, bias=bias, margin=True)
        read = Certificate.from_json(found.to_json())
        assert (read.w, read.b, read.data, read.bias) == (found.w, found.b, found.data, found.bias)
        assert (read.margin.squared, read.margin.padding) == (found.margin.squared, found.margin.padding)
    found = rb.certify(*rb.datasets.load_xor())
    read = Certificate.from_json(found.to_json())
    assert (read.support, read.weights) == (found.support, found.weights)
    assert vars(read.ties) == vars(found.ties)
