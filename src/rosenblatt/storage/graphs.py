"""Models as ONNX graphs, for runtimes that know nothing of this package."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.atomic import write_whole
from rosenblatt.exceptions import ParameterError

__all__ = ["to_onnx"]

OPSET, IR_VERSION = 13, 8
"""Of 2021, so that runtimes of any age read the graphs: the first in which all that is used here takes doubles."""
LARGEST = 2**31 - 1


def to_onnx(model: Any, *, path: str | os.PathLike[str] | None = None, dtype: Any = np.float64) -> Any:
    """Return a trained model as an ONNX graph.

    Parameters
    ----------
    model : estimator of this package
        Linear (`Perceptron`, `PocketPerceptron`, `LiftedPerceptron`, `SoftMarginClassifier` or
        `MaxMarginClassifier`) or a `MultilayerPerceptron`, trained.
    path : str, path or None
        A file to write it to as well, whole or not at all.
    dtype : float64 or float32
        Of the input. Linear models compute in float64 and networks in their own precision either way.

    Returns
    -------
    onnx.ModelProto
        Its input is ``X``, shape (n_rows, n_features). A classifier's outputs are ``label`` (integers, texts,
        flags or floats as its classes are) and ``scores``, as ``decision_function`` gives them; a regression's is
        ``values``. Labels are those of `predict`, ties included. Scores differ by rounding: runtimes add in an
        order of their own.

    Raises
    ------
    ParameterError
        If the model is of another kind, or its labels have no type in ONNX.
    ImportError
        Without the package onnx.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> graph = to_onnx(Perceptron().fit([[0, 0], [1, 1]], [0, 1])).graph
    >>> [output.name for output in graph.output]
    ['label', 'scores']
    """
    onnx = _onnx()
    if dtype not in (np.float64, np.float32):
        raise ParameterError(f"dtype={dtype!r} is not float64 or float32.")
    graph = _graph(model, onnx, np.dtype(dtype))
    content = graph.SerializeToString()
    if path is not None:
        write_whole(path, content)
    return graph


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install 'rosenblatt[onnx]'.") from None
    return onnx


class _Graph:
    """Nodes one after the other, and the constants they use."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def cast(self, x: str, dtype: Any) -> str:
        """Add a conversion."""
        return self.node("Cast", x, to=self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _graph(model: Any, onnx: Any, dtype: np.dtype[Any]) -> Any:
    from rosenblatt.storage.learners import learner_of
    from rosenblatt.storage.prediction import LEARNERS, LINEAR

    name = type(model).__name__
    known = name in LEARNERS and type(model) is learner_of(name).estimator
    if not known or name not in (*LINEAR, "MultilayerPerceptron"):
        raise ParameterError(
            f"model={model!r} has no ONNX graph: those of {', '.join(LINEAR)} and MultilayerPerceptron can be "
            "written. Save others by rosenblatt.save."
        )
    model._require_fitted()
    graph = _Graph(onnx)
    outputs = _network(graph, model) if name == "MultilayerPerceptron" else _linear(graph, model)
    element = onnx.helper.np_dtype_to_tensor_dtype(dtype)
    told = onnx.helper.make_graph(
        graph.nodes,
        f"rosenblatt {name}",
        [onnx.helper.make_tensor_value_info("X", element, ["n_rows", model.n_features_in_])],
        [onnx.helper.make_tensor_value_info(each, kind, shape) for each, kind, shape in outputs],
        graph.constants,
    )
    from rosenblatt import __version__

    made = onnx.helper.make_model(
        told,
        producer_name="rosenblatt",
        producer_version=__version__,
        ir_version=IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
    )
    names = model._feature_names()
    if names is not None:
        onnx.helper.set_model_props(made, {"feature_names": json.dumps([str(each) for each in names])})
    if made.ByteSize() > LARGEST:
        raise ParameterError(f"An ONNX graph holds at most {LARGEST:,} bytes, and this model is larger.")
    onnx.checker.check_model(made)
    return made


def _linear(graph: _Graph, model: Any) -> list[tuple[str, Any, list[Any]]]:
    linear = model._model()
    weights, scheme = np.atleast_2d(linear.weights), linear.scheme
    x = graph.cast("X", np.float64)
    products = graph.node("MatMul", x, graph.constant("weights", weights[:, :-1].T))
    scores = graph.node("Add", products, graph.constant("biases", weights[:, -1]))
    if scheme.kind == "binary":
        zero = graph.constant("zero", np.zeros(1))
        positive = graph.node("GreaterOrEqual" if linear.zero > 0 else "Greater", scores, zero)
        classes = linear.classes[[0, -1]]  # a stream that has met one class so far knows no other
        return _of_two(graph, scores, positive, classes, np.float64)
    if scheme.kind == "ovo":
        sums = np.zeros((scheme.n_machines, scheme.n_classes))
        for m, (negative, other) in enumerate(scheme.pairs):
            sums[m, negative], sums[m, other] = -1.0, 1.0
        scores = graph.node("MatMul", scores, graph.constant("sides", sums))
    return _of_many(graph, scores, linear.classes, np.float64, last=linear.zero > 0)


def _network(graph: _Graph, model: Any) -> list[tuple[str, Any, list[Any]]]:
    from rosenblatt.loops.neurons import ReLU, Sigmoid, Tanh

    network = model._network()
    dtype = network.theta.dtype
    x = graph.cast("X", dtype)
    for k, (layer, w, b) in enumerate(zip(network.layers, *network.parts, strict=True)):
        x = graph.node("MatMul", x, graph.constant(f"weights_{k}", w))
        if b is not None:
            x = graph.node("Add", x, graph.constant(f"biases_{k}", b))
        for response in layer.responses:
            match response:
                case ReLU():
                    x = graph.node("Relu", x)
                case Tanh():
                    x = graph.node("Tanh", x)
                case Sigmoid():
                    half = graph.constant(f"half_{k}", np.array(0.5, dtype))
                    x = graph.node("Tanh", graph.node("Mul", x, half))
                    x = graph.node("Add", graph.node("Mul", x, half), half)
    element = graph.onnx.helper.np_dtype_to_tensor_dtype(dtype)
    coding = model._coding
    if coding is None:
        n_outputs = network.layers[-1].n_neurons
        if model._flat:
            graph.node("Reshape", x, graph.constant("flat", np.array([-1])), name="values")
            return [("values", element, ["n_rows"])]
        graph.node("Identity", x, name="values")
        return [("values", element, ["n_rows", n_outputs])]
    if coding.n_outputs > 1:
        return _of_many(graph, x, model.classes_, dtype, last=False)
    middle = graph.constant("middle", np.array([coding.middle], dtype))
    positive = graph.node("Greater", x, middle)
    return _of_two(graph, graph.node("Sub", x, middle), positive, model.classes_, dtype)


def _of_two(
    graph: _Graph, scores: str, positive: str, classes: NDArray[Any], dtype: Any
) -> list[tuple[str, Any, list[Any]]]:
    """Add the outputs of two classes, from a column of scores and one of sides."""
    flat = graph.constant("flat", np.array([-1]))
    graph.node("Reshape", scores, flat, name="scores")
    codes = graph.node("Reshape", graph.cast(positive, np.int64), flat)
    return _labelled(graph, codes, classes, dtype, ["n_rows"])


def _of_many(
    graph: _Graph, scores: str, classes: NDArray[Any], dtype: Any, *, last: bool
) -> list[tuple[str, Any, list[Any]]]:
    """Add the outputs of several classes; ties go to the lowest, or to the last one."""
    graph.node("Identity", scores, name="scores")
    codes = graph.node("ArgMax", scores, axis=1, keepdims=0, select_last_index=int(last))
    return _labelled(graph, codes, classes, dtype, ["n_rows", len(classes)])


def _labelled(
    graph: _Graph, codes: str, classes: NDArray[Any], dtype: Any, shape: list[Any]
) -> list[tuple[str, Any, list[Any]]]:
    labels = _labels(classes)
    graph.node("Gather", graph.constant("classes", labels), codes, name="label")
    of_type = graph.onnx.helper.np_dtype_to_tensor_dtype
    kind = graph.onnx.TensorProto.STRING if labels.dtype == object else of_type(labels.dtype)
    return [("label", kind, ["n_rows"]), ("scores", of_type(np.dtype(dtype)), shape)]


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as ONNX holds them: texts, 64-bit integers and floats, or flags."""
    kinds = {type(label) for label in classes.tolist()}
    for kind, dtype in ((str, object), (bool, np.bool_), (int, np.int64), (float, np.float64)):
        if kinds == {kind} and (kind is not int or all(-(2**63) <= label < 2**63 for label in classes.tolist())):
            return classes.astype(dtype)
    raise ParameterError(
        f"The classes {classes.tolist()[:5]!r} have no type in ONNX. Train on labels that are all texts, all "
        "integers of 64 bits, all flags or all floats."
    )
