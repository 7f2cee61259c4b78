//! What each worker does, as data (docs/workload.md). `parse.rs` makes it from JSON.

use crate::content::Content;
use crate::device::Device;
use crate::json::{Keys, Number};
use crate::kind::Kind;
use crate::parse::{FilesKeys, PhaseKeys, WorkloadKeys};
use crate::parse_step::StepKeys;
use crate::pattern::{Pattern, Range};
use crate::sieve::Sieve;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

#[derive(Debug, Deserialize)]
#[serde(try_from = "WorkloadKeys")]
pub struct Workload {
    pub root: String,
    /// Of the content; the same for all ranks, so that one can verify what another wrote.
    pub seed: u64,
    /// Makes the offsets and orders of ranks differ.
    pub rank: u64,
    pub backend: Backend,
    /// `workers[worker][phase]`; all workers have the same number of phases.
    pub workers: Vec<Vec<Phase>>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Keys")]
pub enum Backend {
    #[default]
    Posix,
    IoUring {
        queue_depth: u32,
    },
    Fake(crate::backend::fake::Script),
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "PhaseKeys")]
pub struct Phase {
    pub files: Files,
    pub shuffled: bool,
    /// 0: again and again until another rule ends the phase.
    pub passes: u64,
    pub steps: Vec<Step>,
    pub time_limit_ns: Option<u64>,
    pub max_operations: Option<u64>,
    pub stop_on_error: bool,
    pub arrival: Option<Arrival>,
    /// O_* flags for every open and create of the phase.
    pub open_flags: i32,
    pub content: Content,
    pub verify: bool,
    pub memory_size: usize,
    pub alignment: usize,
}

/// Operations start by a schedule and not when the one before is done.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrival {
    #[serde(deserialize_with = "positive")]
    pub rate_per_s: f64,
    #[serde(default)]
    pub distribution: Distribution,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    #[default]
    Uniform,
    Poisson,
}

fn positive<'de, D: Deserializer<'de>>(reader: D) -> Result<f64, D::Error> {
    match <Number>::deserialize(reader)? {
        Number(0.0) => Err(D::Error::custom("must be more than 0")),
        Number(number) => Ok(number),
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "FilesKeys")]
pub enum Files {
    Template {
        template: String,
        suffix: String,
        first: u32,
        count: u32,
    },
    Names(Vec<String>),
    /// No file, but the one exception to "nothing leaves the root": data that comes from, or goes, nowhere.
    Device(Device),
}

impl Files {
    pub fn count(&self) -> usize {
        match self {
            Files::Template { count, .. } => *count as usize,
            Files::Names(names) => names.len(),
            Files::Device(_) => 1,
        }
    }

    /// Name below the root, and the number that records carry.
    pub fn name(&self, index: usize) -> (String, u32) {
        match self {
            Files::Template { template, suffix, first, .. } => {
                let number = first + index as u32;
                (format!("{template}{number:06}{suffix}"), number)
            }
            Files::Names(names) => (names[index].clone(), index as u32),
            Files::Device(device) => (device.path().to_owned(), 0),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "StepKeys")]
pub struct Step {
    pub count: u64,
    pub action: Action,
    /// Computing after each operation.
    pub think: Option<Compute>,
}

#[derive(Debug)]
pub enum Action {
    One(Operation),
    /// Each operation is drawn: cumulated weight, and what it stands for.
    Mix(Vec<(u64, Operation)>),
}

#[derive(Debug)]
pub struct Operation {
    pub kind: Kind,
    pub detail: Detail,
}

impl Operation {
    /// Bytes of one operation, at most; 0 where the kind moves none.
    pub fn transfer_size(&self) -> u32 {
        match self.detail {
            Detail::Data { range, .. } => range.transfer,
            Detail::Sieve(sieve) => sieve.buffer,
            _ => 0,
        }
    }

    /// Bytes of a worker's memory that one operation needs: a sieve has its window behind the wanted bytes.
    pub fn memory_needed(&self) -> u64 {
        let windows = if matches!(self.detail, Detail::Sieve(_)) { 2 } else { 1 };
        u64::from(self.transfer_size()) * windows
    }

    /// What `rename`, or a `create` of another file beside this one, puts behind the name.
    pub fn suffix(&self) -> Option<&str> {
        match &self.detail {
            Detail::Rename { suffix } | Detail::Beside { suffix } => Some(suffix),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub enum Detail {
    Plain,
    Data { range: Range, offsets: Pattern, memory: Pattern },
    Sieve(Sieve),
    Rename { suffix: String },
    Beside { suffix: String },
    Truncate { length: u64 },
    Advise { base: u64, size: u64 },
    Compute(Compute),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compute {
    pub ns: u64,
    pub ns_per_byte: f64,
    pub bytes: u32,
}

impl Compute {
    pub fn duration_ns(self) -> u64 {
        self.ns.saturating_add((self.ns_per_byte * f64::from(self.bytes)) as u64)
    }
}

impl Step {
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        let (one, mix) = match &self.action {
            Action::One(operation) => (Some(operation), None),
            Action::Mix(drawn) => (None, Some(drawn.iter().map(|(_, operation)| operation))),
        };
        one.into_iter().chain(mix.into_iter().flatten())
    }
}

impl Phase {
    /// Whether `create` makes other files, beside those of the phase.
    pub fn creates_beside(&self) -> bool {
        self.operations().any(|operation| matches!(operation.detail, Detail::Beside { .. }))
    }

    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.steps.iter().flat_map(Step::operations)
    }

    /// The largest number of operations that the phase can do, if its rules give one.
    pub fn most_operations(&self) -> Option<u64> {
        // No file-system call returns faster than this, so a time limit bounds the number too.
        const FASTEST_OPERATION_NS: u64 = 100;
        let per_file: u64 = self
            .steps
            .iter()
            .map(|step| step.count.saturating_mul(1 + u64::from(step.think.is_some())))
            .sum();
        let by_count = match self.passes {
            0 => None,
            passes => Some(per_file.saturating_mul(self.files.count() as u64).saturating_mul(passes)),
        };
        let by_time = self.time_limit_ns.map(|limit| limit / FASTEST_OPERATION_NS + 1);
        [by_count, self.max_operations, by_time].into_iter().flatten().min()
    }

    /// A descriptor is needed before any step of the phase has opened one.
    pub fn wants_open_files(&self) -> bool {
        let mut open = false;
        for operation in self.operations() {
            match operation.kind {
                Kind::Create | Kind::Open => open = true,
                Kind::Close => open = false,
                kind if kind.needs_file() && !open => return true,
                _ => {}
            }
        }
        false
    }

    fn modifies(&self) -> bool {
        self.operations().any(|operation| operation.kind.modifies())
    }

    fn does(&self, kind: Kind) -> bool {
        self.operations().any(|operation| operation.kind == kind)
    }
}

/// O_* flags with which the first of these phases opens its files: for writing if it writes, or if it leaves them
/// open and a later one writes.
pub fn flags_for_open(phases: &[Phase]) -> i32 {
    let (phase, later) = phases.split_first().expect("at least the phase itself");
    let modifies = phase.modifies() || (!phase.does(Kind::Close) && later.iter().any(Phase::modifies));
    let access = if modifies { libc::O_RDWR } else { libc::O_RDONLY };
    let append = if phase.does(Kind::Append) { libc::O_APPEND } else { 0 };
    phase.open_flags | access | append | libc::O_NOFOLLOW | libc::O_CLOEXEC
}
