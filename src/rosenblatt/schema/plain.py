"""Codecs of parameters, labels and feature names, which keep their Python types.

Codecs of tables of rows, dense and sparse.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.exceptions import ParameterError
from rosenblatt.loops.layout import CSR, Rows
from rosenblatt.rooms import find
from rosenblatt.rows.features import Features
from rosenblatt.rows.memory import UNCHECKED_BYTES, free_memory
from rosenblatt.rows.memory import format_bytes as in_units
from rosenblatt.schema.codecs import (
    NAMES,
    REALS,
    Array,
    Codec,
    Context,
    Count,
    Either,
    Record,
    Scalar,
    UnsoundError,
    require,
    same_length,
    show_short,
    wrong,
)

SCALAR = Scalar()
DTYPES = {name: np.dtype(name) for name in (*["bool", "int8", "int16", "int32", "int64"], "object")} | {
    name: np.dtype(name) for name in ["uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
}
"""Array types of labels; texts come besides, and their type says how long they are."""
LONGEST_TEXT_LABEL = 2**20
MOST_CHARACTERS, MOST_PADDING = 2**24, 64
"""Arrays of texts take the longest label for each: so many characters in all, or so many times those there are."""


def stored_name(attribute: str) -> str:
    """Return the name of an attribute in files, without the underscore of a private one."""
    return attribute.removeprefix("_")


class Labels:
    """Class labels with their type. The labels of the whole model are written once, and as null elsewhere."""

    def encode(self, value: NDArray[Any], at: str, context: Context) -> Any:
        """Return null for the classes of the model, and a table of type and labels for others."""
        if context.classes is not None and _same(value, context.classes):
            return None
        return write_labels(value, at)

    def decode(self, stored: Any, at: str, context: Context) -> NDArray[Any]:
        """Return the labels."""
        if stored is not None:
            return read_labels(stored, at)
        if context.classes is None:
            wrong(at, "is missing")
        return context.classes


def write_labels(labels: NDArray[Any], at: str) -> dict[str, Any]:
    """Return type and labels."""
    kind = "text" if labels.dtype.kind == "U" else labels.dtype.name
    if kind != "text" and kind not in DTYPES:
        wrong(at, f"has labels of the type {labels.dtype}, but a model file holds only numbers and texts")
    values = [label.item() if isinstance(label, np.generic) else label for label in labels.tolist()]
    for value in values:
        if type(value) not in (bool, int, float, str) or value != value or value in (np.inf, -np.inf):
            wrong(at, f"has the label {show_short(value)}, but a model file holds only numbers and texts")
    if kind == "text" and not _is_compact(values, labels.dtype.itemsize // 4):
        wrong(at, "have a label that is far longer than the others, which would take too much memory. Shorten it")
    return {"type": kind if kind != "text" else f"text{labels.dtype.itemsize // 4}", "labels": values}


def read_labels(stored: Any, at: str) -> NDArray[Any]:
    """Return the labels that `write_labels` wrote."""
    if (
        not isinstance(stored, dict)
        or stored.keys() != {"type", "labels"}
        or not isinstance(stored["labels"], list)
    ):
        wrong(at, "are not a table of type and labels")
    kind, values = stored["type"], stored["labels"]
    if any(type(value) not in (bool, int, float, str) or value in (np.inf, -np.inf) for value in values):
        wrong(at, "hold a value that is not a label")
    if len(set(values)) < len(values):
        wrong(at, "name a class twice")
    dtype = _label_type(kind)
    if dtype is None:
        wrong(at, f"have the unknown type {show_short(kind)}")
    kind_of_each = {"U": str, "b": bool, "i": int, "u": int, "f": float}.get(dtype.kind)
    if kind_of_each is not None and not all(type(value) is kind_of_each for value in values):
        wrong(at, f"are not all of their type, {kind}")
    if dtype.kind == "U" and any(len(value) > dtype.itemsize // 4 for value in values):
        wrong(at, "are longer than their type allows")
    if dtype.kind == "U" and not _is_compact(values, dtype.itemsize // 4):
        wrong(at, "would take far more memory than their characters")
    taken = len(values) * dtype.itemsize
    if taken > UNCHECKED_BYTES and taken > (free := free_memory()):
        wrong(at, f"would take {in_units(taken)}, but {in_units(free)} of memory are free")
    labels = np.empty(len(values), dtype)
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
        if (
            not (length.isascii() and length.isdigit())
            or len(length) > 7
            or not 0 < int(length) <= LONGEST_TEXT_LABEL
        ):
            return None
        return np.dtype(f"<U{int(length)}")
    return DTYPES.get(kind)


def _is_compact(texts: list[str], length: int) -> bool:
    taken = len(texts) * length
    return taken <= MOST_CHARACTERS or taken <= MOST_PADDING * sum(map(len, texts))


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a is b or (a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist())


class PerLabel:
    """A dictionary whose keys are labels, written as pairs: keys of JSON are always texts."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return pairs."""
        return [
            [SCALAR.encode(label, at, context), self.inner.encode(each, at, context)]
            for label, each in value.items()
        ]

    def decode(self, stored: Any, at: str, context: Context) -> dict[Any, Any]:
        """Return the dictionary."""
        if not isinstance(stored, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in stored):
            wrong(at, "is not a list of pairs")
        table = {SCALAR.decode(k, at, context): self.inner.decode(v, at, context) for k, v in stored}
        if len(table) < len(stored):
            wrong(at, "names something twice")
        return table


