"""The results of training as values: models that predict, and states from which training continues."""
