"""Messages of the library in the words of the command line: options, and names of learners."""

from __future__ import annotations

import re

__all__ = ["in_options"]

WORDS = (
    (r"\(proved: see certificate_\)", "(proved; rosenblatt certify prints the proof)"),
    (r", in a combination of rows [\d, ]+(?: and [\d,]+ more)? that is exact", ""),
    (r"the certificate of this error proves it", "rosenblatt certify prints the proof"),
    (r"average=True, PocketPerceptron or SoftMarginClassifier", "--learner averaged, pocket or soft-margin"),
    (r"\b([Uu]se) SoftMarginClassifier", r"\1 --learner soft-margin"),
    (r"\b([Uu]se) PocketPerceptron", r"\1 --learner pocket"),
    (r"\b([Uu]se) average=True", r"\1 --learner averaged"),
    (r"Standardise them \(StandardScaler, .*?\)\.", "Use --scale."),
    (r"features \(bits\)", "features (--bits)"),
    (r"a linear learner such as Perceptron\(average=True\)", "a linear learner such as --learner averaged"),
    (r"ties=True", "--ties"),
    (
        r"stop_on_cycle=True (.*?)\. Set it to False and ask rosenblatt\.certify\(X, y\)",
        r"--stop-on-cycle \1. Use --no-stop-on-cycle, and ask rosenblatt certify",
    ),
    (r"^y has only one class", "the target has only one class"),
)
"""Patterns of what the library says, and what takes their place; the first ones first."""


def in_options(message: str) -> str:
    """Return a message for people who use the command line.

    Examples
    --------
    >>> in_options("No hyperplane separates these rows. Use average=True.")
    'No hyperplane separates these rows. Use --learner averaged.'
    """
    for pattern, words in WORDS:
        message = re.sub(pattern, words, message)
    return message
