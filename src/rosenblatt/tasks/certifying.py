"""Certificates of data that is read, and of sentences; `rosenblatt.certify` of rows in memory is in `certify`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.certify.separability import certify
from rosenblatt.parameters import CertifyArguments, unused
from rosenblatt.rooms import find
from rosenblatt.tasks.data import Log, log_info, places_of, read_table, reads_sentences, require_no_options
from rosenblatt.typing import ColumnLike

__all__ = ["certify_data"]

USUAL = {name: each.default for name, each in CertifyArguments._declared.items() if name != "time_limit"}
USUAL |= {"guess": None}
"""The defaults of what is asked about rows, and cannot be asked about sentences."""


def certify_data(
    data: Any,
    y: ColumnLike | None,
    asked: Mapping[str, Any],
    *,
    time_limit: float | None = None,
    log: Log = log_info,
    label: str | int | None = None,
    columns: Any = None,
    templates: Any = None,
    constraints: Any = None,
    without_inconsistent: bool = False,
    **options: Any,
) -> Any:
    """Return the certificate of data that is named, or of sentences; `asked` are the other arguments of `certify`.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> rb.certify("@xor").verdict, rb.certify([[("a", "A")], [("a", "B")]]).verdict
    ('inseparable', 'inseparable')
    """
    of_sentences: dict[str, Any] = {"templates": templates, "constraints": constraints, "time_limit": time_limit}
    if y is not None:
        require_no_options(options)
        _require_none(
            {"label": label, "columns": columns, "without_inconsistent": without_inconsistent},
            "files of sentences",
        )
        return _certify_lists(data, y, asked, of_sentences)
    if reads_sentences(data, label, options.get("format")):
        _require_usual(asked)
        own: dict[str, Any] = {
            "label": label,
            "columns": columns or (),
            "without_inconsistent": without_inconsistent,
        }
        return find("sequences.annotation").certify_corpus(data, log=log, **own, **of_sentences, **options)
    only = {"columns": columns, "templates": templates, "constraints": constraints}
    _require_none(only | {"without_inconsistent": without_inconsistent}, "sentences")
    X, y, names = read_table(*places_of(data), log=log, **options)
    answer = certify(X, y, time_limit=time_limit, **asked)
    return answer if names is None else answer.renamed(names)


def _certify_lists(X: Any, y: ColumnLike | None, asked: Mapping[str, Any], given: dict[str, Any]) -> Any:
    """Return the certificate of sentences and their labels; words have the templates that `train` gives them."""
    _require_usual(asked)
    token = X[0][0]
    if given["templates"] is None and isinstance(token, str | tuple):
        width = 1 if isinstance(token, str) else len(token)
        given["templates"] = find("sequences.templates").word_templates(width - 1)
    return find("sequences.sentence_verdict").certify_sequences(X, y, **given)


def _require_usual(asked: Mapping[str, Any]) -> None:
    """Refuse what cannot be asked about sentences."""
    for name, usual in USUAL.items():
        if asked[name] is not usual and asked[name] != usual:
            raise unused(name, asked[name], after=" is for tables, but the data holds sentences")


def _require_none(given: Mapping[str, Any], kind: str) -> None:
    """Refuse arguments that are for another kind of data."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise unused(name, value, after=f" is for {kind}")
