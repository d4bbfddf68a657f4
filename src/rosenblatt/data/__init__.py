"""From arrays, sparse matrices and dataframes of any kind to one immutable `Batch`."""
