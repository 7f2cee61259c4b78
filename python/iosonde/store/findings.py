"""The manual page of each finding about a store (``iosonde explain D101``)."""

PAGES = {
    "D101": """D101: a damaged run

What it says
    A file of this run is missing, shorter, longer or different from the
    stored one. The run is left out everywhere.

How we know
    run.json holds size and SHA-256 of every file of its run, and a hash of
    itself. Sizes and run.json are checked each time, the content of a table
    when it is read, everything by 'iosonde store check'.

When it is wrong
    Somebody edited run.json by hand: a stored run is never changed. Add a note
    instead ('iosonde store note').

What to do
    Restore the run's directory from a copy of the store. If there is none,
    remove the directory; the same 'iosonde run' command measures it again.
""",
    "D102": """D102: left half-written

What it says
    A process ended (crash, kill -9, power) while it was storing a run. What
    it had written so far is not a run and is never shown.

How we know
    A run is written under a name that starts with .tmp- and holds the writer's
    process id and start time; that process has ended.

When it is wrong
    Never on one machine. A writer on another machine is assumed to be alive
    for a day.

What to do
    Nothing: the next command that writes here removes it. The same command
    'iosonde run' measures the trial again.
""",
    "D103": """D103: an entry that does not belong to the store

What it says
    An entry of runs/ was not created by the store. It is ignored.

How we know
    It has neither run.json nor results.parquet, or it is a link.

When it is wrong
    It is a run that lost all its files except raw/.

What to do
    Move it out of the store.
""",
    "D104": """D104: a run of a newer iosonde

What it says
    This run has a newer schema version than this iosonde reads. It is left
    out: guessing the meaning of newer files could give wrong numbers.

How we know
    schema_version in its run.json.

When it is wrong
    Never.

What to do
    Install a newer iosonde.
""",
    "D105": """D105: a damaged experiment, tag, note or added factor

What it says
    experiments/ID.json, notes/RUN.json, factors.json or loads.json cannot be
    read. The runs are not affected, but lack what these two add to them.

How we know
    It is not JSON, lacks a required key, or its self_sha256 does not match its
    text.

When it is wrong
    Somebody corrected a note by hand: see below.

What to do
    Correct the file by hand (it is small; delete its self_sha256), restore it,
    or remove it.
""",
    "D106": """D106: left out of a redacted copy

What it says
    A raw file of this run was not copied because it is not text.

How we know
    It is not UTF-8 or holds a zero byte. Names in packed data cannot be found.

When it is wrong
    It is text in an older encoding.

What to do
    Convert it, or share it separately after reviewing it.
""",
    "D107": """D107: a missing or changed experiment

What it says
    experiments/ID.json is missing, or was changed after a run of it was
    stored. The decisions before the measurement (metric, margin, stopping
    rule, settings, order of the trials) are therefore unproven.

How we know
    Each run.json has the SHA-256 of its experiment: of everything but its
    trials, and of the trials planned by then. Runs stored before schema
    version 2 have none, and cannot be checked.

When it is wrong
    Somebody corrected the spelling of the experiment's name. Restore the old
    one.

What to do
    Restore the file from a copy of the store. The runs and their numbers are
    unchanged; only the question that they answer is in doubt.
""",
    "D108": """D108: a changed store.json

What it says
    store.json was changed after the store was created.

How we know
    From schema version 2 on it has a hash of itself.

When it is wrong
    Never.

What to do
    Restore it from a copy, or write {"iosonde_store": 1, "schema_version": 1}
    into it. Runs are not affected: each names its own version.
""",
}
