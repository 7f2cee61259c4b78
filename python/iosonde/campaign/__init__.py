"""What was asked (a file, a command, options) → Experiment → Runs that are kept: everything before the first trial,
and the way through all of them. Prints nothing: what it has to say goes to the functions of its ``Caller``."""
