"""Rows in blocks: in memory, in a cache or from a source; checkpoints."""
