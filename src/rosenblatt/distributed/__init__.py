"""Training, proofs and predictions on data in many partitions, on a Dask cluster.

Needs Dask: ``pip install "dask[array,dataframe]" distributed pandas``. A Dask cluster runs any code that its
clients send: connect only to clusters you trust, and let only those you trust connect to yours.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_NAMES = {
    "PartitionedBlocks": "partitioned",
    "certify": "proofs",
    "decision_function": "predictions",
    "evaluate": "predictions",
    "fit": "fitting",
    "fit_encoder": "fitting",
    "partition": "sources",
    "predict": "predictions",
    "score": "predictions",
    "verify": "proofs",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.split(".")[0] in ("dask", "distributed"):
            raise ImportError(
                'rosenblatt.distributed needs Dask: pip install "dask[array,dataframe]" distributed pandas'
            ) from error
        raise


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
