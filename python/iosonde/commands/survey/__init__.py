"""``iosonde survey``: what a tree of files holds, from a sample; what a survey costs, and how good it is."""

from iosonde.commands.about import About

ABOUT = About(
    "Measure", 3, "what a tree of files holds, from a sample", ("survey_tree", "survey_simulate", "survey_plan")
)
