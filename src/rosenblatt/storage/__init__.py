"""Models as files: one safetensors file with a closed header, and ONNX."""

from __future__ import annotations

from rosenblatt.storage.files import StoredModel, load, open_model, save

__all__ = ["StoredModel", "load", "open_model", "save"]
