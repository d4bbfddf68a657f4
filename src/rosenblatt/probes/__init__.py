"""Very many perceptrons on one matrix: probes, with folds and controls, on the CPU or on a GPU."""
