//! JSON → Workload, with every check that can be made before anything runs.

use crate::backend::fake::Script;
use crate::content::Content;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::json::{Node, Object};
use crate::kind::Kind;
use crate::parse_step::step;
use crate::workload::{Arrival, Backend, Files, Phase, Workload};

const MANY: u64 = u64::MAX >> 1;
const FLAGS: &[(&str, i32)] = &[
    ("direct", libc::O_DIRECT),
    ("sync", libc::O_SYNC),
    ("dsync", libc::O_DSYNC),
    ("append", libc::O_APPEND),
    ("noatime", libc::O_NOATIME),
    ("exclusive", libc::O_EXCL),
    ("truncate", libc::O_TRUNC),
];

pub fn workload(text: &str) -> Result<Workload> {
    let value = serde_json::from_str(text)
        .map_err(|error| Error::Workload(format!("the workload is no JSON: {error}")))?;
    let object = Node { path: String::new(), value: &value }.object()?;
    let root = object.need("root")?;
    let root_text = root.text()?;
    if root_text.is_empty() || root_text.contains('\0') {
        return root.fail("not a path");
    }
    let workers = object.need("workers")?;
    let workload = Workload {
        root: root_text.to_owned(),
        seed: object.whole("seed", 0, u64::MAX)?.unwrap_or(0),
        rank: object.whole("rank", 0, u64::MAX)?.unwrap_or(0),
        backend: object.get("backend").map_or(Ok(Backend::Posix), |node| backend(&node))?,
        workers: workers.list()?.iter().map(worker).collect::<Result<_>>()?,
    };
    object.no_other_keys()?;
    match workload.workers.first() {
        None => return workers.fail("there must be at least one worker"),
        Some(first) if workload.workers.iter().any(|phases| phases.len() != first.len()) => {
            return workers.fail("all workers must have the same number of phases");
        }
        _ => {}
    }
    if matches!(workload.backend, Backend::Fake(_))
        && workload.workers.iter().flatten().any(|phase| phase.verify)
    {
        return object.fail("\"verify\" needs a backend that keeps data; \"fake\" does not");
    }
    Ok(workload)
}

fn backend(node: &Node) -> Result<Backend> {
    let object = node.object()?;
    let name = object.need("name")?;
    let backend = match name.text()? {
        "posix" => Backend::Posix,
        "io_uring" => {
            Backend::IoUring { queue_depth: object.whole("queue_depth", 1, 4096)?.unwrap_or(1) as u32 }
        }
        "fake" => Backend::Fake(Script::from_json(&object)?),
        other => return name.fail(format_args!("no backend {other:?}; there are posix, io_uring, fake")),
    };
    object.no_other_keys()?;
    Ok(backend)
}

fn worker(node: &Node) -> Result<Vec<Phase>> {
    let object = node.object()?;
    let phases = object.need("phases")?.list()?.iter().map(phase).collect();
    object.no_other_keys()?;
    phases
}

fn phase(node: &Node) -> Result<Phase> {
    let object = node.object()?;
    if let Some(name) = object.get("name") {
        name.text()?;
    }
    let steps_node = object.need("steps")?;
    let steps: Vec<_> = steps_node.list()?.iter().map(step).collect::<Result<_>>()?;
    if steps.is_empty() {
        return steps_node.fail("there must be at least one step");
    }
    let mut phase = Phase {
        files: files(&object.need("files")?)?,
        shuffled: choice(&object, "order", &["listed", "shuffled"])? == 1,
        passes: object.whole("passes", 0, MANY)?.unwrap_or(1),
        steps,
        time_limit_ns: object.whole("time_limit_ns", 1, MANY)?,
        max_operations: object.whole("max_operations", 1, MANY)?,
        stop_on_error: choice(&object, "on_error", &["stop", "continue"])? == 0,
        arrival: object.get("arrival").map(|node| arrival(&node)).transpose()?,
        open_flags: object.get("open_flags").map_or(Ok(0), |node| open_flags(&node))?,
        content: object.get("content").map_or(Ok(Content::Incompressible), |node| content(&node))?,
        verify: object.get("verify").map_or(Ok(false), |node| node.boolean())?,
        memory_size: 0,
        alignment: object.whole("alignment", 1, 1 << 30)?.unwrap_or(4096) as usize,
    };
    phase.memory_size = memory_size(&object, &phase)?;
    object.no_other_keys()?;
    check_phase(&object, &phase)?;
    Ok(phase)
}

fn memory_size(object: &Object, phase: &Phase) -> Result<usize> {
    let largest = phase.operations().map(|operation| operation.memory_needed()).max().unwrap_or(0);
    let given = object.whole("memory_size", largest.max(1), 1 << 40)?;
    Ok(given.unwrap_or(largest) as usize)
}

