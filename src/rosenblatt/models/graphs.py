"""Models as ONNX graphs, for runtimes that know nothing of this package."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import registry
from rosenblatt.atomic import write_whole
from rosenblatt.exceptions import Given, InputError, ParameterError
from rosenblatt.tables.online_scaling import OnlineScaling
from rosenblatt.tables.preparation import Encoding, Preparation, Standardisation, UnitLength
from rosenblatt.tables.recipe import Recipe, TableRecipe

OPSET, IR_VERSION = 13, 8
"""Of 2021, so that old runtimes read the graphs too: the first in which all operators used here take doubles."""
ML_DOMAIN, ML_OPSET = "ai.onnx.ml", 1
MAX_GRAPH_BYTES = 2**31 - 1

Output = tuple[str, Any, list[Any]]
"""The name, the type and the shape of an input or output."""


def to_onnx(model: Any, *, path: str | os.PathLike[str] | None = None, dtype: Any = np.float64) -> Any:
    """Return a trained model as an ONNX graph.

    Parameters
    ----------
    model : estimator of this package, or scikit-learn Pipeline
        Linear (`Perceptron`, `PassiveAggressiveClassifier`, `ConfidenceWeightedClassifier`, `PNormPerceptron`,
        `PocketPerceptron`, `LiftedPerceptron`, `SoftMarginClassifier` or `MaxMarginClassifier`) or a
        `MultilayerPerceptron`, trained. Before it a pipeline may have a `TableEncoder` of numbers and categories,
        `StandardScaler`, `OnlineScaler` as it is now, and `Normalizer`.
    path : str, path or None
        A file to write it to as well, whole or not at all.
    dtype : float64 or float32
        The type of the input. Linear models always compute in float64, and networks in the precision of training.

    Returns
    -------
    onnx.ModelProto
        Its input is ``X``, shape (n_rows, n_features). A pipeline that begins with a `TableEncoder` of named
        columns has one input for each column, with its name and shape (n_rows, 1). It takes numbers, with NaN for
        a missing one, or strings, with an empty one if it is missing. The outputs of a classifier are ``label``
        (integers, texts, flags or floats as its classes are) and ``scores``, as ``decision_function`` gives them;
        that of a regression is ``values``. Labels are those of `predict`, ties included. Scores differ by
        rounding, because runtimes add in another order. With ``missing="error"`` a missing number makes the scores
        NaN, and a missing category counts as an unknown one.

    Raises
    ------
    InputError
        If the model is of another kind, reads text or hashed columns, or its labels have no type in ONNX.
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
        raise ParameterError(Given("dtype", dtype) + " is not float64 or float32.")
    graph = _graph(model, onnx, np.dtype(dtype))
    content = graph.SerializeToString()
    if path is not None:
        write_whole(path, content)
    return graph


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs onnx: pip install onnx") from None
    return onnx


