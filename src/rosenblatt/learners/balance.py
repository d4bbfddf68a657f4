"""Class balance from running counts, for streams that cannot know the whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.typing import Floats, Ints


class Balance:
    """Weighs each example by how rare its class has been so far, itself included: n / (classes · count).

    Over a whole set this is what "balanced" means. Along a stream the weights depend on what has been seen, but
    not on how it is cut into chunks.
    """

    def __init__(self, counts: dict[Any, int] | None = None) -> None:
        self.counts: dict[Any, int] = {} if counts is None else counts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Balance)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> Balance:
        """Return a balance that goes on counting by itself."""
        return Balance(dict(self.counts))

    def see(self, label: Any) -> float:
        """Count an example, and return its weight."""
        self.counts[label] = count = self.counts.get(label, 0) + 1
        return sum(self.counts.values()) / (len(self.counts) * count)

    def see_all(self, codes: Ints, labels: list[Any]) -> Floats:
        """Count examples in order, `codes` being positions in `labels`, and return their weights."""
        before = np.array([self.counts.get(label, 0) for label in labels])
        own = np.zeros(len(codes), np.int64)
        classes = np.full(len(codes), len(self.counts), np.int64)
        for code in np.unique(codes):
            at = np.flatnonzero(codes == code)
            own[at] = before[code] + np.arange(1, len(at) + 1)
            self.counts[labels[code]] = int(own[at[-1]])
            if before[code] == 0:
                classes[at[0] :] += 1
        total = before.sum() + self._unlisted(labels) + np.arange(1, len(codes) + 1)
        weights: Floats = total / (classes * own)
        return weights

    def _unlisted(self, labels: list[Any]) -> int:
        """Count the examples of labels that a chunk does not have."""
        listed = set(labels)
        return sum(count for label, count in self.counts.items() if label not in listed)
