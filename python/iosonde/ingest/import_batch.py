"""Import of one batch of files, in any process: read them, and store their runs with one flush."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from iosonde.core.errors import IosondeError, UnknownFormatError
from iosonde.core.message import Message
from iosonde.core.types import Run
from iosonde.foreign.guarded import open_checked
from iosonde.importers import Text, Understood, columns, read, understand
from iosonde.importers.fio_logs import read_log_name
from iosonde.importers.quoting import is_quoted
from iosonde.importers.runs import DIGEST_CHARACTERS, build_run_prefix, build_runs, compute_digest

from .candidate_files import CandidateFile, format_reason, is_fault, read_candidate
from .device_logs import collect_samples
from .import_outcomes import FileOutcome
from .import_plan import ImportPlan
from .paths import Factors
from .related_files import SETTINGS_FILE, Member, merge_runs

# The column map of a CSV, stored with its text.
COLUMNS_FILE = "columns.yaml"


def import_batch(
    plan: ImportPlan, groups: Sequence[Sequence[CandidateFile]]
) -> list[tuple[CandidateFile, FileOutcome]]:
    """Import one batch, in any process."""
    factors, stored = plan.factors(), plan.store / "runs"
    there = [entry.name for entry in stored.iterdir()] if stored.is_dir() else []
    names = (name.rsplit("-", 2) for name in there if name.count("-") >= 2)
    format_by_digest = {digest: form for form, digest, _ in names}
    outcomes: list[tuple[CandidateFile, FileOutcome]] = []
    runs: list[Run] = []
    for group in groups:
        results = (
            [_import_file(plan, candidate, format_by_digest, factors) for candidate in group]
            if len(group) == 1
            else _import_together(plan, group, format_by_digest, factors)
        )
        outcomes += [(candidate, outcome) for candidate, (outcome, _) in zip(group, results, strict=True)]
        for candidate, (_, several) in zip(group, results, strict=True):
            for run in several:
                place = candidate.inside or candidate.relative.as_posix()
                run.facts["import"] |= {"directory": str(candidate.home), "file": place}
            runs += several
    # Another process may have stored the same content in the meantime: it is the same run.
    if runs:
        plan.opened().append_many(runs)
    return outcomes


def _import_file(
    plan: ImportPlan, candidate: CandidateFile, format_by_digest: dict[str, str], factors: Factors
) -> tuple[FileOutcome, list[Run]]:
    content = _read_file(plan, candidate, format_by_digest)
    if isinstance(content, FileOutcome):
        return content, []
    text, understood = content
    if samples := collect_samples(understood):
        return FileOutcome(candidate.key, understood.format, samples=samples), []
    runs = build_runs(understood, text, plan.experiment, factors(candidate.relative, candidate.root))
    if runs and plan.columns:
        runs[0].raw[COLUMNS_FILE] = plan.columns.content
    format_by_digest[compute_digest(text.raw)[:DIGEST_CHARACTERS]] = understood.format
    return _build_outcome(candidate.key, understood, runs), runs


def _read_file(
    plan: ImportPlan, candidate: CandidateFile, format_by_digest: Mapping[str, str]
) -> FileOutcome | tuple[Text, Understood]:
    """Read a file, or return its outcome if there is nothing to store."""
    name = candidate.key
    if candidate.damage:
        return FileOutcome(name, reason=candidate.damage, fault=candidate.fault)
    try:
        with open_checked(candidate.path) as file:
            text = read(file, name)
        text.adjacent_version = candidate.adjacent_version
        digest = compute_digest(text.raw)[:DIGEST_CHARACTERS]
        if digest in format_by_digest:
            reason = _explain_other_map(plan, digest)
            form, is_there = format_by_digest[digest], not reason
            prefix = build_run_prefix(form, digest) if is_there else ""
            return FileOutcome(name, form, there=is_there, reason=reason, prefix=prefix)
        understood = columns.understand_columns(text, plan.columns) if plan.columns else understand(text, plan.form)
    except UnknownFormatError as error:
        return FileOutcome(name, reason=error.message.without_prefix(f"{name}: "))
    except (IosondeError, OSError) as error:
        return FileOutcome(name, reason=format_reason(error, name), fault=is_fault(error))
    text.name = candidate.relative.as_posix()
    if not candidate.is_explicit and plan.columns is None and _is_quoted(name, text, understood):
        return FileOutcome(name, understood.format, quoted=True)
    return text, understood


def _build_outcome(name: str, understood: Understood, runs: Sequence[Run]) -> FileOutcome:
    if not runs:
        warnings = [note for note in understood.warnings if note not in understood.notes]
        nothing = Message(
            "no-result",
            "{format} is recognised in line {line} ({evidence}), but no result of it is read",
            format=understood.format,
            line=understood.claim.line,
            evidence=understood.claim.evidence,
        )
        reason = warnings[0][1] if warnings else nothing
        return FileOutcome(name, understood.format, reason=reason)
    incomplete = sum(bool(run.missing) for run in runs)
    return FileOutcome(name, understood.format, len(runs), incomplete, len(understood.warnings))


def _import_together(
    plan: ImportPlan, group: Sequence[CandidateFile], format_by_digest: dict[str, str], factors: Factors
) -> list[tuple[FileOutcome, list[Run]]]:
    """Import files of one or several executions, in the order of ``group``."""
    members: dict[str, Member] = {}
    outcomes: dict[str, FileOutcome] = {}
    paths = {candidate.key: (candidate.relative, candidate.root) for candidate in group}
    for candidate in group:
        key, content = candidate.key, _read_file(plan, candidate, {})
        if not isinstance(content, FileOutcome) and (samples := collect_samples(content[1])):
            outcomes[key] = FileOutcome(key, content[1].format, samples=samples)
            continue
        if not isinstance(content, FileOutcome):
            members[key] = Member(key, candidate.place, *content)
            continue
        outcomes[key] = content
        if SETTINGS_FILE.search(candidate.place.name) and candidate.size:
            with suppress(IosondeError, OSError):
                members[key] = Member(key, candidate.place, read_candidate(candidate), None)
    runs_by_file, joined = merge_runs(
        list(members.values()), plan.experiment, lambda member: factors(*paths[member.name])
    )
    earlier_formats = dict(format_by_digest)
    for key, member in members.items():
        if member.understood is None:
            continue
        digest = compute_digest(member.text.raw)[:DIGEST_CHARACTERS]
        if key not in joined:
            outcomes[key] = _build_outcome(key, member.understood, runs_by_file[key])
            if digest in earlier_formats:
                form = format_by_digest[digest]
                outcomes[key] = FileOutcome(key, form, there=True, prefix=build_run_prefix(form, digest))
                runs_by_file[key] = []
            elif runs_by_file[key]:
                format_by_digest[digest] = member.understood.format
    there = bool(runs_by_file) and all(outcomes[key].there for key in runs_by_file)
    for key, base in joined.items():
        form = understood.format if (understood := members[key].understood) else ""
        is_there = outcomes[base].there if base else there
        outcomes[key] = FileOutcome(key, form, there=is_there, joined=not is_there, into=base)
    _adopt_empty_logs(group, outcomes)
    return [(outcomes[candidate.key], runs_by_file.get(candidate.key, [])) for candidate in group]


def _adopt_empty_logs(group: Sequence[CandidateFile], outcomes: dict[str, FileOutcome]) -> None:
    """Take the empty logs of fio (submission latencies of synchronous engines) for part of the run of the others."""
    logs = {
        (candidate.place.parent, name.prefix): outcomes[candidate.key]
        for candidate in group
        if candidate.size and (name := read_log_name(candidate.place.name))
    }
    for candidate in group:
        name = read_log_name(candidate.place.name)
        other = logs.get((candidate.place.parent, name.prefix)) if name and not candidate.size else None
        if other is not None and not other.reason:
            key = candidate.key
            outcomes[key] = replace(
                other, file=key, runs=0, incomplete=0, warnings=0, joined=not other.there, into=other.into or other.file
            )


def _is_quoted(name: str, text: Text, understood: Understood) -> bool:
    """Return whether output of this format is present, but only quoted."""
    there = understood.claim.score or any(run.rows for run in understood.runs)
    return bool(there) and is_quoted(name, text, understood.claim.line, understood.format)


def _explain_other_map(plan: ImportPlan, digest: str) -> str:
    """Explain why a stored file was not read by this plan's map; '' if it was, and for other tools' output."""
    stored_map = (plan.store / "runs" / f"{build_run_prefix(columns.NAME, digest)}0000") / "raw" / COLUMNS_FILE
    if plan.columns is None or not stored_map.is_file() or stored_map.read_bytes() == plan.columns.content:
        return ""
    return Message(
        "different-map", "already stored with another map ({map}): import it into another store", map=stored_map
    )
