"""A plan as commands of IOzone."""

from collections.abc import Iterator

from iosonde.campaign.plan import CampaignPlan
from iosonde.commands.result import Result
from iosonde.core.level_text import format_level
from iosonde.layout.text import escape, wrapped

from .iozone_plan import IozonePlan, iozone_plan


def write_plan(plan: CampaignPlan) -> Result[IozonePlan]:
    """Convert a plan to IOzone's commands. Raises InputError without native steps."""
    return Result(iozone_plan(plan), lines)


def lines(plan: IozonePlan) -> Iterator[str]:
    """Yield a command per setting, or why there is none; then how IOzone differs."""
    for cell in plan.cells:
        levels = (f"{name} {format_level(level, plan.units.get(name, ''))}" for name, level in cell.setting.items())
        yield from wrapped(", ".join(levels))
        if cell.words:
            yield f"  {escape(' '.join(cell.words))}"
        for why in cell.why:
            yield from wrapped(why, " " * 10, "  cannot: ")
    for difference in dict.fromkeys(difference for cell in plan.cells for difference in cell.differs):
        yield from wrapped(difference, " " * 9, "differs  ")
