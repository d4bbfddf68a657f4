"""The codec of an estimator: its constructor parameters, and what its ``__dict__`` holds after training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.exceptions import ParameterError
from rosenblatt.schema.codecs import Codec, Context, UnsoundError, wrong
from rosenblatt.schema.plain import Parameter, stored_name

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
