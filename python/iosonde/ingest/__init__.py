"""Files of other tools → stored Runs: which files are one measurement, what told them apart, and where they were."""
