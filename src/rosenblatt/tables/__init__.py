"""Files and frames become rows: formats, columns, words, recipes, and blocks of rows larger than memory."""
