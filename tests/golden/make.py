"""Write model files of this version of the format, and what the models in them say: kept, and never written over.

Run as ``python -m tests.golden.make`` from the root, once for each version of the format. Files of earlier ones
stay as they are: they must load for ever.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import rosenblatt as rb
from rosenblatt.storage import open_model
from tests.storage.models import MODELS, answers, gone_on, made

FOLDER = Path(__file__).parent
EXPECTED = "{name}.v{schema}.json"
FEW = 5
MODEL = "{name}.v{schema}.safetensors"


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


def main() -> None:
    """Write what is not there yet."""
    for name in MODELS:
        model = made(name)
        with TemporaryDirectory() as folder:
            rb.save(model, Path(folder) / "model")
            schema = open_model(Path(folder) / "model").schema  # the first version that can hold it
        path = FOLDER / MODEL.format(name=name, schema=schema)
        if path.exists():
            continue
        rb.save(model, path, provenance={"created": "2026-01-01T00:00:00+00:00"})
        expected = {"now": told(answers(rb.load(path))), "gone on": told(answers(gone_on(rb.load(path))))}
        text = json.dumps(expected, separators=(",", ":"), ensure_ascii=True)
        (FOLDER / EXPECTED.format(name=name, schema=schema)).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