class _Graph:
    """Nodes one after the other, the constants they use, and the inputs."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, name: str, kind: Any, width: int) -> str:
        """Add an input of so many columns, and return its name."""
        element = self.onnx.TensorProto.STRING if kind is str else self.onnx.helper.np_dtype_to_tensor_dtype(kind)
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, element, ["n_rows", width]))
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        name = self._free(name)
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = name or self._free(f"{kind.lower()}_{len(self.nodes)}")
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _free(self, name: str) -> str:
        """Return a name that no input has."""
        taken = {each.name for each in self.inputs}
        while name in taken:
            name += "'"
        return name

    def cast(self, x: str, dtype: Any) -> str:
        """Add a conversion."""
        return self.node("Cast", x, to=self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _graph(model: Any, onnx: Any, dtype: np.dtype[Any]) -> Any:
    from rosenblatt.models.files import take_apart

    preparation, learner = take_apart(model)
    name = type(learner).__name__
    if not registry.is_registered(learner) or "onnx" not in registry.abilities(learner):
        raise ParameterError(
            Given("model", learner)
            + f" has no ONNX graph, which only a {registry.classes_able('onnx')} has. Save it by rosenblatt.save."
        )
    learner._require_fitted()
    graph = _Graph(onnx)
    x = _prepared(graph, preparation, learner.n_features_in_, dtype)
    outputs = (
        _linear(graph, learner, x) if "linear" in registry.abilities(learner) else _network(graph, learner, x)
    )
    made = _proto(graph, f"rosenblatt {name}", outputs)
    names = None if preparation.steps else learner._feature_names()
    if names is not None:
        onnx.helper.set_model_props(made, {"feature_names": json.dumps([str(each) for each in names])})
    if made.ByteSize() > MAX_GRAPH_BYTES:
        raise InputError(f"An ONNX graph holds at most {MAX_GRAPH_BYTES:,} bytes, and this model is larger.")
    onnx.checker.check_model(made)
    return made


def _proto(graph: _Graph, name: str, outputs: list[Output]) -> Any:
    from rosenblatt._version import __version__

    helper = graph.onnx.helper
    told = helper.make_graph(
        graph.nodes,
        name,
        graph.inputs,
        [helper.make_tensor_value_info(each, kind, shape) for each, kind, shape in outputs],
        graph.constants,
    )
    domains = [helper.make_opsetid("", OPSET)]
    if any(node.domain == ML_DOMAIN for node in graph.nodes):
        domains.append(helper.make_opsetid(ML_DOMAIN, ML_OPSET))
    return helper.make_model(
        told,
        producer_name="rosenblatt",
        producer_version=__version__,
        ir_version=IR_VERSION,
        opset_imports=domains,
    )


def _prepared(graph: _Graph, preparation: Preparation, width: int, dtype: np.dtype[Any]) -> str:
    """Add the inputs and the steps before the learner, and return what the learner sees."""
    first, steps = preparation.encoding, preparation.steps
    if first is not None:
        x = _columns(graph, first.recipe, dtype)
        x = _transformed(graph, x, first)
        steps = steps[1:]
    else:
        x = graph.input("X", dtype, preparation.steps[0].n_features or width if steps else width)
    for number, step in enumerate(steps):
        if isinstance(step, UnitLength):
            x = _of_unit_length(graph, x, str(number))
            continue
        if isinstance(step, OnlineScaling):
            x = _standardised(graph, x, *step.divisors(), str(number))
            continue
        if not isinstance(step, Standardisation):
            raise InputError(
                f"a {type(step).__name__.removesuffix('Step')} step has no ONNX graph. "
                "Apply it yourself, and write the learner alone."
            )
        mean = step.mean if step.with_mean else None
        x = _standardised(graph, x, mean, step.scale, str(number))
    return x


def _columns(graph: _Graph, recipe: Recipe, dtype: np.dtype[Any]) -> str:
    """Add the inputs of a table, and return its features before filling and scaling."""
    if recipe.hashes:
        raise InputError(
            "A TableEncoder with text or hashed columns has no ONNX graph: ONNX cannot take words apart and hash "
            "them. Predict with rosenblatt, or write the learner alone, whose input X are the features."
        )
    if isinstance(recipe, TableRecipe) and recipe.dates:
        raise InputError(
            f"The column {recipe.dates[0][0]!r} holds dates, and ONNX cannot read these. Leave dates out when "
            "training, or write the learner alone, whose input X are the features."
        )
    if not isinstance(recipe, TableRecipe):
        return graph.cast(graph.input("X", dtype, recipe.n_features), np.float64)
    if recipe.only_numbers and not recipe.named:
        if len(recipe.numbers) < recipe.n_columns - (recipe.target is not None):
            raise InputError("A TableEncoder that ignores columns without names has no ONNX graph.")
        return _marked(graph, graph.cast(graph.input("X", dtype, len(recipe.numbers)), np.float64), recipe)
    unusable = [name for name, _ in recipe.columns if name in ("", "label", "scores", "values")]
    if unusable:
        raise InputError(f"The column {unusable[0]!r} cannot be an input of a graph by this name. Rename it.")
    numbers = [graph.input(name, dtype, 1) for name, _ in recipe.numbers]
    for name, _ in recipe.categorical:
        graph.input(name, str, 1)
    parts = []
    if numbers:
        parts = [_marked(graph, graph.cast(graph.node("Concat", *numbers, axis=1), np.float64), recipe)]
    order: list[int] = []
    for which, (name, _) in enumerate(recipe.categorical):
        values = [value or "" for column, value in recipe.categories if column == which]  # "" is missing
        if values:
            flags = graph.node("OneHotEncoder", name, domain=ML_DOMAIN, cats_strings=values, zeros=1)
            shape = graph.constant(f"one hot {which}", np.array([-1, len(values)]))
            parts.append(graph.cast(graph.node("Reshape", flags, shape), np.float64))
            order += [feature for feature, (column, _) in enumerate(recipe.categories) if column == which]
    joined = graph.node("Concat", *parts, axis=1)
    n = recipe.n_numbers + len(recipe.indicators)
    places = np.concatenate([np.arange(n), n + np.argsort(order)]).astype(np.int64)
    return graph.node("Gather", joined, graph.constant("order of features", places), axis=1)


def _marked(graph: _Graph, numbers: str, recipe: TableRecipe) -> str:
    """Add the marks of missing numbers behind the numbers."""
    if not recipe.indicators:
        return numbers
    chosen = graph.constant("numbers that can be missing", np.array(recipe.indicators, np.int64))
    marks = graph.cast(graph.node("IsNaN", graph.node("Gather", numbers, chosen, axis=1)), np.float64)
    return graph.node("Concat", numbers, marks, axis=1)


def _transformed(graph: _Graph, x: str, encoding: Encoding) -> str:
    recipe, filling, scaling = encoding.recipe, encoding.filling, encoding.scaling
    means = None if filling is None else np.pad(filling.means, (0, recipe.n_features - filling.n_features))
    if isinstance(recipe, TableRecipe) and recipe.missing == "zero":
        means = np.zeros(recipe.n_features)
    if means is not None:
        x = graph.node("Where", graph.node("IsNaN", x), graph.constant("means", means), x)
    if scaling is None:
        return x
    return _standardised(graph, x, scaling.mean, scaling.deviation, "of columns")


def _standardised(graph: _Graph, x: str, mean: Any, scale: Any, name: str) -> str:
    x = graph.cast(x, np.float64)
    if mean is not None:
        x = graph.node("Sub", x, graph.constant(f"mean {name}", mean))
    return x if scale is None else graph.node("Div", x, graph.constant(f"scale {name}", scale))


def _of_unit_length(graph: _Graph, x: str, name: str) -> str:
    x = graph.cast(x, np.float64)
    norms = graph.node("Sqrt", graph.node("ReduceSumSquare", x, axes=[1], keepdims=1))
    least = graph.constant(f"least {name}", np.full(1, 10 * np.finfo(np.float64).eps))
    one = graph.constant(f"one {name}", np.ones(1))
    return graph.node("Div", x, graph.node("Where", graph.node("Less", norms, least), one, norms))


def _linear(graph: _Graph, model: Any, x: str) -> list[Output]:
    linear = model._model()
    weights, scheme = np.atleast_2d(linear.all_weights), linear.scheme
    x = graph.cast(x, np.float64)
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


def _network(graph: _Graph, model: Any, x: str) -> list[Output]:
    from rosenblatt.networks.layers import ReLU, Sigmoid, Tanh

    network = model._network()
    dtype = network.theta.dtype
    x = graph.cast(x, dtype)
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
    if coding.n_outputs > 1 and coding.n_classes == 2:
        difference = graph.node("MatMul", x, graph.constant("sides", np.array([[-1.0], [1.0]], dtype)))
        zero = graph.constant("zero", np.zeros(1, dtype))
        return _of_two(graph, difference, graph.node("Greater", difference, zero), model.classes_, dtype)
    if coding.n_outputs > 1:
        return _of_many(graph, x, model.classes_, dtype, last=False)
    middle = graph.constant("middle", np.array([coding.middle], dtype))
    positive = graph.node("Greater", x, middle)
    return _of_two(graph, graph.node("Sub", x, middle), positive, model.classes_, dtype)


def _of_two(graph: _Graph, scores: str, positive: str, classes: NDArray[Any], dtype: Any) -> list[Output]:
    """Add the outputs of two classes, from a column of scores and one of sides."""
    flat = graph.constant("flat", np.array([-1]))
    graph.node("Reshape", scores, flat, name="scores")
    codes = graph.node("Reshape", graph.cast(positive, np.int64), flat)
    return _labelled(graph, codes, classes, dtype, ["n_rows"])


def _of_many(graph: _Graph, scores: str, classes: NDArray[Any], dtype: Any, *, last: bool) -> list[Output]:
    """Add the outputs of several classes; ties go to the lowest, or to the last one."""
    graph.node("Identity", scores, name="scores")
    codes = graph.node("ArgMax", scores, axis=1, keepdims=0, select_last_index=int(last))
    return _labelled(graph, codes, classes, dtype, ["n_rows", len(classes)])


def _labelled(graph: _Graph, codes: str, classes: NDArray[Any], dtype: Any, shape: list[Any]) -> list[Output]:
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
    raise InputError(
        f"The classes {classes.tolist()[:5]!r} have no type in ONNX. Train on labels that are all texts, all "
        "integers of 64 bits, all flags or all floats."
    )
