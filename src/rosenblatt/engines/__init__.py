"""Where passes run: in memory or out of core, with blocks, caches and checkpoints."""
