"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

COVARIATE_UNSEEN = "truth: a number that varies and differs between the groups is not named; compare names it"
POOLED_SPREAD = "truth A5: one variance is pooled over settings with unequal counts and spread; compare has Welch's"
NOT_ASKED = "truth A3: a setting that varies and was not asked about is pooled without a word"
EPISODE_UNSEEN = "a level that comes back after 20 nights is not found, or only as a change in the other direction"
NOT_CORRECTED = "a slope is different by its own interval, although the family says how many tests there are"
WEIGHTS_ESTIMATED = "weights from 12 trials of a block count as known"
NO_DOUBT = "truth: a doubt that another command carries about the same table is missing"

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    **{(command, "lord"): COVARIATE_UNSEEN for command in ("summary", "rank", "report", "anova", "advise")},
    ("regress", "no slope; cv 20 and 5 %, n = 4 and 16"): POOLED_SPREAD,
    ("anova", "no effect; a block of days, weighted"): WEIGHTS_ESTIMATED,
    ("advise", "none is better; cv 20 and 5 %, n = 4 and 16"): POOLED_SPREAD,
    ("regress", "x rises by 0; terms that correlate 0"): NOT_CORRECTED,
    ("scale", "linear; requests are larger at few nodes, and not asked about"): NOT_ASKED,
    **{("watch", f"{ratio} × from night 20 to 40; cv 3 %"): EPISODE_UNSEEN for ratio in ("0.8", "1.25")},
    ("plot", "survivorship"): NO_DOUBT,
    ("anova", "warm-up"): NO_DOUBT,
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {}

TWO_ERRORS = "anova tests against the residual of the main effects, the others against the error of all settings"
SHARE_DECIDES = "an effect is different only where its share's interval excludes 0, too; anova looks at p alone"
TWO_TESTS = "compare has Welch's test and a margin of 2 %; the others pool the spread, and equal is a share below 1 %"
TWO_MARGINS = "compare says equal by its margin where the others say different by p"
BEST_CELL = (
    "the best setting is the best cell, also in factors whose effect is not significant; advise takes them alone"
)
PAGE_OF_STORE = "the page takes a store whose response is named for a table"
NOT_ASKED_BESIDES = "summary and the page do not ask which columns go with those that were named"
DRIFT_UNSEEN = "anova without named terms does not look for drift"
PAGE_LEAVES_OUT = "the page leaves out a factor of four numbers, so its family is smaller"
TERMS_LEFT_OUT = "anova leaves out a setting that follows from another, and does not say that they go together"
THREE_FAMILIES = "compare, summary and rank correct for different families of responses"

# (kind of DATA, question) on which commands disagree → the cause.
PENDING_AGREEMENT: dict[tuple[str, str], str] = {
    ("two levels", "default"): TWO_ERRORS,
    ("two levels", "named"): SHARE_DECIDES,
    ("two levels", "sides"): TWO_TESTS,
    ("two factors", "default"): TWO_ERRORS,
    ("two factors", "named"): SHARE_DECIDES,
    ("interaction", "default"): TWO_ERRORS,
    ("interaction", "named"): SHARE_DECIDES,
    ("interaction", "best"): BEST_CELL,
    ("three factors", "default"): TWO_ERRORS,
    ("three factors", "named"): SHARE_DECIDES,
    ("three factors", "cells"): TWO_MARGINS,
    ("three factors", "best"): BEST_CELL,
    ("unequal n", "default"): TWO_ERRORS,
    ("unequal n", "named"): SHARE_DECIDES,
    ("unequal n", "sides"): TWO_TESTS,
    ("unequal spread", "default"): TWO_ERRORS,
    ("unequal spread", "named"): SHARE_DECIDES,
    ("unequal spread", "sides"): TWO_TESTS,
    ("aliased", "named"): NOT_ASKED_BESIDES,
    ("nested", "named"): NOT_ASKED_BESIDES,
    ("measured in turn", "default"): DRIFT_UNSEEN,
    ("measured in turn", "named"): SHARE_DECIDES,
    ("measured in turn", "sides"): TWO_TESTS,
    ("missing on one side", "default"): TWO_ERRORS,
    ("missing on one side", "named"): SHARE_DECIDES,
    ("missing on one side", "sides"): TWO_TESTS,
    ("ranks of trials", "default"): TWO_ERRORS,
    ("ranks of trials", "named"): SHARE_DECIDES,
    ("ranks of trials", "sides"): TWO_TESTS,
    ("bring-ups", "default"): TWO_ERRORS,
    ("bring-ups", "named"): SHARE_DECIDES,
    ("one trial a setting", "default"): PAGE_LEAVES_OUT,
    ("one trial a setting", "named"): SHARE_DECIDES,
    ("two responses", "sides"): THREE_FAMILIES,
    ("store", "default"): TWO_ERRORS,
    ("store", "named"): SHARE_DECIDES,
    ("store", "sides"): TWO_TESTS,
    ("store, two factors", "default"): TWO_ERRORS,
    ("store, two factors", "named"): SHARE_DECIDES,
    ("store, operations", "sides"): THREE_FAMILIES,
    ("store, cut short", "default"): TWO_ERRORS,
    ("store, cut short", "named"): SHARE_DECIDES,
    ("store, import", "default"): TERMS_LEFT_OUT,
    ("store, import", "named"): SHARE_DECIDES,
    ("store, import", "selection"): PAGE_OF_STORE,
}
