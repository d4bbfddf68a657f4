"""How many examples Hypothesis draws."""

from hypothesis import settings


def examples(most: int) -> int:
    """Return how many examples to draw where `make test-all` draws `most`; `make test` draws a quarter.

    Tests without settings follow the profile of Hypothesis by themselves.
    """
    return max(10, most * settings.default.max_examples // 100)
