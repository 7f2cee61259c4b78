"""From what was asked to runs that are kept: experiment documents, preflight, campaigns, results of other tools."""
