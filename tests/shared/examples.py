"""How much the fast tests try: fewer examples of Hypothesis, and not every value of a parameter."""

from typing import Any

import pytest
from hypothesis import settings


def examples(most: int) -> int:
    """Return how many examples to draw where `make test-all` draws `most`; `make test` draws a tenth, at least 10.

    Tests without settings follow the profile of Hypothesis by themselves.
    """
    return max(10, most * settings.default.max_examples // 100)


def slowly(*values: Any) -> list[Any]:
    """Return values of a parameter that only the slow tests take: most need loops compiled for them alone."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
