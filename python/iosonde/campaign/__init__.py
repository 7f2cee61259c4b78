"""From a request (a file, a command, options) to an Experiment and its stored Runs, including all checks before the
first trial. Prints nothing: output goes to the functions of its ``Caller``."""
