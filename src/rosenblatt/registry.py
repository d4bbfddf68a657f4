"""The one registry of learners: their names on the command line, their abilities, and their stored state.

Every estimator class declares itself by a class attribute, ``_learner``. The command line, model files and tests
read these declarations here. `BUILT_IN` has the names and abilities of the learners of this package, so that a
model file can be opened and a command can show its options without importing scikit-learn; their classes add what
a file keeps of them. Learners of other packages are added by `register`, or by an entry point of the group
``rosenblatt.learners``. A model file holds the name of a class, and only a registered class is ever made from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

from rosenblatt.exceptions import ParameterError
from rosenblatt.parameters import unknown_name
from rosenblatt.rooms import find

if TYPE_CHECKING:
    from rosenblatt.codecs import StateSchema

Ability: TypeAlias = Literal[
    "streams",
    "examples",
    "blocks",
    "checkpoints",
    "mixing",
    "serves",
    "linear",
    "traces",
    "onnx",
    "groups",
    "numbers",
]
Parameters: TypeAlias = Mapping[str, Any]
T = TypeVar("T", bound=type)

GROUP = "rosenblatt.learners"
"""The group of entry points. The name of an entry point is the name of its learner on the command line."""


@dataclass(frozen=True)
class Learner:
    """What an estimator class declares of itself, as its class attribute ``_learner``.

    Attributes
    ----------
    state : StateSchema
        What a model file keeps of a trained estimator.
    commands : mapping of str to mapping
        Its names on the command line, each with the parameters that the name fixes.
    abilities : frozenset of str
        ``"streams"``: it has `partial_fit`. ``"examples"``: it has `learn_one` and `predict_one`.
        ``"blocks"``: it has `fit_blocks`, so that data need not fit into memory. ``"checkpoints"``: a fit
        can go on from a checkpoint, by `fit_blocks` or, where there is none, by `fit`. ``"mixing"``:
        `rosenblatt.distributed.fit` takes it. ``"serves"``: a server goes on with it, row by row.
        ``"linear"``: it predicts by hyperplanes alone, and its state includes
        `learning.linear.HYPERPLANES`. ``"traces"``: it has `trace_`. ``"onnx"``: `to_onnx` takes it.
        ``"groups"``: `fit` takes the group of each row as `qid`, and rows are ranked by what `predict`
        returns. ``"numbers"``: its targets are numbers, not classes.
    titles : mapping of str to str
        What people call it by each of its command names; by default they are shown as they are.
    """

    state: StateSchema
    commands: Mapping[str, Parameters] = field(default_factory=dict)
    abilities: frozenset[Ability] = frozenset()
    titles: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Declares(Protocol):
    """An estimator that declares what it is."""

    _learner: ClassVar[Learner]


class BuiltIn(NamedTuple):
    """A learner of this package: its module, its names on the command line, its abilities, and its titles."""

    module: str
    commands: dict[str, Parameters]
    abilities: frozenset[Ability] = frozenset()
    titles: Mapping[str, str] = MappingProxyType({})
    bare: tuple[str, str] | None = None  # the module and the class that trains without scikit-learn, if any
    rule: str | None = None  # the name of its rule in `loops.rules`, if its streams need nothing of the estimator
    declares: tuple[str, str] | None = None  # the module and the class that has its parameters, and nothing else


_EXAMPLES: frozenset[Ability] = frozenset({"streams", "examples"})
_TRACED: frozenset[Ability] = _EXAMPLES | {"traces"}
_PLANES: frozenset[Ability] = frozenset({"linear", "onnx"})
_ONLINE: frozenset[Ability] = _TRACED | _PLANES | {"blocks", "checkpoints", "serves"}
# "mixing" is not for rules with a memory of their own: only weights are mixed.

BUILT_IN = {
    "Perceptron": BuiltIn(
        "estimators.perceptron",
        {"averaged": {"average": True}, "perceptron": {}},
        _ONLINE | {"mixing"},
        {"averaged": "Averaged perceptron", "perceptron": "Perceptron"},
        bare=("estimators.perceptron_core", "BarePerceptron"),
        rule="Rule",
        declares=("parameters", "PerceptronParameters"),
    ),
    "VotedPerceptron": BuiltIn("estimators.voted", {"voted": {}}, _TRACED, {"voted": "Voted perceptron"}),
    "PocketPerceptron": BuiltIn(
        "estimators.pocket", {"pocket": {}}, _PLANES | {"traces"}, {"pocket": "Pocket perceptron"}
    ),
    "LiftedPerceptron": BuiltIn(
        "estimators.lifted", {"lifted": {}}, _PLANES | {"traces"}, {"lifted": "Lifted perceptron"}
    ),
    "KernelPerceptron": BuiltIn(
        "kernels.kernel_perceptron", {"kernel": {}}, _TRACED | {"serves"}, {"kernel": "Kernel perceptron"}
    ),
    "SoftMarginClassifier": BuiltIn(
        "estimators.soft_margin", {"soft-margin": {}}, _PLANES, {"soft-margin": "Soft margin"}
    ),
    "MaxMarginClassifier": BuiltIn(
        "estimators.max_margin", {"max-margin": {}}, _PLANES, {"max-margin": "Maximum margin"}
    ),
    "PassiveAggressiveClassifier": BuiltIn(
        "estimators.passive_aggressive",
        {
            "pa": {"C": inf},
            "pa1": {},
            "pa2": {"loss": "squared_hinge"},
            "averaged-pa1": {"average": True},
        },
        _ONLINE | {"mixing"},
        {
            "pa": "Passive-aggressive, PA",
            "pa1": "Passive-aggressive, PA-I",
            "pa2": "Passive-aggressive, PA-II",
            "averaged-pa1": "Averaged PA-I",
        },
        bare=("estimators.perceptron_core", "BarePassive"),
        rule="Passive",
        declares=("parameters", "PassiveParameters"),
    ),
    "ConfidenceWeightedClassifier": BuiltIn(
        "estimators.confidence_weighted",
        {"arow": {}, "scw": {"rule": "scw"}},
        _ONLINE,
        {"arow": "Confidence-weighted, AROW", "scw": "Confidence-weighted, SCW-I"},
        rule="Confidence",
    ),
    "PNormPerceptron": BuiltIn(
        "estimators.p_norm", {"p-norm": {}}, _ONLINE, {"p-norm": "p-norm perceptron"}, rule="Power"
    ),
    "PassiveAggressiveRegressor": BuiltIn(
        "estimators.passive_aggressive",
        {"pa-regressor": {}},
        _EXAMPLES | {"checkpoints", "numbers"},
        {"pa-regressor": "Passive-aggressive regression"},
    ),
    "OrdinalPerceptron": BuiltIn(
        "estimators.ordinal",
        {"prank": {}},
        _EXAMPLES | {"blocks", "checkpoints"},
        {"prank": "Ordered classes, PRank"},
    ),
    "RankingPerceptron": BuiltIn(
        "estimators.ranking_perceptron",
        {"ranking": {}},
        frozenset({"streams", "checkpoints", "groups", "numbers"}),
        {"ranking": "Ranking perceptron"},
    ),
    "MultilabelPerceptron": BuiltIn("estimators.multilabel", {}, _EXAMPLES | {"checkpoints"}),
    "MultilayerPerceptron": BuiltIn(
        "networks.multilayer_perceptron",
        {"network": {}},
        frozenset({"streams", "onnx"}),
        {"network": "Network of several layers"},
    ),
    "MarkOne": BuiltIn("networks.mark_one", {"mark-one": {}}, _TRACED, {"mark-one": "Mark I"}),
    "ExtremeLearningMachine": BuiltIn(
        "networks.extreme_learning",
        {"extreme": {}},
        frozenset({"streams"}),
        {"extreme": "Extreme learning machine"},
    ),
    "VisualHierarchy": BuiltIn("networks.visual_hierarchy", {}),
    "MonomialMap": BuiltIn("estimators.monomial_map", {}),
    "OnlineScaler": BuiltIn("estimators.online_scaler", {}, frozenset({"streams"})),
    "Probes": BuiltIn("probes.probes", {}),
    "AdaptiveFilter": BuiltIn("estimators.adaptive_filter", {}, frozenset({"streams", "numbers"})),
    "SequencePerceptron": BuiltIn("sequences.estimator", {}, _TRACED | {"checkpoints"}),
}
"""The learners of this package by class name. This is said nowhere else: a class takes it by `built_in`."""

OF_TABLES, OF_OTHERS = "averaged-pa1", "averaged"
"""The learners that are taken where none is named: for tables, and for rows that are taken as they are.

