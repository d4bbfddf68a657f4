"""How the columns of a table become features, as values that can be kept beside the weights."""
