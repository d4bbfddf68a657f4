"""How values are written to files and read back: checked arrays, codecs and their conditions."""
