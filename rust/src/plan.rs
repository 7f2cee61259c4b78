//! The order of a phase's operations: for each file, the steps. Resumable, so that a phase that ended by its time
//! limit can go on (wear-out).

use crate::kind::Kind;
use crate::pattern::{Range, Walk};
use crate::rng::Rng;
use crate::sieve::{Window, Windows};
use crate::workload::{Action, Detail, Operation, Order, Phase, Step};

/// One operation to be done.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    pub kind: Kind,
    /// Position in the phase's list of files.
    pub visit: u32,
    /// Changes with every step on every file: what must be over before the next begins.
    pub stage: u64,
    /// In the file; the length of a truncate; the first byte of an advice.
    pub offset: u64,
    pub length: u32,
    /// Place in the worker's memory.
    pub memory: usize,
    /// The length of an advice; the ns of a compute.
    pub extent: u64,
    /// Of a data kind: the range of the file that its step works in.
    pub range: Option<Range>,
    /// Of a sieve: the access that holds the `length` wanted bytes.
    pub window: Option<Window>,
}

enum Places {
    Blocks { file: Walk, memory: Walk },
    Windows(Windows),
}

impl Places {
    fn restart(&mut self) {
        match self {
            Places::Blocks { file, memory } => {
                file.restart();
                memory.restart();
            }
            Places::Windows(windows) => windows.restart(),
        }
    }

    #[inline]
    fn fill(&mut self, planned: &mut Planned) {
        match self {
            Places::Blocks { file, memory } => {
                (planned.offset, planned.length) = file.next();
                planned.memory = memory.next().0 as usize;
            }
            Places::Windows(windows) => {
                let window = windows.next();
                (planned.offset, planned.length) = (window.offset, window.useful());
                planned.window = Some(window);
            }
        }
    }
}

struct StepState {
    /// For each operation that the step may do.
    places: Vec<Option<Places>>,
    draw: Rng,
}

pub struct Cursor {
    pass: u64,
    order: Vec<u32>,
    at: usize,
    step: usize,
    done_in_step: u64,
    stage: u64,
    think_next: bool,
    states: Vec<StepState>,
    shuffle: Rng,
}

impl Cursor {
    /// `stream` names the sequence of random numbers: seed, rank, worker, phase.
    pub fn new(phase: &Phase, stream: &[u64]) -> Self {
        let rng = |purpose: &[u64]| Rng::stream(&[stream, purpose].concat());
        let state = |(index, step): (usize, &Step)| StepState {
            places: step
                .operations()
                .enumerate()
                .map(|(which, operation)| {
                    places(operation, phase, |kind| rng(&[index as u64, which as u64, kind]))
                })
                .collect(),
            draw: rng(&[index as u64, 0, 2]),
        };
        let mut cursor = Self {
            pass: 0,
            order: (0..phase.files.count() as u32).collect(),
            at: 0,
            step: 0,
            done_in_step: 0,
            stage: 0,
            think_next: false,
            states: phase.steps.iter().enumerate().map(state).collect(),
            shuffle: rng(&[u64::MAX]),
        };
        if phase.order == Order::Shuffled {
            cursor.shuffle.shuffle(&mut cursor.order);
        }
        cursor
    }

    /// The next operation, or None when all passes are done.
    #[inline]
    pub fn next(&mut self, phase: &Phase) -> Option<Planned> {
        if phase.passes.0 != 0 && self.pass == phase.passes.0 {
            return None;
        }
        let step = &phase.steps[self.step];
        let visit = self.order[self.at];
        let mut planned = Planned {
            kind: Kind::Compute,
            visit,
            stage: self.stage,
            offset: 0,
            length: 0,
            memory: 0,
            extent: 0,
            range: None,
            window: None,
        };
        if self.think_next {
            let think = step.think.expect("only set for a step that thinks");
            (planned.extent, planned.length) = (think.duration_ns(), think.bytes);
            self.think_next = false;
        } else {
            self.states[self.step].fill(step, &mut planned);
            self.done_in_step += 1;
            self.think_next = step.think.is_some();
        }
        if self.done_in_step == step.count && !self.think_next {
            self.next_step(phase);
        }
        Some(planned)
    }

    fn next_step(&mut self, phase: &Phase) {
        self.done_in_step = 0;
        self.stage += 1;
        self.step += 1;
        if self.step == phase.steps.len() {
            self.step = 0;
            self.at += 1;
            if self.at == self.order.len() {
                self.at = 0;
                self.pass += 1;
                if phase.order == Order::Shuffled {
                    self.shuffle.shuffle(&mut self.order);
                }
            }
        }
        for places in self.states[self.step].places.iter_mut().flatten() {
            places.restart();
        }
    }
}

