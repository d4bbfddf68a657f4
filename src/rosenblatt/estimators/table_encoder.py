"""From the raw columns of tables to features, as a scikit-learn transformer.

The parameters of `TableEncoder` that are lists, checked and as plain values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from rosenblatt.estimators._features import Trained
from rosenblatt.exceptions import Given, InputError, ParameterError, ShapeError
from rosenblatt.parameters import Declared, check_flag, learned, param
from rosenblatt.rows.batch import Batch
from rosenblatt.rows.features import Features, is_sparse
from rosenblatt.tables.blocks import BLOCK_BYTES, Builder
from rosenblatt.tables.file_source import ReadAgainError, Source
from rosenblatt.tables.in_memory import learn_sparse, learn_table
from rosenblatt.tables.preparation import Encoding, as_dense
from rosenblatt.tables.reading import MISSING_RULES, MOST_BITS, Column, Options, runs_of
from rosenblatt.tables.recipe import ROLES, Recipe, SparseRecipe, TableRecipe
from rosenblatt.tables.scaling import Filling, Statistics, Transformation, Weighting, mark_missing

CHOSEN = ("text", "categorical", "hashed", "ignore")
"""The parameters that name columns."""


def chosen(name: str, columns: Any) -> tuple[Column, ...]:
    """Return the columns that a parameter names."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ParameterError(Given(name, columns) + f" must be a list of columns, such as [{columns!r}].")
    found = [column.item() if isinstance(column, np.generic) else column for column in columns]
    if not all(type(column) in (str, int) for column in found):
        raise ParameterError(Given(name, columns) + " must hold names of columns, or positions.")
    return tuple(found)


def words(name: str, words: Any) -> tuple[str, ...]:
    """Return the words that a parameter lists."""
    if isinstance(words, str) or not isinstance(words, Iterable) or not all(type(each) is str for each in words):
        raise ParameterError(Given(name, words) + " must be a list of words, such as ['unknown'].")
    return tuple(words)


def from_1(column: Column) -> Column:
    """Return a position counted from 1, as files are read; names and positions from the end stay."""
    return column + 1 if isinstance(column, int) and column >= 0 else column


def plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as plain values, which files can hold."""
    lists: dict[str, tuple[Any, ...]] = {name: chosen(name, parameters[name]) for name in CHOSEN}
    lists["na"] = words("na", parameters["na"])
    return parameters | {
        name: each if isinstance(parameters[name], tuple) else list(each) for name, each in lists.items()
    }


class TableEncoder(Declared, Trained, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features from the raw columns of a table: numbers, categories, text, missing values.

    Numbers (and True and False) become features without a change. Each value of a column of strings becomes a
    feature that is 1 or 0, in the order in which the values are first met; values not met in training get zeros.
    Text becomes its words, hashed into 2^bits features and weighted by log count, idf and length. The command
    line ``rosenblatt train`` reads files in the same way, to the same bits.

    Attributes
    ----------
    encoding_ : Encoding
        The learned state, which `rosenblatt.save` writes beside the learner.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Their names, where they have any.

    Notes
    -----
    X may be a dataframe (pandas, polars, pyarrow and others that narwhals reads) or a list of dicts. It may also
    be a list or 1-D array of texts (one text column), a 2-D array or list of lists, or a sparse matrix of numbers.
    Columns are found by name, in any order; additional columns are ignored. Columns without names are found by
    position. The output is an array where all features are numbers, and otherwise a scipy CSR array, unless
    `sparse_output` is False or ``set_output`` asks for a dataframe.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from rosenblatt import Perceptron
    >>> things = [{"size": 3.0, "colour": "red"}, {"size": 0.5, "colour": "brown"}, {"size": 2.0, "colour": "red"}]
    >>> encoder = TableEncoder().fit(things)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour=red', 'colour=brown']
    >>> encoder.transform([{"colour": "brown", "size": 1.0}]).toarray()
    array([[1., 0., 1.]])
    >>> mail = ["win a prize", "see you at home", "free prize", "home at six"]
    >>> model = make_pipeline(TableEncoder(), Perceptron()).fit(mail, ["spam", "ham", "spam", "ham"])
    >>> model.predict(["a free prize for you", "six at home"]).tolist()
    ['spam', 'ham']
    """

    text: Sequence[Column] = param(
        (), "Columns of text, by name, or by position from 0.", kind="sequence of str or int"
    )
    categorical: Sequence[Column] = param(
        (),
        "Columns to treat as categories (one-hot), even if they hold numbers. Other columns of strings are "
        "categorical too.",
        kind="sequence of str or int",
    )
    hashed: Sequence[Column] = param(
        (),
        "Columns with very many categories, such as postcodes: each category is hashed to one of 2^bits features.",
        kind="sequence of str or int",
    )
    ignore: Sequence[Column] = param((), "Columns to leave out.", kind="sequence of str or int")
    ngrams: int | str = param(
        1,
        "The longest run of words that counts as one feature, or lengths such as '1-2'. 'char:2-5': runs of two"
        " to five characters within words, with the spaces around them.",
        check=lambda name, value: runs_of(value),
    )
    bits: int = param(18, "Each text or hashed column has 2^bits features.", most=MOST_BITS)
    weighting: str = param(
        "tfidf",
        "What becomes of the counts of words: (1 + log count) · idf with each text divided by its length, or the "
        "counts as they are. `fit` learns idf; `partial_fit` keeps it, and an encoder that begins with "
        "`partial_fit` has none.",
        one_of=("tfidf", "count"),
    )
    vocabulary: bool | None = param(
        None,
        "Whether to store the words, so that `get_feature_names_out` names them: up to three of each feature. "
        "None: the first one met, of runs of words and up to 2^20 features a column.",
    )
    missing: str = param(
        "indicator",
        "How to fill missing numbers: raise an error with the place, use 0, use the mean of the column, or use "
        "the mean and one more feature that marks them. The first fit decides which columns have marks. A missing "
        "category is a category of its own. A missing text is empty. Sparse rows with missing numbers are an "
        "error unless zero or mean is asked for.",
        one_of=MISSING_RULES,
    )
    scale: bool = param(
        False,
        "Whether numbers are standardised: (x − mean) / deviation. Categories and words stay as they are. A "
        "sparse matrix is divided by the deviations and not centred.",
    )
    date: str = param(
        "auto",
        "Whether columns of dates, typed or as text, become numbers: days since 1970, and their month and weekday "
        "as categories where these vary in the first rows; or are left out.",
        one_of=("auto", "none"),
    )
    na: Sequence[str] = param(
        (),
        "More words that stand for a missing category, and in `fit_files` for a missing number, too. Numbers of "
        "other tables are missing where they are NaN or None.",
        kind="sequence of str",
    )
    sparse_output: bool = param(
        True,
        "Whether features that are not all numbers become a sparse array. With False they become an array, and "
        'after ``set_output(transform="pandas")`` always a dataframe.',
    )
    encoding_: Encoding = learned()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "encoding_" in self.__dict__

    @classmethod
    def of(cls, encoding: Encoding) -> Self:
        """Return the fitted encoder of an encoding, such as one that the command line learned.

        Parameters
        ----------
        encoding : Encoding
            The fitted state.
        """
        encoder = cls(**encoding.encoder_parameters)
        encoder.encoding_ = encoding
        return encoder

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn categories, words, means and deviations.

        Parameters
        ----------
        X : dataframe, list of mappings, list of texts, array or sparse matrix
            The table.
        y : ignored

        Returns
        -------
        TableEncoder
            The estimator.
        """
        self._fit(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more rows: new categories get features behind the others, means and deviations go on.

        A model of the command line does not know of how many rows its means are. They stay as they are.

        Parameters
        ----------
        X : dataframe, list of mappings, list of texts, array or sparse matrix
            More rows of the table.
        y : ignored

        Returns
        -------
        TableEncoder
            The estimator.
        """
        if not self.__sklearn_is_fitted__():
            self._fit(X, weigh=False)
            return self
        before = self.encoding_
        if before.scaling and before.statistics is None:
            raise InputError(
                "partial_fit cannot go on: the scale of this encoder is known, but not of how many rows. Call fit."
            )
        self._fit(X, before, weigh=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from a table, and return its features."""
        raw = self._fit(X)
        return self._output(raw, is_sparse(X))

    def fit_files(self, *places: str | os.PathLike[str], **options: Any) -> Self:
        r"""Learn from files of any size, which are read once and never held in memory as a whole.

        Parameters
        ----------
        *places : str or path
            Files of any format, or globs.
        **options
            How to read them: the attributes of `rosenblatt.tables.reading.Options` that are no parameters of the
            encoder, such as ``target="label"``, the column that is no feature. Without labels: ``labelled=False``.

        Returns
        -------
        TableEncoder
            The estimator.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     table = Path(folder) / "things.csv"
        ...     _ = table.write_text("size,colour,kind\n3,red,apple\n0.5,brown,coin\n")
        ...     encoder = TableEncoder().fit_files(table, target="kind")
        >>> encoder.transform([{"size": 1, "colour": "red"}]).toarray()
        array([[1., 1., 0.]])
        """
        from rosenblatt.tables.file_source import open_source

        how = self._options()
        own = {*CHOSEN, "ngrams", "weighting", "bits", "vocabulary", "missing", "na", "date"}
        twice = sorted(options.keys() & own)
        if twice:
            raise ParameterError(Given(twice[0]) + " is a parameter of the encoder. Set it there.")
        columns: dict[str, Any] = {name: tuple(from_1(column) for column in getattr(how, name)) for name in CHOSEN}
        source = open_source([os.fspath(place) for place in places], replace(how, **columns, **options))
        gathers = self._fills(source.recipe) or bool(self.scale)
        try:
            statistics, weighting = figures_of(source, gathers)
        except ReadAgainError:
            statistics, weighting = figures_of(source, gathers)
        self.encoding_ = self._learned(source.recipe, statistics, None, weighting)
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of a table.

        Parameters
        ----------
        X : dataframe, list of mappings, list of texts, array or sparse matrix
            A table with the columns of training.

        Returns
        -------
        ndarray, CSR array or dataframe, shape (n_rows, n_features)
            Sparse unless all features are numbers, or `sparse_output` or ``set_output`` ask for dense ones.
        """
        self._require_fitted()
        return self._output(self.encoding_.read(X), is_sparse(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features: ``age``, ``colour=red``, ``text=free``, ``text#17``.

        Parameters
        ----------
        input_features : sequence of str or None
            What columns without names are called; None: x1, x2, ….

        Returns
        -------
        ndarray of str
            One name for each feature.
        """
        self._require_fitted()
        recipe, names = self.encoding_.recipe, self._feature_names()
        if input_features is not None:
            given = [str(name) for name in input_features]
            if len(given) != self.n_features_in_:
                raise ShapeError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                    f"{len(given)}."
                )
            if names is not None and tuple(given) != names:
                raise InputError("input_features is not equal to feature_names_in_. Leave it out.")
            if isinstance(recipe, TableRecipe) and names is None:
                called: dict[str, Any] = {
                    role: tuple((given[j], j) for _, j in getattr(recipe, role)) for role in ROLES
                }
                recipe = replace(recipe, **called)
            elif names is None:
                return np.array(given, dtype=object)
        found = recipe.names(recipe.n_features)
        return np.array(found or [f"x{j + 1}" for j in range(recipe.n_features)], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        self._require_fitted("n_features_in_")
        names, recipe = self._feature_names(), self.encoding_.recipe
        if names is not None:
            return len(names)
        return (
            recipe.n_columns - (recipe.target is not None)
            if isinstance(recipe, TableRecipe)
            else recipe.n_features
        )

    def _feature_names(self) -> tuple[str, ...] | None:
        encoding = self.encoding_
        if (
            encoding.columns is not None
            or not isinstance(encoding.recipe, TableRecipe)
            or not encoding.recipe.named
        ):
            return encoding.columns
        return tuple(name for name, _ in sorted(encoding.recipe.columns, key=lambda place: place[1]))

    def _output(self, raw: Features, shared: bool) -> Any:
        """Return features in the layout that was asked for; `shared` are those that may share memory with X."""
        check_flag("sparse_output", self.sparse_output)
        features = self.encoding_.transformation.features(raw)
        return _native(as_dense(features) if self._is_dense() else features, shared)

    def _is_dense(self) -> bool:
        """Return whether features that are mostly zero become arrays: frames hold nothing else."""
        from sklearn import get_config

        kind = self.__dict__.get("_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        return not self.sparse_output or kind != "default"

    def _step(self) -> Encoding:
        """Return the fitted state, with the layout that this encoder gives now."""
        encoding, sparse = self.encoding_, not self._is_dense()
        if bool((encoding.parameters or {}).get("sparse_output", True)) == sparse:
            return encoding
        return replace(encoding, parameters=encoding.encoder_parameters | {"sparse_output": sparse})

    def _fit(self, X: Any, before: Encoding | None = None, *, weigh: bool = True) -> Features:
        """Learn from X, and return its features before filling and scaling; `weigh`: learn idf, too."""
        options = self._options()
        statistics = Statistics() if before is None or before.statistics is None else replace(before.statistics)
        known = None if before is None else before.recipe
        recipe: Recipe
        columns = None if before is None else before.columns
        if is_sparse(X):
            features, recipe = learn_sparse(X, options, known)
        else:
            features, recipe, names = learn_table(X, options, known)
            columns = names if before is None else columns
        means = before.filling if before is not None and before.statistics is None else None
        if (self._fills(recipe) or self.scale) and means is None:
            measure_features([features], statistics)
        weighting = Weighting.of(recipe) if before is None else before.weighting
        if weigh and weighting is not None:
            weighting = weighting.add(features.rows, features.n_rows)
        first = before is None
        self.encoding_ = self._learned(recipe, statistics, columns, weighting, first=first, means=means)
        learned = self.encoding_.recipe
        if first and isinstance(learned, TableRecipe) and learned.indicators:
            rows = mark_missing(features.rows, learned.n_numbers, learned.indicators)
            return Features(rows, features.n_rows, learned.n_features)
        return features

    def _fills(self, recipe: Recipe) -> bool:
        """Return whether missing numbers become means; of sparse rows only if that was asked for."""
        return recipe.fills_means if isinstance(recipe, TableRecipe) else self.missing == "mean"

    def _learned(
        self,
        recipe: Recipe,
        statistics: Statistics,
        columns: tuple[str, ...] | None,
        weighting: Weighting | None,
        *,
        first: bool = True,
        means: Filling | None = None,
    ) -> Encoding:
        """Return what was learned; the first fit decides which missing numbers have a mark; `means` stay."""
        fill, scale = self._fills(recipe), bool(self.scale)
        done = Transformation()
        if first and fill and isinstance(recipe, TableRecipe) and recipe.missing == "indicator":
            marked = tuple(np.flatnonzero(statistics.gaps(recipe.n_numbers)).tolist())
            statistics = statistics.marked(recipe.n_numbers, marked)
            recipe = replace(recipe, indicators=marked)
        if means is not None:
            done = Transformation(means)
        elif fill or scale:
            done = Transformation.of(statistics, fill=fill, scale=scale, numbers=recipe.n_numbers)
        if self.missing == "zero" and isinstance(recipe, SparseRecipe):
            done = done._replace(filling=Filling(np.zeros(recipe.width)))
        if weighting is not None:  # marks come before the words, and categories learned since behind them
            first_word = recipe.first_word if isinstance(recipe, TableRecipe) else 0
            moved = replace(weighting, first=first_word, n_features=recipe.n_features)
            done = done._replace(weighting=moved)
        known = statistics if (fill or scale) and means is None else None
        return Encoding(recipe, *done, known, columns, plain_parameters(self.get_params(deep=False)))

    def _options(self) -> Options:
        self._check_parameters()
        columns: dict[str, Any] = {name: chosen(name, getattr(self, name)) for name in CHOSEN}
        missing: Any = self.missing
        how: dict[str, Any] = {"ngrams": self.ngrams, "bits": int(self.bits), "missing": missing}
        how |= {"weighting": self.weighting, "date": self.date}
        return Options(vocabulary=self.vocabulary, na=words("na", self.na), **how, **columns)


def measure_features(parts: Iterable[Features], statistics: Statistics) -> None:
    """Add features to statistics in the blocks that training from files would make of them: to the same bits."""
    for _ in Builder(_Unlabelled(parts), BLOCK_BYTES, statistics).blocks():
        pass


def figures_of(source: Source, gathers: bool = True) -> tuple[Statistics, Weighting | None]:
    """Read a source once; return how its words are weighted and, if `gathers`, the statistics of its features."""
    statistics, weighting = Statistics(), Weighting.of(source.recipe)

    def counted() -> Iterator[Features]:
        nonlocal weighting
        for chunk in source.chunks():
            if weighting is not None:
                weighting = weighting.add(chunk.rows, chunk.n_rows)
            yield chunk

    if gathers:
        measure_features(counted(), statistics)
    else:
        for _ in counted():
            pass
    return statistics, weighting


class _Unlabelled(Source):
    """Features as a source whose labels do not matter."""

    def __init__(self, parts: Iterable[Features]) -> None:
        self._parts = parts

    def chunks(self) -> Iterator[Batch]:
        """Yield the features, all of one class."""
        return (Batch.of(each, np.zeros(each.n_rows, np.int64)) for each in self._parts)


def _native(features: Features, shared: bool) -> Any:
    """Return features as numpy and scipy hold them; a copy of those that may share memory with X."""
    native = features.native()
    if shared:
        return native.copy()
    for part in [native] if isinstance(native, np.ndarray) else [native.data, native.indices, native.indptr]:
        part.flags.writeable = True
    return native
