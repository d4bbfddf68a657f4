"""The server: predictions and online learning over HTTP, with every acknowledged example on disk."""
