//! JSON → Workload, with every check that can be made before anything runs.

use crate::error::{Error, Result};
use crate::json;
use crate::kind::Kind;
use crate::workload::{Backend, Files, Phase, Workload};
use serde::Deserialize;
use std::collections::BTreeSet;

pub fn workload(text: &str) -> Result<Workload> {
    let mut workload = json::parse(text)?;
    check(&mut workload).map_err(Error::Workload)?;
    Ok(workload)
}

fn check(workload: &mut Workload) -> Result<(), String> {
    if workload.root.is_empty() || workload.root.contains('\0') {
        return Err("root: expected a path, not empty and without NUL".into());
    }
    let workers = &mut workload.workers;
    if workers.is_empty() {
        return Err("workers: there must be at least one worker".into());
    }
    if workers.iter().any(|worker| worker.phases.len() != workers[0].phases.len()) {
        return Err("workers: all workers must have the same number of phases".into());
    }
    for (worker, phases) in workers.iter_mut().enumerate() {
        for (index, phase) in phases.phases.iter_mut().enumerate() {
            let path = format!("workers[{worker}].phases[{index}]");
            check_phase(phase).map_err(|text| json::join(&path, &text))?;
            if phase.verify && matches!(workload.backend, Backend::Fake(_)) {
                return Err(format!("{path}.verify: needs a backend that keeps data; \"fake\" does not"));
            }
        }
    }
    Ok(())
}

/// Check it, and set the size of its memory if it has none.
fn check_phase(phase: &mut Phase) -> Result<(), String> {
    check_files(&phase.files).map_err(|text| json::join(".files", &text))?;
    let largest = phase.operations().map(|operation| operation.memory_needed()).max().unwrap_or(0);
    if phase.memory_size.0 == 0 {
        phase.memory_size.0 = largest;
    } else if phase.memory_size.0 < largest {
        return Err(format!(".memory_size: expected a whole number, {largest} or more"));
    }
    let has = |kind| phase.operations().any(|operation| operation.kind == kind);
    let suffixes: BTreeSet<_> = phase.operations().filter_map(|operation| operation.suffix()).collect();
    let is_endless = phase.passes.0 == 0 && phase.time_limit_ns.is_none() && phase.max_operations.is_none();
    let is_stuck = phase.arrival.is_some_and(|arrival| arrival.rate_per_s.0 == 0.0);
    let problems = [
        (phase.steps.is_empty(), ".steps: there must be at least one step"),
        (is_stuck, ".arrival.rate_per_s: must be more than 0"),
        (is_endless, "\"passes\": 0 needs \"time_limit_ns\" or \"max_operations\", else it never ends"),
        (!phase.alignment.0.is_power_of_two(), "\"alignment\" must be a power of two"),
        (
            has(Kind::Append) && has(Kind::Write),
            "append and write in one phase: with O_APPEND every write would append; use two phases",
        ),
        (
            phase.verify && has(Kind::Append),
            "\"verify\" does not work with append: where an append lands is not known beforehand",
        ),
        (suffixes.len() > 1, "all steps of a phase with a name in \"to\" must have the same"),
        (
            phase.creates_beside() && has(Kind::Rename),
            "rename, and a create with \"to\", in one phase: use two phases",
        ),
    ];
    if let Some((_, text)) = problems.into_iter().find(|(applies, _)| *applies) {
        return Err(text.to_owned());
    }
    match phase.files.device {
        Some(device) => device.check(phase),
        None => Ok(()),
    }
}

/// A name that stays below the root: relative, and no component that is empty, `.` or `..`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(pub String);

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name.starts_with('/') {
            return Err(format!("{name:?} is absolute; names are relative to the root"));
        }
        if name.split('/').any(|component| matches!(component, "" | "." | "..")) || name.contains('\0') {
            return Err(format!("{name:?} has a component that is empty, \".\" or \"..\", or a NUL"));
        }
        Ok(Name(name))
    }
}

