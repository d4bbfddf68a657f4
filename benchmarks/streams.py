"""``python -m benchmarks.streams``: accuracy on three streams of river, beside its learners, scaled or not.

Every example is predicted before it is learned (river's `progressive_val_score`). Scaled, our learners follow our
`OnlineScaler` and river's follow its `StandardScaler`, in pipelines of river: an example that is predicted is
scaled by what was met before it, and river's pipelines let scalers learn it before the learner does. Needs river;
its three data sets come with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rosenblatt as rb

STREAMS = ("Phishing", "Bananas", "ImageSegments")


def contestants() -> dict[str, Callable[[bool], Any]]:
    """Return the learners by name; each is made for two classes, or for several."""
    from river import linear_model, multiclass

    from rosenblatt.compat.river import RiverClassifier

    def several(make: Callable[[], Any]) -> Callable[[bool], Any]:
        return lambda many: multiclass.OneVsRestClassifier(make()) if many else make()

    return {
        "rosenblatt Perceptron": lambda _: RiverClassifier(rb.Perceptron()),
        "rosenblatt Perceptron, average=True": lambda _: RiverClassifier(rb.Perceptron(average=True)),
        "rosenblatt PassiveAggressiveClassifier": lambda _: RiverClassifier(rb.PassiveAggressiveClassifier()),
        "rosenblatt ConfidenceWeightedClassifier": lambda _: RiverClassifier(rb.ConfidenceWeightedClassifier()),
        "river Perceptron": several(linear_model.Perceptron),
        "river LogisticRegression": several(linear_model.LogisticRegression),
        "river SoftmaxRegression": lambda _: linear_model.SoftmaxRegression(),
    }


def accuracy(name: str, make: Callable[[bool], Any], stream: str, scaled: bool) -> float:
    """Return the share of examples that are predicted right before they are learned."""
    from river import compose, datasets, evaluate, metrics, preprocessing

    from rosenblatt.compat.river import RiverScaler

    data = getattr(datasets, stream)()
    model = make(stream == "ImageSegments")
    if scaled:
        scaler = RiverScaler() if name.startswith("rosenblatt") else preprocessing.StandardScaler()
        model = compose.Pipeline(scaler, model)
    found: float = evaluate.progressive_val_score(data, model, metrics.Accuracy()).get()
    return found


def main() -> None:
    """Print the table."""
    print("| learner | " + " | ".join(f"{stream} | scaled" for stream in STREAMS) + " |")
    print("|---|" + "--:|" * (2 * len(STREAMS)))
    for name, make in contestants().items():
        cells = [accuracy(name, make, stream, scaled) for stream in STREAMS for scaled in (False, True)]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
