"""Parameters, labels and names: what people hand in, with its types."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.schema.codecs import Context, Scalar, shown, wrong
from rosenblatt.schema.container import NAMES

SCALAR = Scalar()
DTYPES = {name: np.dtype(name) for name in (*["bool", "int8", "int16", "int32", "int64"], "object")} | {
    name: np.dtype(name) for name in ["uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
}
"""What labels may be held in; besides, texts, whose type says how long they are."""
LONGEST = 2**20


def written(attribute: str) -> str:
    """Return what an attribute of an estimator is called in files: whether it is private is nobody's business."""
    return attribute.removeprefix("_")


class Labels:
    """The classes, with the type they had; those of the whole model are written once, as null elsewhere."""

    def encode(self, value: NDArray[Any], at: str, context: Context) -> Any:
        """Return null for the model's own classes, and a table of type and labels for others."""
        if context.classes is not None and _same(value, context.classes):
            return None
        return write_labels(value, at)

    def decode(self, told: Any, at: str, context: Context) -> NDArray[Any]:
        """Return the labels."""
        if told is not None:
            return read_labels(told, at)
        if context.classes is None:
            wrong(at, "is missing")
        return context.classes


def write_labels(labels: NDArray[Any], at: str) -> dict[str, Any]:
    """Return type and labels."""
    kind = "text" if labels.dtype.kind == "U" else labels.dtype.name
    if kind != "text" and kind not in DTYPES:
        wrong(at, f"has labels of the type {labels.dtype}, but a model file holds numbers and texts alone")
    values = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
    for value in values:
        if type(value) not in (bool, int, float, str) or value != value or value in (np.inf, -np.inf):
            wrong(at, f"has the label {shown(value)}, but a model file holds numbers and texts alone")
    return {"type": kind if kind != "text" else f"text{labels.dtype.itemsize // 4}", "labels": values}


def read_labels(told: Any, at: str) -> NDArray[Any]:
    """Return the labels that `write_labels` wrote."""
    if not isinstance(told, dict) or told.keys() != {"type", "labels"} or not isinstance(told["labels"], list):
        wrong(at, "are not written as labels are")
    kind, values = told["type"], told["labels"]
    if any(type(value) not in (bool, int, float, str) or value in (np.inf, -np.inf) for value in values):
        wrong(at, "hold something that is no label")
    if len(set(values)) < len(values):
        wrong(at, "name a class twice")
    dtype = _label_type(kind)
    if dtype is None:
        wrong(at, f"have the unknown type {shown(kind)}")
    labels = np.empty(len(values), dtype)
    kind_of_each = {"U": str, "b": bool, "i": int, "u": int, "f": float}.get(dtype.kind)
    if kind_of_each is not None and not all(type(value) is kind_of_each for value in values):
        wrong(at, f"are not all of their type, {kind}")
    if dtype.kind == "U" and any(len(value) > dtype.itemsize // 4 for value in values):
        wrong(at, "are longer than their type allows")
    try:
        labels[:] = values
    except (OverflowError, ValueError):
        wrong(at, f"are not all of their type, {kind}")
    if labels.tolist() != values:
        wrong(at, f"are not all of their type, {kind}")
    labels.flags.writeable = False
    return labels


def _label_type(kind: Any) -> np.dtype[Any] | None:
    if not isinstance(kind, str):
        return None
    if kind.startswith("text"):
        length = kind[4:]
        if not (length.isascii() and length.isdigit()) or len(length) > 7 or not 0 < int(length) <= LONGEST:
            return None
        return np.dtype(f"<U{int(length)}")
    return DTYPES.get(kind)


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a is b or (a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist())


class PerLabel:
    """A dictionary by labels: pairs, because JSON has names of text alone."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return pairs."""
        return [
            [SCALAR.encode(label, at, context), self.inner.encode(each, at, context)]
            for label, each in value.items()
        ]

    def decode(self, told: Any, at: str, context: Context) -> dict[Any, Any]:
        """Return the dictionary."""
        if not isinstance(told, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in told):
            wrong(at, "is no list of pairs")
        table = {SCALAR.decode(k, at, context): self.inner.decode(v, at, context) for k, v in told}
        if len(table) < len(told):
            wrong(at, "names something twice")
        return table


class Parameter:
    """A value that a constructor takes: single values, lists, tuples, dictionaries, arrays and kernels."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return JSON that tells lists from tuples."""
        if isinstance(value, list):
            return [self.encode(each, f"{at}.{k}", context) for k, each in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": self.encode(list(value), at, context)}
        if type(value) is dict and _is_json(value):
            return {"json": value}
        if type(value) is dict:
            pairs = [[key, each] for key, each in value.items()]
            return {"dict": [self.encode(pair, f"{at}.{k}", context) for k, pair in enumerate(pairs)]}
        if type(value) is np.ndarray and value.dtype in NAMES:
            return {"array": context.tensors.put(at, value)}
        if type(value).__module__ == "rosenblatt.kernels.values":
            from rosenblatt.schema.kernels import KERNEL

            return {"kernel": KERNEL.encode(value, at, context)}
        return SCALAR.encode(value, at, context)

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the value."""
        if isinstance(told, list):
            return [self.decode(each, at, context) for each in told]
        if not isinstance(told, dict) or len(told) != 1:
            return SCALAR.decode(told, at, context)
        ((kind, inner),) = told.items()
        match kind:
            case "tuple" if isinstance(inner, list):
                return tuple(self.decode(inner, at, context))
            case "dict" if isinstance(inner, list) and all(isinstance(pair, list) for pair in inner):
                return self._dictionary(inner, at, context)
            case "array" if isinstance(inner, str) and inner in context.tensors:
                return context.take(inner)
            case "json" if isinstance(inner, dict):
                return inner
            case "kernel":
                from rosenblatt.schema.kernels import KERNEL

                return KERNEL.decode(inner, at, context)
        return SCALAR.decode(told, at, context)

    def _dictionary(self, pairs: list[Any], at: str, context: Context) -> dict[Any, Any]:
        try:
            table = dict(self.decode(pairs, at, context))
        except (TypeError, ValueError):
            wrong(at, "is no dictionary")
        if len(table) < len(pairs):
            wrong(at, "names something twice")
        return table


def _is_json(value: Any) -> bool:
    """Whether a value is the same after JSON: it then needs no marks, and large ones no time to read."""
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False
    return bool(same)


class Names:
    """The names of features that a table had: how many of the model's, or null."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return how many of the model's names these are."""
        if value is None:
            return None
        if context.names is None or tuple(value) != context.names[: len(value)]:
            wrong(at, "are other names than those of the features")
        return len(value)

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the names."""
        if told is None:
            return None
        if type(told) is not int or context.names is None or not 1 <= told <= len(context.names):
            wrong(at, "is no number of names")
        names = context.names[:told]
        if not all(type(name) is str for name in names):
            wrong(at, "are not all texts")
        return names


class VocabularyCodec:
    """The names that examples in mappings go by: those of the features."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return whether it grows."""
        if context.names is None or tuple(value.names) != context.names:
            wrong(at, "has other names than the features")
        return {"grows": value.grows}

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the vocabulary."""
        from rosenblatt.data.single import Vocabulary

        if not isinstance(told, dict) or told.keys() != {"grows"} or type(told["grows"]) is not bool:
            wrong(at, "is no vocabulary")
        return Vocabulary(context.names or (), grows=told["grows"])
