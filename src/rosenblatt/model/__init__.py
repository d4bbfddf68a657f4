"""What training leaves behind, as values: weights that predict, and the state that learns on."""
