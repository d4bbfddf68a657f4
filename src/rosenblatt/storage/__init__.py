"""Models as files: one safetensors file with a closed header, and ONNX."""
