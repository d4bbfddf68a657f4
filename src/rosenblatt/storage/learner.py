"""How an estimator is written and read: its parameters, and what its ``__dict__`` holds besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.exceptions import ParameterError
from rosenblatt.schema.codecs import Codec, Context, UnsoundError, wrong
from rosenblatt.schema.plain import Parameter, written

PARAMETER = Parameter()
HELD = (
    ("callbacks", "set_params(callbacks=None)"),
    ("random_state", "set_params(random_state=0)"),
    ("order", "set_params(order='shuffle')"),
    ("kernel", "a value of rosenblatt.kernels, such as RBF(0.5), in place of the function"),
)
"""Parameters that may be what no file holds, and the way out."""


@dataclass(frozen=True)
class Learner:
    """How an estimator is written and read.

    Attributes
    ----------
    estimator : type
        Its class.
    required, optional : mapping of str to Codec
        What its ``__dict__`` holds besides its parameters: always, and depending on how it was trained.
    link : callable
        Puts parts together that share something, in place; raises `UnsoundError` if they contradict each other.
    before : callable
        Changes what it holds before it is written.
    """

    estimator: type
    required: Mapping[str, Codec]
    optional: Mapping[str, Codec] = field(default_factory=dict)
    link: Callable[[dict[str, Any]], None] = lambda held: None
    before: Callable[[dict[str, Any]], dict[str, Any]] = lambda held: held

    @property
    def parts(self) -> dict[str, Codec]:
        """All that there may be."""
        return {**self.required, **self.optional}

    def encode(self, model: Any, at: str, context: Context) -> dict[str, Any]:
        """Return parameters and state."""
        parameters = model.get_params(deep=False)
        told = {
            name: self._parameter(name, value, f"{at}parameters.{name}", context)
            for name, value in parameters.items()
        }
        held = self.before({name: value for name, value in vars(model).items() if name not in parameters})
        strange = held.keys() - self.parts.keys()
        if strange:
            raise ParameterError(
                f"model has {', '.join(sorted(strange))}, which a {self.estimator.__name__} does not have and its "
                "file would lose. Delete it before saving."
            )
        try:
            state = {
                written(name): self.parts[name].encode(value, f"{at}{written(name)}", context)
                for name, value in held.items()
            }
        except UnsoundError as error:
            raise ParameterError(f"model cannot be saved: {error}.") from None
        return {"parameters": told, "state": state}

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the estimator."""
        if not isinstance(told, dict) or told.keys() != {"parameters", "state"}:
            wrong(at, "does not have the parts it should have")
        known = self.estimator._get_param_names()  # type: ignore[attr-defined]
        if not isinstance(told["parameters"], dict) or not told["parameters"].keys() <= set(known):
            wrong(f"{at}parameters", f"are not those of a {self.estimator.__name__}")
        parameters = {
            name: PARAMETER.decode(value, f"{at}parameters.{name}", context)
            for name, value in told["parameters"].items()
        }
        state, names = told["state"], {written(name): name for name in self.parts}
        required = {written(name) for name in self.required}
        if not isinstance(state, dict) or not required <= state.keys() <= names.keys():
            wrong(f"{at}state", f"is not that of a {self.estimator.__name__}")
        held = {
            names[each]: self.parts[names[each]].decode(value, f"{at}{each}", context)
            for each, value in state.items()
        }
        self.link(held)
        model = self.estimator(**parameters)
        vars(model).update(held)
        return model

    def _parameter(self, name: str, value: Any, at: str, context: Context) -> Any:
        try:
            return PARAMETER.encode(value, at, context)
        except UnsoundError:
            way_out = dict(HELD).get(name, "a number, a text, or a list, tuple, dictionary or array of them")
            raise ParameterError(
                f"{name}={value!r} cannot be saved: a model file holds values, nothing that would have to be "
                f"executed. Before saving use {way_out}."
            ) from None
