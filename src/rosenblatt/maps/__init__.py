"""Feature maps, on whose outputs a linear model learns: arrays in, arrays out."""
