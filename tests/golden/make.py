"""Write a model file for each model, what the model in it says, and signatures: kept, and never written over.

Run as ``python -m tests.golden.make`` from the root. It adds what is missing; what is there must load for ever.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np

import rosenblatt as rb
from rosenblatt.models import SCHEMA
from rosenblatt.registry import BUILT_IN, class_of
from tests.models.models import MODELS, answers, gone_on, made

FOLDER = Path(__file__).parent
SIGNATURES = FOLDER / "signatures.json"
FEW = 5
EXPECTED, MODEL = f"{{name}}.v{SCHEMA}.json", f"{{name}}.v{SCHEMA}.safetensors"


def told(values: list[np.ndarray]) -> list[Any]:
    """Return the first answers as JSON: floats by their digits in hexadecimal, which are exact."""
    return [
        [each.dtype.kind, list(each.shape), [_written(value) for value in each[:FEW].ravel().tolist()]]
        for each in values
    ]


def _written(value: Any) -> Any:
    if isinstance(value, complex):
        return [value.real.hex(), value.imag.hex()]
    return value.hex() if isinstance(value, float) else value


def signature_of(cls: type) -> list[str]:
    """Return the parameters of a constructor with their defaults, as they are kept."""
    found = inspect.signature(cls).parameters.values()
    return [f"{each.replace(annotation=inspect.Parameter.empty)}" for each in found]


def main() -> None:
    """Write what is not there yet."""
    kept = json.loads(SIGNATURES.read_text("utf-8"))
    kept |= {name: signature_of(class_of(name)) for name in BUILT_IN if name not in kept}
    SIGNATURES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in MODELS:
        path = FOLDER / MODEL.format(name=name)
        if path.exists():
            continue
        rb.save(made(name), path, provenance={"created": "2026-01-01T00:00:00+00:00"})
        expected = {"now": told(answers(rb.load(path))), "gone on": told(answers(gone_on(rb.load(path))))}
        text = json.dumps(expected, separators=(",", ":"), ensure_ascii=True)
        (FOLDER / EXPECTED.format(name=name)).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
