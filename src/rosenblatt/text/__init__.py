"""Text: lines of a stream, rows of delimited text, and words as features."""