fn check_phase(object: &Object, phase: &Phase) -> Result<()> {
    if phase.passes == 0 && phase.time_limit_ns.is_none() && phase.max_operations.is_none() {
        return object
            .fail("\"passes\": 0 needs \"time_limit_ns\" or \"max_operations\", else it never ends");
    }
    if !phase.alignment.is_power_of_two() {
        return object.fail("\"alignment\" must be a power of two");
    }
    if let Files::Device(device) = &phase.files {
        return device.check(object, phase);
    }
    let has = |wanted: &[Kind]| phase.operations().any(|operation| wanted.contains(&operation.kind));
    if has(&[Kind::Append]) && has(&[Kind::Write]) {
        return object
            .fail("append and write in one phase: with O_APPEND every write would append; use two phases");
    }
    if phase.verify && has(&[Kind::Append]) {
        return object
            .fail("\"verify\" does not work with append: where an append lands is not known beforehand");
    }
    let mut suffixes = phase.operations().filter_map(|operation| operation.suffix());
    if let Some(first) = suffixes.next()
        && suffixes.any(|other| other != first)
    {
        return object.fail("all steps of a phase with a name in \"to\" must have the same");
    }
    if phase.creates_beside() && has(&[Kind::Rename]) {
        return object.fail("rename, and a create with \"to\", in one phase: use two phases");
    }
    Ok(())
}

fn files(node: &Node) -> Result<Files> {
    let object = node.object()?;
    let files = if let Some(names) = object.get("names") {
        let names_list: Vec<_> =
            names.list()?.iter().map(|name| Ok(inside(name)?.to_owned())).collect::<Result<_>>()?;
        if names_list.is_empty() {
            return names.fail("there must be at least one name");
        }
        Files::Names(names_list)
    } else if let Some(device) = object.get("device") {
        Files::Device(Device::parse(&device)?)
    } else {
        let template = object.need("template")?;
        let suffix = object.get("suffix").map_or(Ok(""), |node| node.text())?;
        let whole_name = serde_json::Value::String(format!("{}000000{suffix}", template.text()?));
        inside(&Node { path: template.path.clone(), value: &whole_name })?;
        Files::Template {
            template: template.text()?.to_owned(),
            suffix: suffix.to_owned(),
            first: object.whole("first", 0, 1 << 31)?.unwrap_or(0) as u32,
            count: object.whole("count", 1, 1 << 31)?.unwrap_or(1) as u32,
        }
    };
    object.no_other_keys()?;
    Ok(files)
}

/// A name that stays below the root: relative, and no component that is empty, `.` or `..`.
fn inside<'a>(node: &Node<'a>) -> Result<&'a str> {
    let name = node.text()?;
    if name.starts_with('/') {
        return node.fail(format_args!("{name:?} is absolute; names are relative to the root"));
    }
    if name.split('/').any(|component| matches!(component, "" | "." | "..")) || name.contains('\0') {
        return node.fail(format_args!("{name:?} has a component that is empty, \".\" or \"..\", or a NUL"));
    }
    Ok(name)
}

fn choice(object: &Object, key: &'static str, choices: &[&str]) -> Result<usize> {
    let Some(node) = object.get(key) else { return Ok(0) };
    let text = node.text()?;
    match choices.iter().position(|choice| *choice == text) {
        Some(index) => Ok(index),
        None => node.fail(format_args!("{text:?} is none of {}", choices.join(", "))),
    }
}

fn arrival(node: &Node) -> Result<Arrival> {
    let object = node.object()?;
    let rate = object.need("rate_per_s")?;
    let rate_per_s = rate.number()?;
    if rate_per_s <= 0.0 {
        return rate.fail("must be more than 0");
    }
    let poisson = choice(&object, "distribution", &["uniform", "poisson"])? == 1;
    object.no_other_keys()?;
    Ok(Arrival { rate_per_s, poisson })
}

fn open_flags(node: &Node) -> Result<i32> {
    node.list()?.iter().try_fold(0, |flags, item| {
        let name = item.text()?;
        match FLAGS.iter().find(|(known, _)| *known == name) {
            Some((_, flag)) => Ok(flags | flag),
            None => {
                let known: Vec<_> = FLAGS.iter().map(|(known, _)| *known).collect();
                item.fail(format_args!("{name:?} is none of {}", known.join(", ")))
            }
        }
    })
}

fn content(node: &Node) -> Result<Content> {
    if let Some(name) = node.value.as_str() {
        return match name {
            "incompressible" => Ok(Content::Incompressible),
            "zeros" => Ok(Content::Zeros),
            _ => node.fail(format_args!("{name:?} is neither incompressible nor zeros")),
        };
    }
    let object = node.object()?;
    let share = object.need("compressible")?;
    if share.number()? > 1.0 {
        return share.fail("a share lies between 0 and 1");
    }
    object.no_other_keys()?;
    Ok(Content::Compressible(share.number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let phase = &workload.workers[0][0];
        assert_eq!((workload.seed, workload.rank, workload.backend), (0, 0, Backend::Posix));
        assert_eq!((phase.passes, phase.memory_size, phase.alignment, phase.open_flags), (1, 4096, 4096, 0));
        assert!(phase.stop_on_error && !phase.verify && !phase.shuffled && phase.arrival.is_none());
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
                r#"workers[0].phases[0]: unknown key "colour""#,
            ),
            (
                r#"{"files": {"template": "f"}, "steps": [{"kind": "compute", "ns": 1e15}]}"#.to_owned(),
                "workers[0].phases[0].steps[0]: computing for more than an hour",
            ),
        ] {
            let error = with_phase(&phase).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(workload("{}").unwrap_err().to_string(), "workload: \"root\" is missing");
    }

    #[test]
    fn a_time_limit_bounds_the_records_that_are_reserved() {
        let phase = r#"{"files": {"template": "f"}, "passes": 0, "time_limit_ns": 1000000, "steps": [{"kind": "stat"}]}"#;
        assert_eq!(with_phase(phase).unwrap().workers[0][0].most_operations(), Some(10_001));
    }
}
