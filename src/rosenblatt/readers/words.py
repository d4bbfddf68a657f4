"""Stand-in for bags of words, to be replaced."""

from __future__ import annotations

import re
import zlib
from itertools import pairwise
from typing import Any

import numpy as np

from rosenblatt.loops.layout import CSR


def bucket(gram: bytes, bits: int) -> int:
    """Hash."""
    return zlib.crc32(gram) & ((1 << bits) - 1)


def grams(text: bytes, ngrams: int) -> list[bytes]:
    """Give runs of words."""
    tokens = re.findall(rb"[a-z0-9_\x80-\xff]+", text.lower())
    return [b" ".join(tokens[i : i + n]) for n in range(1, ngrams + 1) for i in range(len(tokens) - n + 1)]


def text_buffers(array: Any) -> tuple[Any, Any]:
    """Bytes and offsets."""
    texts = [(text or "").encode() for text in array.to_pylist()]
    offsets = np.cumsum([0, *map(len, texts)])
    return np.frombuffer(b"".join(texts), np.uint8), offsets


def hash_texts(values: Any, offsets: Any, *, ngrams: int, bits: int) -> CSR:
    """Count."""
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for start, end in pairwise(offsets):
        counts: dict[int, int] = {}
        for gram in grams(values[start:end].tobytes(), ngrams):
            b = bucket(gram, bits)
            counts[b] = counts.get(b, 0) + 1
        for b in sorted(counts):
            indices.append(b)
            data.append(float(counts[b]))
        indptr.append(len(data))
    return CSR(np.array(data), np.array(indices, np.uint32), np.array(indptr, np.uint64))
