"""What a sample of a known population says of the whole: sample size, shares, means and totals, with design effects."""