class Parameter:
    """A constructor parameter: a single value, list, tuple, dictionary, array or kernel."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return JSON that marks tuples, dictionaries, arrays and kernels."""
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
            return {"kernel": find("kernels.kernel_file").KERNEL.encode(value, at, context)}
        return SCALAR.encode(value, at, context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the value."""
        if isinstance(stored, list):
            return [self.decode(each, at, context) for each in stored]
        if not isinstance(stored, dict) or len(stored) != 1:
            return SCALAR.decode(stored, at, context)
        ((kind, inner),) = stored.items()
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
                return find("kernels.kernel_file").KERNEL.decode(inner, at, context)
        return SCALAR.decode(stored, at, context)

    def _dictionary(self, pairs: list[Any], at: str, context: Context) -> dict[Any, Any]:
        try:
            table = dict(self.decode(pairs, at, context))
        except (TypeError, ValueError):
            wrong(at, "is not a dictionary")
        if len(table) < len(pairs):
            wrong(at, "names something twice")
        return table


def _is_json(value: Any) -> bool:
    """Return whether a value survives JSON unchanged: it then needs no marks, and is read fast."""
    try:
        same = json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False
    return bool(same)


class Names:
    """The feature names of a table, written as how many of the model's names it has, or null."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the number of names."""
        if value is None:
            return None
        if context.names is None or tuple(value) != context.names[: len(value)]:
            wrong(at, "are not the first names of the features")
        return len(value)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the names."""
        if stored is None:
            return None
        if type(stored) is not int or context.names is None or not 1 <= stored <= len(context.names):
            wrong(at, "is not a number of names")
        names = context.names[:stored]
        if not all(type(name) is str for name in names):
            wrong(at, "are not all texts")
        return names


class VocabularyCodec:
    """The feature names that examples in mappings use."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return whether new names may come."""
        if context.names is None or tuple(value.names) != context.names:
            wrong(at, "has other names than the features")
        return {"grows": value.grows}

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the vocabulary."""
        from rosenblatt.rows.batch import Vocabulary

        if not isinstance(stored, dict) or stored.keys() != {"grows"} or type(stored["grows"]) is not bool:
            wrong(at, "is not a vocabulary")
        return Vocabulary(context.names or (), grows=stored["grows"])


UNSIGNED = (np.uint32, np.uint64)


def _sound_csr(rows: CSR) -> None:
    starts = rows.indptr.astype(np.int64)
    require(same_length(rows.data, rows.indices), "the numbers of values and of column indices differ")
    require(
        len(starts) and starts[0] == 0 and starts[-1] == len(rows.data),
        "rows do not begin at 0 and end at the last value",
    )
    require((np.diff(starts) >= 0).all(), "a row ends before it begins")


CSR_ROWS = Record(
    CSR,
    {"data": Array(dtypes=REALS), "indices": Array(dtypes=UNSIGNED), "indptr": Array(dtypes=UNSIGNED)},
    check=_sound_csr,
)
TABLE = Either({"dense": (np.ndarray, Array(2, REALS)), "sparse": (CSR, CSR_ROWS)})


def require_width(rows: Rows, n_rows: int, n_features: int) -> None:
    """Require a table of the given numbers of rows and columns."""
    if isinstance(rows, CSR):
        require(len(rows.indptr) == n_rows + 1, "the number of rows is wrong")
        require(not len(rows.indices) or rows.indices.max() < n_features, "a value is beyond the last feature")
    else:
        require(rows.shape == (n_rows, n_features), "a table has the wrong shape")


def _sound_features(features: Features) -> None:
    require_width(features.rows, features.n_rows, features.n_features)


def _parts_of_features(features: Features) -> dict[str, Any]:
    rows = features.rows
    if isinstance(rows, CSR):
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        starts = (rows.indptr - rows.indptr[0]).astype(rows.indptr.dtype)
        rows = CSR(rows.data[first:last], rows.indices[first:last], starts)
    return {"rows": rows, "n_rows": features.n_rows, "n_features": features.n_features}


FEATURES = Record(
    Features,
    {"rows": TABLE, "n_rows": Count(1), "n_features": Count(1)},
    take=_parts_of_features,
    check=_sound_features,
)


class NativeTable:
    """A numpy array or a scipy sparse array, with its width."""

    def encode(self, value: Any, at: str, context: Any) -> Any:
        """Return the width, and the JSON of `TABLE`."""
        if isinstance(value, np.ndarray):
            return [value.shape[1], TABLE.encode(value, at, context)]
        rows = value.tocsr()
        parts = CSR(rows.data, rows.indices.astype(np.uint64), rows.indptr.astype(np.uint64))
        return [rows.shape[1], TABLE.encode(parts, at, context)]

    def decode(self, stored: Any, at: str, context: Any) -> Any:
        """Return the array."""
        if not isinstance(stored, list) or len(stored) != 2:
            wrong(at, "is not a table")
        width, rows = Count(1).decode(stored[0], at, context), TABLE.decode(stored[1], at, context)
        n_rows = len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows)
        try:
            require_width(rows, n_rows, width)
        except UnsoundError as error:
            wrong(at, str(error))
        return Features(rows, n_rows, width).native()


# The codec of an estimator: its constructor parameters, and what its ``__dict__`` holds after training.

PARAMETER = Parameter()
WAYS_OUT = {
    "callbacks": "set_params(callbacks=None)",
    "random_state": "set_params(random_state=0)",
    "order": "set_params(order='shuffle')",
    "kernel": "a value of rosenblatt.kernels, such as RBF(0.5), in place of the function",
}
"""For parameters that may hold what no file can, what to use instead."""


@dataclass(frozen=True)
class StateSchema:
    """What a model file keeps of a trained estimator besides its parameters, and which conditions must hold.

    Attributes
    ----------
    required, optional : mapping of str to Codec
        The codecs of attributes: of those that are always there, and of those that depend on the training.
    link : callable
        Is called with the attributes that were read. It joins parts that share a value, in place, and raises
        `UnsoundError` if parts contradict each other.
    before : callable
        Takes the attributes of an estimator, and returns those to write.
    check : callable
        Takes the estimator that was read, and raises `ParameterError` for parameters that its methods cannot use.

    Examples
    --------
    >>> from rosenblatt.schema.codecs import Count
    >>> sorted(StateSchema({"_width": Count(1)}, {"n_iter_": Count()}).parts)
    ['_width', 'n_iter_']
    """

    required: Mapping[str, Codec]
    optional: Mapping[str, Codec] = field(default_factory=dict)
    link: Callable[[dict[str, Any]], None] = lambda held: None
    before: Callable[[dict[str, Any]], dict[str, Any]] = lambda held: held
    check: Callable[[Any], None] = lambda model: None

    @property
    def parts(self) -> dict[str, Codec]:
        """All attributes, required and optional."""
        return {**self.required, **self.optional}

    def encode(self, model: Any, at: str, context: Context) -> dict[str, Any]:
        """Return parameters and state of an estimator."""
        parameters = model.get_params(deep=False)
        values = {
            name: _parameter(name, value, f"{at}parameters.{name}", context) for name, value in parameters.items()
        }
        made = vars(type(model)(**parameters))  # a subclass may set parameters of its base class
        held = self.before(
            {
                name: value
                for name, value in vars(model).items()
                if name not in parameters and (name not in made or not _is_same(value, made[name]))
            }
        )
        strange = held.keys() - self.parts.keys()
        if strange:
            raise ParameterError(
                f"model has {', '.join(sorted(strange))}, which the file of a {type(model).__name__} does not "
                "keep. Delete it before saving."
            )
        try:
            state = {
                stored_name(name): self.parts[name].encode(value, f"{at}{stored_name(name)}", context)
                for name, value in held.items()
            }
        except UnsoundError as error:
            raise ParameterError(f"model cannot be saved: {error}.") from None
        return {"parameters": values, "state": state}

    def decode(self, estimator: type, stored: Any, at: str, context: Context) -> Any:
        """Return an estimator of the given class."""
        if not isinstance(stored, dict) or stored.keys() != {"parameters", "state"}:
            wrong(at, "does not have exactly the expected parts")
        known = estimator._get_param_names()  # type: ignore[attr-defined]
        if not isinstance(stored["parameters"], dict) or not stored["parameters"].keys() <= set(known):
            wrong(f"{at}parameters", f"are not those of a {estimator.__name__}")
        parameters = {
            name: PARAMETER.decode(value, f"{at}parameters.{name}", context)
            for name, value in stored["parameters"].items()
        }
        state, names = stored["state"], {stored_name(name): name for name in self.parts}
        required = {stored_name(name) for name in self.required}
        if not isinstance(state, dict) or not required <= state.keys() <= names.keys():
            wrong(f"{at}state", f"is not that of a {estimator.__name__}")
        held = {
            names[each]: self.parts[names[each]].decode(value, f"{at}{each}", context)
            for each, value in state.items()
        }
        self.link(held)
        model = estimator(**parameters)
        vars(model).update(held)
        try:
            self.check(model)
        except ParameterError as error:
            wrong(f"{at}parameters", f"cannot be used: {str(error).removesuffix('.')}")
        return model


@dataclass(frozen=True)
class Nested:
    """An estimator inside another."""

    estimator: type
    state: StateSchema

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return its parameters and state."""
        return self.state.encode(value, f"{at}.", context)

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the estimator."""
        inner = Context(context.tensors, None, context.classes)
        return self.state.decode(self.estimator, stored, f"{at}.", inner)


@dataclass(frozen=True)
class FixedParameters:
    """The values that certain parameters had when training began."""

    names: tuple[str, ...]

    def encode(self, value: dict[str, Any], at: str, context: Context) -> Any:
        """Return a table of them."""
        return {name: PARAMETER.encode(each, f"{at}.{name}", context) for name, each in value.items()}

    def decode(self, stored: Any, at: str, context: Context) -> dict[str, Any]:
        """Return the parameters."""
        if not isinstance(stored, dict) or stored.keys() != set(self.names):
            wrong(at, "does not have exactly the expected parameters")
        return {name: PARAMETER.decode(each, f"{at}.{name}", context) for name, each in stored.items()}


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and type(one) in (bool, int, float, str) and one == other)


def _parameter(name: str, value: Any, at: str, context: Context) -> Any:
    try:
        return PARAMETER.encode(value, at, context)
    except UnsoundError:
        way_out = WAYS_OUT.get(name, "a number, a text, or a list, tuple, dictionary or array of them")
        raise ParameterError(
            f"{name}={value!r} cannot be saved: a model file holds values, nothing that would have to be "
            f"executed. Before saving use {way_out}."
        ) from None