impl StepState {
    #[inline]
    fn fill(&mut self, step: &Step, planned: &mut Planned) {
        let (which, operation) = match &step.action {
            Action::One(operation) => (0, operation),
            Action::Mix(drawn) => {
                let total = drawn.last().expect("a mix is not empty").0;
                let ticket = self.draw.below(total);
                let which = drawn.partition_point(|(cumulated, _)| *cumulated <= ticket);
                (which, &drawn[which].1)
            }
        };
        planned.kind = operation.kind;
        match &operation.detail {
            Detail::Data { range, .. } => {
                self.places[which].as_mut().expect("data kinds have places").fill(planned);
                planned.range = Some(*range);
            }
            Detail::Sieve(_) => self.places[which].as_mut().expect("sieves have places").fill(planned),
            Detail::Truncate { length } => planned.offset = *length,
            Detail::Advise { base, size } => (planned.offset, planned.extent) = (*base, *size),
            Detail::Compute(compute) => {
                (planned.extent, planned.length) = (compute.duration_ns(), compute.bytes)
            }
            Detail::Plain | Detail::Rename { .. } | Detail::Beside { .. } => {}
        }
    }
}

fn places(operation: &Operation, phase: &Phase, rng: impl Fn(u64) -> Rng) -> Option<Places> {
    let (range, offsets, memory) = match operation.detail {
        Detail::Data { range, offsets, memory } => (range, offsets, memory),
        Detail::Sieve(sieve) => return Some(Places::Windows(Windows::new(sieve))),
        _ => return None,
    };
    // In memory only whole transfers fit, so that a shorter last one fits too.
    let transfer = u64::from(range.transfer);
    let region = Range { base: 0, size: phase.memory_size.0 / transfer * transfer, transfer: range.transfer };
    Some(Places::Blocks {
        file: Walk::new(offsets, range, rng(0)),
        memory: Walk::new(memory, region, rng(1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(phase: &str, take: usize) -> Vec<Planned> {
        let text = format!(r#"{{"root": "/x", "workers": [{{"phases": [{phase}]}}]}}"#);
        let workload = crate::parse::workload(&text).unwrap();
        let phase = &workload.workers[0].phases[0];
        let mut cursor = Cursor::new(phase, &[1]);
        (0..take).map_while(|_| cursor.next(phase)).collect()
    }

    #[test]
    fn for_each_file_the_steps_for_each_pass() {
        let planned = plan(
            r#"{"files": {"template": "f", "count": 2}, "passes": 2, "steps": [{"kind": "open"},
                {"kind": "read", "transfer_size": 4, "size": 10}, {"kind": "close"}]}"#,
            100,
        );
        let one = [("open", 0, 0), ("read", 0, 4), ("read", 4, 4), ("read", 8, 2), ("close", 0, 0)];
        assert_eq!(planned.len(), 20);
        for (index, planned) in planned.iter().enumerate() {
            let (name, offset, length) = one[index % 5];
            assert_eq!((planned.kind.name(), planned.offset, planned.length), (name, offset, length));
            assert_eq!(planned.visit as usize, index / 5 % 2);
        }
        assert_ne!(planned[3].stage, planned[4].stage);
        assert_eq!(planned[1].stage, planned[3].stage);
    }

    #[test]
    fn a_mix_keeps_its_ratio() {
        let planned = plan(
            r#"{"files": {"template": "f"}, "steps": [{"kind": "mix", "count": 10000, "of": [
                {"weight": 7, "step": {"kind": "read", "transfer_size": 4, "size": 40, "offsets": "rnd"}},
                {"weight": 3, "step": {"kind": "stat"}}]}]}"#,
            20_000,
        );
        let reads = planned.iter().filter(|planned| planned.kind == Kind::Read).count();
        assert_eq!(planned.len(), 10_000);
        assert!((6800..7200).contains(&reads), "{reads}");
    }

    #[test]
    fn thinking_follows_each_operation() {
        let planned = plan(
            r#"{"files": {"template": "f"}, "steps": [{"kind": "write", "transfer_size": 10, "count": 2, "ns": 5,
                "ns_per_byte": 2}, {"kind": "fsync"}]}"#,
            100,
        );
        let kinds: Vec<_> = planned.iter().map(|planned| (planned.kind.name(), planned.extent)).collect();
        assert_eq!(kinds, [("write", 0), ("compute", 25), ("write", 0), ("compute", 25), ("fsync", 0)]);
    }

    #[test]
    fn shuffled_files_are_a_permutation_and_differ_by_pass() {
        let planned = plan(
            r#"{"files": {"template": "f", "count": 50}, "order": "shuffled", "passes": 2, "steps": [{"kind": "stat"}]}"#,
            1000,
        );
        let order: Vec<_> = planned.iter().map(|planned| planned.visit).collect();
        let (first, second) = order.split_at(50);
        assert_ne!(first, second);
        for pass in [first, second] {
            let mut sorted = pass.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        }
    }
}