`docs/do/choosing.md` has the figures by which they were chosen.
"""

_registered: dict[str, type] = {}


def built_in(name: str, state: StateSchema) -> Learner:
    """Return the declaration of a learner of this package: what `BUILT_IN` says of it, and its stored state."""
    return Learner(state, *BUILT_IN[name][1:4])


def register(cls: T) -> T:
    """Add a learner: it can then be saved, loaded, and named on the command line.

    Parameters
    ----------
    cls : class
        An estimator class with its own ``_learner``, a `Learner`. A subclass must not share the declaration of its
        base class; ``dataclasses.replace`` makes another one.

    Returns
    -------
    class
        The same class, so that `register` can be a decorator.

    Raises
    ------
    ParameterError
        If the class declares nothing, or if its name or one of its command names belongs to another class. A class
        that is defined again, in the same place under the same name, replaces the first.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import rosenblatt as rb
    >>> @rb.register
    ... class CarefulPerceptron(rb.Perceptron):
    ...     _learner = replace(rb.Perceptron._learner, commands={"careful": {"margin": 1.0}})
    >>> "careful" in commands()
    True
    """
    learner, name = vars(cls).get("_learner"), cls.__name__
    if not isinstance(learner, Learner):
        told = (
            "it does not declare a class attribute _learner. Add one; a subclass can use "
            "dataclasses.replace(Base._learner, commands={...})."
        )
        raise _unregistered(cls, told)
    if name in BUILT_IN or not _same_place(_registered.get(name, cls), cls):
        raise _unregistered(cls, "another learner has this name. Rename the class.")
    for command_name in learner.commands:
        owner = _owners().get(command_name, name)
        if owner != name:
            raise _unregistered(cls, f"{command_name!r} is the command name of {owner}. Use another one.")
    _registered[name] = cls
    return cls


def _unregistered(cls: type, why: str) -> ParameterError:
    return ParameterError(f"{cls.__name__} cannot be registered: {why}", parameter="cls", value=cls)


def is_known(name: str) -> bool:
    """Return whether a registered learner class has a name. Learners of this package are not imported."""
    if name not in BUILT_IN and name not in _registered:
        _load_entry_points()
    return name in BUILT_IN or name in _registered


def class_of(name: str) -> Any:
    """Return the learner class with a name, or raise `ParameterError`."""
    if name in BUILT_IN:
        return getattr(find(BUILT_IN[name].module), name)
    if not is_known(name):
        told = f"No learner {name!r:.60} is registered. Call rosenblatt.register on its class."
        raise ParameterError(told, parameter="name", value=name)
    return _registered[name]


def defaults_of(name: str) -> Parameters:
    """Return the default of each parameter of the learner class with a name.

    A perceptron, which most model files hold, is not imported for this, and neither is scikit-learn.
    """
    found = BUILT_IN[name].declares if name in BUILT_IN else None
    if found is None:
        usual: Parameters = class_of(name)().get_params(deep=False)
        return usual
    declared = getattr(find(found[0]), found[1])._declared
    return {each: parameter.default for each, parameter in declared.items()}


def is_linear(name: str) -> bool:
    """Return whether the learner class with a name predicts by hyperplanes alone, without importing it."""
    known = BUILT_IN[name].abilities if name in BUILT_IN else declaration_of(class_of(name)).abilities
    return "linear" in known


def name_of(model: Any) -> str:
    """Return the class name of a learner; one without scikit-learn has that of its estimator."""
    cls = type(model)
    bare = {(f"rosenblatt.{entry.bare[0]}", entry.bare[1]): name for name, entry in BUILT_IN.items() if entry.bare}
    return bare.get((cls.__module__, cls.__name__), cls.__name__)


def is_registered(model: Any) -> bool:
    """Return whether the class of an object, not only its name, is a registered learner."""
    name, cls = name_of(model), type(model)
    return is_known(name) and (name != cls.__name__ or class_of(name) is cls)


def declaration_of(cls: Any) -> Learner:
    """Return what a learner class declares."""
    learner: Learner = cls._learner
    return learner


def abilities(model: Any) -> frozenset[Ability]:
    """Return the declared abilities of an estimator; none if its class declares nothing."""
    return model._learner.abilities if isinstance(model, Declares) else frozenset()


def commands() -> list[str]:
    """Return all names that learners have on the command line; installed learners are not imported."""
    return list(dict.fromkeys([*_owners(), *(point.name for point in _entry_points())]))


def title_of(command: str) -> str:
    """Return what people call the learner with a command name.

    Examples
    --------
    >>> title_of("pa1"), title_of("p-norm")
    ('Passive-aggressive, PA-I', 'p-norm perceptron')
    """
    titles = [entry.titles for entry in BUILT_IN.values()]
    titles += [declaration_of(cls).titles for cls in _registered.values()]
    return next((each[command] for each in titles if command in each), command)


def able(ability: Ability) -> list[str]:
    """Return the command names of all learners with an ability, without importing them.

    Of learners of other packages, those registered so far are listed.

    Examples
    --------
    >>> "arow" in able("blocks"), "arow" in able("mixing"), "pocket" in able("blocks")
    (True, False, False)
    """
    built_in = [each for entry in BUILT_IN.values() if ability in entry.abilities for each in entry.commands]
    others = [declaration_of(cls) for cls in _registered.values()]
    return built_in + [each for learner in others if ability in learner.abilities for each in learner.commands]


def able_in_words(ability: Ability) -> str:
    """Return the names of `able` as part of a sentence.

    Examples
    --------
    >>> able_in_words("mixing")  # learners that were registered come after these
    'averaged, perceptron, pa, pa1...pa2...
    """
    *first, last = able(ability)
    return f"{', '.join(first)} and {last}"


def classes_able(ability: Ability) -> str:
    """Return the classes of this package with an ability as part of a sentence.

    Examples
    --------
    >>> classes_able("mixing")
    'Perceptron or PassiveAggressiveClassifier'
    """
    *first, last = [name for name, entry in BUILT_IN.items() if ability in entry.abilities]
    return f"{', '.join(first)} or {last}"


def is_command(name: str) -> bool:
    """Return whether a learner has a command name. Learners of this package are not imported."""
    if name not in _owners():
        _load_entry_points()
    return name in _owners()


def command(name: str, *, bare: bool = False) -> tuple[Any, Parameters]:
    """Return the class and the fixed parameters of a command name, or raise `ParameterError`.

    With `bare`, the class is one that needs no scikit-learn, if the learner has one.
    """
    require_command(name)
    owner = _owners()[name]
    found = BUILT_IN[owner].bare if bare and owner in BUILT_IN else None
    cls = class_of(owner) if found is None else getattr(find(found[0]), found[1])
    return cls, declaration_of(cls).commands[name]


def require_command(name: str) -> None:
    """Raise `ParameterError` for a name that is not that of a command."""
    if not is_command(name):
        raise unknown_name("learner", name, "is not a learner", commands())


def _owners() -> dict[str, str]:
    """Return the class name of each command name."""
    owners = {each: name for name, entry in BUILT_IN.items() for each in entry.commands}
    return owners | {each: name for name, cls in _registered.items() for each in declaration_of(cls).commands}


def _same_place(one: type, other: type) -> bool:
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _load_entry_points() -> None:
    """Import and register the learners of installed packages."""
    for point in _entry_points():
        try:
            register(point.load())
        except Exception as error:
            warnings.warn(
                f"The learner {point.name} ({point.value}) of an installed package cannot be used: "
                f"{type(error).__name__}: {error}",
                stacklevel=2,
            )
