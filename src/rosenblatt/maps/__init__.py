"""Maps from rows to other rows, on which a linear machine then learns: arrays in, arrays out."""
