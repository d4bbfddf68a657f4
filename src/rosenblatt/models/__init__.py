"""Models as files: one safetensors file with a closed header, and ONNX."""

from __future__ import annotations

from rosenblatt.models.files import SCHEMA, StoredModel, load, open_model, save
from rosenblatt.models.opened import OpenedModel

__all__ = ["SCHEMA", "OpenedModel", "StoredModel", "load", "open_model", "save"]
