"""How scikit-learn's preparing steps are written with a `TableEncoder`, and what then differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rosenblatt.codecs import plain_value

ALONE = "save the learner alone, and keep the steps before it with joblib"
MOST_NAMES = 12
"""The most columns of one kind that are listed."""
SCALERS = ("MaxAbsScaler", "MinMaxScaler", "RobustScaler")
WORDS = {"CountVectorizer": "count", "HashingVectorizer": "count", "TfidfVectorizer": "tfidf"}
"""What counts words, and the nearest weighting of a `TableEncoder`."""


def advice(steps: Sequence[Any], *, followed: bool) -> str:
    """Return how to write the first steps of a pipeline, those that no file can hold, with a `TableEncoder`.

    `followed` says whether more steps come before the learner.
    """
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(steps[0])
    except NotFittedError:
        return f"This {type(steps[0]).__name__} is not trained yet."
    plan, columns = _Plan(), _all_columns(steps[0])
    if len(steps) == 1 and type(steps[0]).__name__ == "ColumnTransformer":
        step, done = steps[0], "the ColumnTransformer"
        if step.transformer_weights:
            plan.nothing.append("transformer_weights")
        for name, each, of in step.transformers_:
            parts = [part for _, part in each.steps] if hasattr(each, "steps") else [each]
            if chosen := _columns(of, columns):
                plan.add(parts, chosen, f" of {name!r}")
        plan.dense = followed and not getattr(step, "sparse_output_", True)
    else:
        done = " and ".join(type(each).__name__ for each in steps)
        plan.add(list(steps), columns, "")
        plan.dense = followed and not getattr(steps[-1], "sparse_output", False)
    return plan.told(done)


@dataclass
class _Plan:
    """What a `TableEncoder` is to do, and what it cannot do in the same way."""

    categorical: list[Any] = field(default_factory=list)
    text: list[Any] = field(default_factory=list)
    ignore: list[Any] = field(default_factory=list)
    weighting: str | None = None
    dense: bool = False
    fills: dict[str, None] = field(default_factory=dict)
    scaled: list[bool] = field(default_factory=list)
    marks: bool = False  # whether there are marks of missing numbers
    used: Counter[Any] = field(default_factory=Counter)
    differs: dict[str, None] = field(default_factory=dict)
    nothing: list[str] = field(default_factory=list)

    def add(self, parts: list[Any], columns: list[Any], where: str) -> None:
        """Add what is done to some columns; `where` names the part in a message."""
        parts = [part for part in parts if not _does_nothing(part)]
        kinds = [part if isinstance(part, str) else type(part).__name__ for part in parts]
        self.used.update(columns)
        last = kinds[-1] if kinds else None
        if kinds == ["drop"]:
            self.ignore += columns
        elif last in ("OneHotEncoder", "OrdinalEncoder") and kinds[:-1] in ([], ["SimpleImputer"]):
            self.categorical += columns
            self._encode(parts[-1], where)
            if len(parts) == 2:
                self.differs[f"a missing category is a category of its own (SimpleImputer{where})"] = None
        elif last in WORDS and len(kinds) == 1:
            self.text += columns
            self.weighting = WORDS[last]
            self.differs[f"words are split and hashed in its own way ({last}{where})"] = None
        else:
            self.scaled.append(False)
            for part, kind in zip(parts, kinds, strict=True):
                self._number(part, kind, where)

    def _encode(self, part: Any, where: str) -> None:
        kind = type(part).__name__
        if kind == "OrdinalEncoder":
            self.differs[f"each category is a feature of its own, not a number ({kind}{where})"] = None
            return
        for name in ("categories", "drop", "min_frequency", "max_categories"):
            asked = getattr(part, name)
            if asked is not None and not (isinstance(asked, str) and asked == "auto"):
                self.differs[f"each category that is met has a feature, without {name} ({kind}{where})"] = None

    def _number(self, part: Any, kind: str, where: str) -> None:
        at = f"({kind}{where})"
        if kind == "SimpleImputer":
            self._fill(part, at)
        elif kind == "StandardScaler":
            self.scaled[-1] = True
            if not part.with_mean:
                self.differs[f"the mean is subtracted too {at}"] = None
            if not part.with_std:
                self.differs[f"numbers are divided by their deviations too {at}"] = None
        elif kind in SCALERS:
            self.scaled[-1] = True
            self.differs[f"numbers are standardised, as by StandardScaler {at}"] = None
        else:
            self.nothing.append(f"{kind}{where}")

    def _fill(self, part: Any, at: str) -> None:
        """Add how an imputer fills missing numbers."""
        marks = bool(part.add_indicator)
        if marks and getattr(part, "indicator_", None) is not None:
            marks = bool(len(part.indicator_.features_))
        zero = part.strategy == "constant" and part.fill_value in (None, 0)
        self.fills["indicator" if part.add_indicator else "zero" if zero else "mean"] = None
        self.marks = self.marks or marks
        if self.scaled[-1]:
            self.differs[f"missing numbers are filled before all are scaled {at}"] = None
        if part.strategy != "mean" and (not zero or part.add_indicator):
            given = {"median": "the median", "most_frequent": "the most frequent value"}
            told = given.get(part.strategy) or repr(plain_value(part.fill_value) or 0)
            self.differs[f"missing numbers get the mean, not {told} {at}"] = None
        if not (isinstance(part.missing_values, float) and np.isnan(part.missing_values)):
            self.differs[f"NaN and None are missing, not {part.missing_values!r} {at}"] = None
        learned = np.asarray(getattr(part, "statistics_", []))
        if learned.dtype.kind == "f" and np.isnan(learned).any() and not part.keep_empty_features:
            self.differs[f"columns without any value stay, as zeros {at}"] = None

    def told(self, done: str) -> str:
        """Return the advice, for what stands in place of the encoder."""
        if self.nothing:
            return f"A TableEncoder has nothing like {', '.join(self.nothing)}. {ALONE.capitalize()}."
        scale = any(self.scaled)
        if scale and not all(self.scaled):
            self.differs["all numbers are standardised, or none"] = None
        if len(self.fills) > 1:
            self.differs["missing numbers of all columns are filled in one way"] = None
        if scale and self.marks:
            self.differs["marks of missing numbers are not scaled"] = None
        if max(self.used.values(), default=0) > 1:
            self.differs["each column is used once"] = None
        missing = next((each for each in ("indicator", "mean", "zero") if each in self.fills), None)
        settings: dict[str, str | None] = {
            "missing": None if missing is None else repr(missing),
            "scale": "True" if scale else None,
            "categorical": _listed(self.categorical),
            "text": _listed(self.text),
            "weighting": repr(self.weighting) if self.weighting == "count" else None,
            "ignore": _listed(self.ignore),
            "sparse_output": "False" if self.dense and (self.categorical or self.text) else None,
        }
        written = ", ".join(f"{name}={value}" for name, value in settings.items() if value)
        if not self.differs:
            return f"Use TableEncoder({written}) in place of {done} and train again: it makes the same features."
        return (
            f"No TableEncoder does the same as {done}. The nearest is TableEncoder({written}), with these "
            f"differences: {'; '.join(self.differs)}. Train again with it, or {ALONE}."
        )


def _does_nothing(part: Any) -> bool:
    """Return whether a part gives columns back as they are."""
    return (
        part is None
        or (isinstance(part, str) and part == "passthrough")
        or (type(part).__name__ == "FunctionTransformer" and part.func is None)
    )


def _all_columns(step: Any) -> list[Any]:
    """Return the names of the columns a step was trained on, or their positions."""
    names = getattr(step, "feature_names_in_", None)
    return (
        list(range(int(getattr(step, "n_features_in_", 0))))
        if names is None
        else [plain_value(each) for each in names]
    )


def _columns(of: Any, known: list[Any]) -> list[Any]:
    """Return the columns that a part of a ColumnTransformer names, as names where it has them."""
    if isinstance(of, slice):
        if not any(isinstance(end, str) for end in (of.start, of.stop)):
            return known[of]
        first = 0 if of.start is None else known.index(of.start)
        return known[first : None if of.stop is None else known.index(of.stop) + 1 : of.step]
    listed = [of] if isinstance(of, str | int) else [plain_value(each) for each in of]
    if listed and isinstance(listed[0], bool):
        return [name for name, wanted in zip(known, listed, strict=True) if wanted]
    return [known[each] if isinstance(each, int) else each for each in listed]


def _listed(columns: list[Any]) -> str | None:
    """Return columns as Python text; of very many the first and the last."""
    if not columns:
        return None
    if len(columns) > 2 and columns == list(range(len(columns))):
        return f"list(range({len(columns)}))"
    if len(columns) <= MOST_NAMES:
        return repr(columns)
    return f"[{columns[0]!r}, {columns[1]!r}, …, {columns[-1]!r}]"
