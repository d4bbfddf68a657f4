"""Models as files: one safetensors file with a closed header, and ONNX."""

from __future__ import annotations

from rosenblatt.models.files import load, save
from rosenblatt.models.opened import OpenedModel
from rosenblatt.models.stored import SCHEMA, StoredModel, open_model

__all__ = ["SCHEMA", "OpenedModel", "StoredModel", "load", "open_model", "save"]
