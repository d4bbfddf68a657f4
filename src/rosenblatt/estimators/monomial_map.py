"""The monomial map as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from rosenblatt.codecs import Count, StateSchema, require
from rosenblatt.estimators._features import ReadsTables
from rosenblatt.estimators._linear import READS_TABLES
from rosenblatt.exceptions import InputError, ShapeError
from rosenblatt.learning.stored_streams import require_names
from rosenblatt.loops.layout import CSR
from rosenblatt.parameters import Declared, learned, param, positional
from rosenblatt.registry import built_in
from rosenblatt.rows.features import as_rows, read_only, require_finite
from rosenblatt.rows.memory import require_memory
from rosenblatt.tables.monomials import MONOMIALS, MOST_COLUMNS, WAY_OUT, Monomials, monomials_of
from rosenblatt.typing import ColumnLike, Ints, MatrixLike

BYTES_OF_A_NAME = 100


def _link(held: dict[str, Any]) -> None:
    require_names(held)
    monomials = held["_monomials"]
    require(monomials.d == held["_width"], "the monomials are for another number of features")
    require(monomials.n_columns == held["n_output_features_"], "the number of monomials is wrong")


class MonomialMap(Declared, ReadsTables, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """All monomials up to a degree, weighted so that dot products are powers.

    ``<Φ(x), Φ(x')> = (<x, x'> + c)^degree``, to rounding: a perceptron on Φ(x) is a kernel perceptron with the
    polynomial kernel, by explicit features. Of two features Φ(x) = (x1², √2 x1x2, x2²) for degree 2 and c = 0.

    Attributes
    ----------
    n_output_features_ : int
        C(d + p, p) for d features; C(d + p − 1, p) if c = 0.
    powers_ : ndarray of int, shape (n_monomials, n_features)
        The exponents of each monomial.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Notes
    -----
    Sparse rows stay sparse: only products of stored values are made, C(s + p, p) of s stored ones, and the columns
    of a million features are numbered but never listed. float32 stays float32. To predict with millions of such
    columns a linear model still holds a weight for each.

    Examples
    --------
    XOR on coordinates of ±1 is the sign of a product:

    >>> from rosenblatt import Perceptron
    >>> X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], [-1, 1, 1, -1]
    >>> phi = MonomialMap(degree=2).fit(X)
    >>> phi.get_feature_names_out().tolist()
    ['1', '√2 x1', '√2 x2', 'x1^2', '√2 x1 x2', 'x2^2']
    >>> Perceptron().fit(phi.transform(X), y).stop_reason_
    'separated'
    """

    _learner = built_in(
        "MonomialMap",
        StateSchema(
            READS_TABLES | {"n_output_features_": Count(1, MOST_COLUMNS), "_monomials": MONOMIALS},
            link=_link,
        ),
    )

    degree: int = positional(default=2, kw_only=False, doc="The power p, from 1 to 170.")
    c: float = positional(
        default=1.0,
        kw_only=False,
        doc="The constant added to the dot product, at least 0. With 0 there are only monomials of degree p; a "
        "larger c gives lower degrees more weight.",
        least=0,
    )
    max_bytes: int | None = param(
        None,
        "The maximum size of a result in bytes. None allows the free memory. A larger result raises an error "
        "before anything is allocated.",
    )
    n_output_features_: int = learned()
    _monomials: Monomials = learned()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: MatrixLike, y: ColumnLike | None = None) -> Self:
        """Learn the number of features and their names.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The rows.
        y : ignored

        Returns
        -------
        MonomialMap
            The estimator.
        """
        self._check_parameters()
        features = as_rows(X)
        require_finite(features)
        monomials = Monomials(features.n_features, int(self.degree), float(self.c))
        if not isinstance(features.rows, CSR):
            room = 8 * monomials.n_columns
            degree, d = self.degree, features.n_features
            what = f"One row of the {monomials.n_columns:,} monomials of degree {degree} in {d:,} "
            require_memory(what + "features", room, WAY_OUT, self.max_bytes)
        self.__dict__.update(
            n_output_features_=monomials.n_columns,
            _monomials=monomials,
            _width=features.n_features,
            _names=features.names,
        )
        return self

    def transform(self, X: MatrixLike) -> Any:
        """Return the monomials of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray or CSR, shape (n_rows, n_monomials)
            Sparse if X is.
        """
        self._require_fitted()
        features = self._features(X)
        require_finite(features)
        native = monomials_of(features, self._monomials, self.max_bytes).native()
        return native if isinstance(native, np.ndarray) else _container(X)(native)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the monomials as they are written, weights included: ``√2 x1 x2``.

        Parameters
        ----------
        input_features : sequence of str or None
            The names of the features. None takes those of the training data, or x1, x2, ….

        Returns
        -------
        ndarray of str
            One name a column.
        """
        self._require_fitted()
        n = self.n_output_features_
        require_memory(f"The names of {n:,} monomials", BYTES_OF_A_NAME * n, WAY_OUT, self.max_bytes)
        return np.array(self._monomials.names(self._called(input_features)), dtype=object)

    @property
    def powers_(self) -> Ints:
        """The exponents of each monomial."""
        self._require_fitted("powers_")
        n_bytes = 8 * self.n_output_features_ * self._width
        require_memory(f"The powers of {self.n_output_features_:,} monomials", n_bytes, WAY_OUT, self.max_bytes)
        return read_only(self._monomials.powers())

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_

    def _called(self, input_features: Any) -> list[str]:
        known = self._feature_names()
        if input_features is None:
            return [f"x{j + 1}" for j in range(self._width)] if known is None else list(known)
        names = [str(name) for name in input_features]
        if len(names) != self._width:
            raise ShapeError(
                f"input_features should have length equal to number of features ({self._width}), got {len(names)}."
            )
        if known is not None and tuple(names) != known:
            raise InputError("input_features is not equal to feature_names_in_. Leave it out.")
        return names


def _container(X: MatrixLike) -> Any:
    """Return scipy's sparse matrix for a matrix, and its array for anything else."""
    from scipy.sparse import csr_array, csr_matrix, isspmatrix

    return csr_matrix if isspmatrix(X) else csr_array
