"""From examples to a validated model: features, folds, choice, errors, the stored document."""
