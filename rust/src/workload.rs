//! What each worker does, as data (docs/workload.md). `parse.rs` makes it from JSON.

use crate::content::Content;
use crate::device::Device;
use crate::json::{self, MANY, Number, Whole};
use crate::kind::Kind;
use crate::parse::Name;
use crate::parse_step::StepKeys;
use crate::pattern::{Pattern, Range};
use crate::sieve::Sieve;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Workload {
    pub root: String,
    /// Of the content; the same for all ranks, so that one can verify what another wrote.
    pub seed: Whole<0, { u64::MAX }>,
    /// Makes the offsets and orders of ranks differ.
    pub rank: Whole<0, { u64::MAX }>,
    #[serde(deserialize_with = "json::by_name")]
    pub backend: Backend,
    /// All workers have the same number of phases.
    pub workers: Vec<WorkerPhases>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerPhases {
    pub phases: Vec<Phase>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Backend {
    Posix {},
    IoUring {
        #[serde(default)]
        queue_depth: Whole<1, 4096>,
    },
    Fake(Box<crate::backend::fake::Script>),
}

impl Default for Backend {
    fn default() -> Self {
        Self::Posix {}
    }
}

/// A default of `files` or `steps` is refused later.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    #[serde(rename = "name")]
    _name: Option<String>,
    pub files: Files,
    pub order: Order,
    /// 0: again and again until another rule ends the phase.
    pub passes: Whole<0, MANY, 1>,
    pub steps: Vec<Step>,
    pub time_limit_ns: Option<Whole<1, MANY>>,
    pub max_operations: Option<Whole<1, MANY>>,
    pub on_error: OnError,
    pub arrival: Option<Arrival>,
    /// For every open and create of the phase.
    pub open_flags: Vec<OpenFlag>,
    pub content: Content,
    pub verify: bool,
    /// 0 until it is checked: as large as the largest operation needs.
    pub memory_size: Whole<1, { 1 << 40 }, 0>,
    pub alignment: Whole<1, { 1 << 30 }, 4096>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    #[default]
    Listed,
    Shuffled,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    #[default]
    Stop,
    Continue,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(i32)]
pub enum OpenFlag {
    Direct = libc::O_DIRECT,
    Sync = libc::O_SYNC,
    Dsync = libc::O_DSYNC,
    Append = libc::O_APPEND,
    Noatime = libc::O_NOATIME,
    Exclusive = libc::O_EXCL,
    Truncate = libc::O_TRUNC,
}

/// Operations start by a schedule and not when the one before is done.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrival {
    pub rate_per_s: Number,
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

/// Either names, or a template, or a device (`parse.rs` checks it).
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    pub names: Option<Vec<Name>>,
    pub template: Option<String>,
    pub suffix: Option<String>,
    pub first: Option<Whole<0, { 1 << 31 }>>,
    pub count: Option<Whole<1, { 1 << 31 }>>,
    /// No file, but the one exception to "nothing leaves the root": data that comes from, or goes, nowhere.
    pub device: Option<Device>,
}

impl Files {
    pub fn count(&self) -> usize {
        self.names.as_ref().map_or(self.count.unwrap_or_default().0 as usize, Vec::len)
    }

    /// Name below the root, and the number that records carry.
    pub fn name(&self, index: usize) -> (String, u32) {
        if let Some(names) = &self.names {
            return (names[index].0.clone(), index as u32);
        }
        if let Some(device) = self.device {
            return (device.path().to_owned(), 0);
        }
        let number = self.first.unwrap_or_default().0 as u32 + index as u32;
        let [template, suffix] = [&self.template, &self.suffix].map(|part| part.as_deref().unwrap_or(""));
        (format!("{template}{number:06}{suffix}"), number)
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
        let by_count = match self.passes.0 {
            0 => None,
            passes => Some(per_file.saturating_mul(self.files.count() as u64).saturating_mul(passes)),
        };
        let by_time = self.time_limit_ns.map(|limit| limit.0 / FASTEST_OPERATION_NS + 1);
        [by_count, self.max_operations.map(|most| most.0), by_time].into_iter().flatten().min()
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
    let flags = phase.open_flags.iter().fold(0, |flags, flag| flags | *flag as i32);
    flags | access | append | libc::O_NOFOLLOW | libc::O_CLOEXEC
}
