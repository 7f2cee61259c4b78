"""Maps from factors to a metric that know the range they were fitted in: fit, predict, validate, rank, bound."""