fn check_files(files: &Files) -> Result<(), String> {
    let is_numbered = files.suffix.is_some() || files.first.is_some() || files.count.is_some();
    match (&files.names, &files.template, files.device) {
        (Some(names), None, None) if names.is_empty() => {
            Err(".names: there must be at least one name".into())
        }
        (Some(_), None, None) | (None, None, Some(_)) if !is_numbered => Ok(()),
        (None, Some(_), None) => match Name::try_from(files.name(0).0) {
            Ok(_) => Ok(()),
            Err(text) => Err(format!(".template: {text}")),
        },
        _ => Err("expected one of `names`, `template` (with `first`, `count`, `suffix`), `device`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{OnError, Order};

    fn with_phase(phase: &str) -> Result<Workload> {
        workload(&format!(r#"{{"root": "/x", "workers": [{{"phases": [{phase}]}}]}}"#))
    }

    #[test]
    fn defaults_are_those_of_the_manual() {
        let workload = with_phase(
            r#"{"name": "p", "files": {"template": "f", "count": 3}, "steps": [
                {"kind": "read", "transfer_size": 4096, "size": 10000}]}"#,
        )
        .unwrap();
        let phase = &workload.workers[0].phases[0];
        assert_eq!((workload.seed.0, workload.rank.0, workload.backend), (0, 0, Backend::Posix {}));
        assert_eq!((phase.passes.0, phase.memory_size.0, phase.alignment.0), (1, 4096, 4096));
        assert_eq!((&phase.on_error, &phase.order), (&OnError::Stop, &Order::Listed));
        assert!(phase.open_flags.is_empty() && !phase.verify && phase.arrival.is_none());
        assert_eq!((phase.steps[0].count, phase.most_operations()), (3, Some(9)));
        assert_eq!(phase.files.name(2), ("f000002".to_owned(), 2));
    }

    #[test]
    fn an_error_names_the_key() {
        let step = r#"{"kind": "read", "transfer_size": 4096, "size": 8192"#;
        for (phase, expected) in [
            (
                format!(r#"{{"files": {{"template": "f"}}, "steps": [{step}, "count": 0}}]}}"#),
                "workers[0].phases[0].steps[0].count: expected a whole number, 1 or more, found 0",
            ),
            (
                format!(r#"{{"files": {{"names": ["a", "../b"]}}, "steps": [{step}}}]}}"#),
                r#"workers[0].phases[0].files.names[1]: "../b" has a component that is empty"#,
            ),
            (
                format!(r#"{{"files": {{"template": "f"}}, "steps": [{step}}}], "colour": 1}}"#),
                "workers[0].phases[0].colour: unknown field `colour`, expected one of `name`, `files`,",
            ),
            (
                r#"{"files": {"template": "f"}, "steps": [{"kind": "compute", "ns": 1e15}]}"#.to_owned(),
                "workers[0].phases[0].steps[0]: computing for more than an hour",
            ),
            (
                r#"{"files": {"template": "f"}, "steps": [{"kind": "open", "size": 5}]}"#.to_owned(),
                "workers[0].phases[0].steps[0].size: unknown field `size`",
            ),
            (
                r#"{"files": {"template": "f"}, "steps": [{"kind": "mix", "count": 1, "of": [
                    {"weight": 1, "step": {"kind": "sync"}}]}]}"#
                    .to_owned(),
                r#"workers[0].phases[0].steps[0].of[0].step.kind: no kind "sync"; there are create,"#,
            ),
        ] {
            let error = with_phase(&phase).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(workload("{}").unwrap_err().to_string().starts_with("root: expected a path"));
        for (phase, expected) in [
            ("[1]", "workers[0].phases[0]: a list does not belong here"),
            (r#"{"arrival": [1000]}"#, "workers[0].phases[0].arrival: a list does not belong here"),
        ] {
            assert_eq!(with_phase(phase).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn an_error_in_a_back_end_names_the_key() {
        for (backend, expected) in [
            (r#"{"queue_depth": 2}"#, "backend: missing field `name`"),
            (r#"{"name": 1}"#, "backend.name: invalid type: integer `1`"),
            (r#"{"name": "nfs"}"#, "backend.name: unknown variant `nfs`, expected one of `posix`,"),
            (r#"{"name": "posix", "queue_depth": 2}"#, "backend.queue_depth: unknown field `queue_depth`"),
            (r#"{"name": "io_uring", "queue_depth": 0}"#, "backend.queue_depth: expected a whole number"),
            (r#"{"name": "fake", "jitter": -1}"#, "backend.jitter: expected a number, 0 or more, found -1"),
            (r#"{"name": "fake", "latency_ns": {"read": [5, -1]}}"#, "backend.latency_ns.read[1]: expected"),
            (r#"{"name": "fake", "faults": [{"kind": "mix"}]}"#, "backend.faults[0].kind: no kind"),
            (r#"{"name": "fake", "faults": [{"at": 1}]}"#, "backend.faults[0]: missing field `kind`"),
            (r#"{"name": "fake", "machine": {"kind": "disk"}}"#, "backend.machine.kind: unknown variant"),
            (
                r#"{"name": "fake", "machine": {"kind": "lock", "miss": 0.1}}"#,
                "backend.machine.miss: unknown",
            ),
            (
                r#"{"name": "fake", "machine": {"kind": "stripe", "prepare_ns": "5"}}"#,
                r#"backend.machine.prepare_ns: expected a number, 0 or more, found "5""#,
            ),
            (
                r#"{"name": "fake", "machine": {"kind": "two_components", "miss": 1.5}}"#,
                "backend.machine.miss: expected a number from 0 to 1, found 1.5",
            ),
        ] {
            let text = format!(r#"{{"root": "/x", "workers": [], "backend": {backend}}}"#);
            let error = workload(&text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_null_is_as_good_as_no_key() {
        let phase = r#"{"name": null, "passes": null, "files": {"template": "f", "first": null}, "steps": [
            {"kind": "read", "transfer_size": 4e3, "count": 2, "base": null, "offsets": {"stride": {"hole": null}}}]}"#;
        assert_eq!(with_phase(phase).unwrap().workers[0].phases[0].memory_size.0, 4000);
    }

    #[test]
    fn a_time_limit_bounds_the_records_that_are_reserved() {
        let phase = r#"{"files": {"template": "f"}, "passes": 0, "time_limit_ns": 1000000, "steps": [{"kind": "stat"}]}"#;
        assert_eq!(with_phase(phase).unwrap().workers[0].phases[0].most_operations(), Some(10_001));
    }
}
