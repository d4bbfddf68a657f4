"""The fingerprint by which a proof identifies its data."""

import struct
from hashlib import sha256

import numpy as np
import pytest
from scipy.sparse import csr_array

from rosenblatt.certify import fingerprint
from rosenblatt.certify.fingerprint import Fingerprint
from rosenblatt.rows.features import as_rows


def plain(X, signs):
    """Return the fingerprint as the format describes it, value by value."""
    lengths = columns = values = b""
    for row in X.tolist():
        stored = [(j, value) for j, value in enumerate(row) if value != 0.0]
        lengths += struct.pack("<Q", len(stored))
        columns += b"".join(struct.pack("<Q", j) for j, _ in stored)
        values += b"".join(struct.pack("<d", value) for _, value in stored)
    digests = [sha256(part).digest() for part in (np.array(signs, "i1").tobytes(), lengths, columns, values)]
    head = b"rosenblatt-data-1\n" + struct.pack("<QQ", *X.shape)
    return sha256(head + b"".join(digests)).hexdigest()


@pytest.mark.parametrize("zeros", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("block", [1, 12, 2**18])
def test_every_layout_has_the_plain_fingerprint(zeros, dtype, block, monkeypatch):
    monkeypatch.setattr(fingerprint, "BLOCK_VALUES", block)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((11, 5)) < zeros, 0, rng.integers(1, 200, (11, 5))).astype(dtype)
    X[3], X[4] = 0, 7  # rows without a value, and without a zero
    signs = rng.integers(-1, 2, 11)
    expected = plain(X, signs)
    assert Fingerprint(as_rows(X)).of(signs) == expected
    assert Fingerprint(as_rows(X, keep_bytes=True)).of(signs) == expected
    assert Fingerprint(as_rows(csr_array(X))).of(signs) == expected
