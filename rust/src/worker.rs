//! One worker: a thread's files, buffer and place in the workload, and the timed loop.

use crate::backend::{Backend, Completion};
use crate::buffer::Buffer;
use crate::clock::monotonic_ns;
use crate::content::Stamp;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::files::{FileTable, Visit};
use crate::flight::{Begun, Flight};
use crate::kind::Kind;
use crate::mapping::Mapping;
use crate::plan::Cursor;
use crate::record::{Recorder, Recording};
use crate::rng::{Rng, hash};
use crate::schedule::Schedule;
use crate::sieve;
use crate::workload::{OnError, Phase, Workload, flags_for_open};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Why a worker's phase ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stopped {
    Count,
    TimeLimit,
    Error,
    Stop,
}

/// One of the first failures.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub path: String,
    pub offset: u64,
    /// Or one of the codes of `record` for what is no errno.
    pub errno: i32,
    pub text: String,
}

/// What one worker did in one phase.
pub struct Outcome {
    pub started_ns: u64,
    pub ended_ns: u64,
    pub stopped: Stopped,
    pub recording: Recording,
    pub failures: Vec<Failure>,
    /// By how much the end of an operation may be late, on average at most (io_uring).
    pub end_error_ns: u64,
    /// Bytes that system calls moved beyond those of the records: the holes of sieves, and what was read to write.
    pub extra_bytes: u64,
    /// Of a scripted machine: the class of each operation, in order.
    pub truth: Vec<u8>,
}

/// A worker whatever its back end.
pub trait Work: Send {
    /// Everything that must not be timed. `goal`: go on with the phase up to so many operations in all.
    fn prepare(&mut self, phase: usize, records: usize, record: bool, goal: Option<u64>) -> Result<()>;
    fn run(&mut self, control: &Control, start_at_ns: u64) -> Outcome;
    fn operations_done(&self) -> u64;
    fn close(&mut self);
}

pub struct Worker<B: Backend> {
    pub index: usize,
    pub workload: Arc<Workload>,
    pub root: Option<OwnedFd>,
    pub backend: B,
    pub files: FileTable,
    pub state: Option<State>,
}

/// Of the phase that is prepared, running, or just ended.
pub struct State {
    pub phase: usize,
    pub visits: Vec<Visit>,
    pub cursor: Cursor,
    pub buffer: Buffer,
    pub mapping: Option<Mapping>,
    pub recorder: Recorder,
    pub failures: Vec<Failure>,
    pub flags: i32,
    pub done: u64,
    pub most: u64,
    pub wears_out: bool,
    /// Whether `create` makes files beside those of the phase.
    pub beside: bool,
    pub writes: u64,
    pub content_seed: u64,
    pub started_ns: u64,
    pub ended_ns: u64,
    pub extra_bytes: u64,
    pub failed: bool,
}

impl<B: Backend> Work for Worker<B> {
    fn prepare(&mut self, phase: usize, records: usize, record: bool, goal: Option<u64>) -> Result<()> {
        let seeds = [self.workload.seed.0, self.workload.rank.0, self.index as u64, phase as u64];
        let records_rng = Rng::stream(&[&seeds[..], &[u64::MAX - 1]].concat());
        let recorder = Recorder::new(records, record, records_rng)?;
        if let Some(goal) = goal {
            let state =
                self.state.as_mut().ok_or_else(|| Error::Workload("no phase to go on with".into()))?;
            (state.recorder, state.most, state.wears_out, state.failed) = (recorder, goal, true, false);
            return Ok(());
        }
        self.state = None;
        let phases = &self.workload.workers[self.index].phases[phase..];
        let (spec, flags) = (&phases[0], flags_for_open(phases));
        let root = self.root.as_ref().map(OwnedFd::as_raw_fd);
        let visits = self.files.prepare(&mut self.backend, root, spec, flags)?;
        let regions = self.backend.queue().map_or(1, |queue| queue.depth());
        // Content that is not verified shall never come twice, whatever the seed: neither on another rank nor in
        // another repetition, else a store that removes duplicates would look fast.
        let chance = [monotonic_ns(), u64::from(std::process::id()), hash(self.workload.root.as_bytes())];
        let content_seed = Rng::stream(&[&seeds[..], &chance].concat()).next();
        let stamp = Stamp::new(spec.content, content_seed);
        self.state = Some(State {
            phase,
            visits,
            cursor: Cursor::new(spec, &seeds),
            buffer: Buffer::new(spec.memory_size.0 as usize, spec.alignment.0 as usize, regions, stamp)?,
            mapping: None,
            recorder,
            failures: Vec::new(),
            flags,
            done: 0,
            most: spec.max_operations.map_or(u64::MAX, |most| most.0),
            wears_out: false,
            beside: spec.creates_beside(),
            writes: 0,
            content_seed,
            started_ns: 0,
            ended_ns: 0,
            extra_bytes: 0,
            failed: false,
        });
        Ok(())
    }

    fn run(&mut self, control: &Control, start_at_ns: u64) -> Outcome {
        let workload = Arc::clone(&self.workload);
        let mut state = self.state.take().expect("the engine runs prepared phases only");
        let phase = &workload.workers[self.index].phases[state.phase];
        (state.started_ns, state.ended_ns) = (0, 0);
        self.backend.wait_until(start_at_ns, &|| control.stopped());
        let begin_ns = self.backend.now().max(start_at_ns);
        let stopped = self.timed_loop(phase, &mut state, control, begin_ns);
        if !state.recorder.enabled() && state.done > 0 {
            (state.started_ns, state.ended_ns) = (begin_ns, self.backend.now());
        }
        state.mapping = None;
        let outcome = Outcome {
            started_ns: state.started_ns,
            ended_ns: state.ended_ns,
            stopped,
            recording: state.recorder.finish(),
            failures: std::mem::take(&mut state.failures),
            end_error_ns: self.backend.queue().map_or(0, |queue| queue.take_mean_blind_ns()),
            extra_bytes: std::mem::take(&mut state.extra_bytes),
            truth: self.backend.take_truth(),
        };
        self.state = Some(state);
        outcome
    }

    fn operations_done(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.done)
    }

    fn close(&mut self) {
        self.state = None;
        self.files.close_all(&mut self.backend);
    }
}

impl<B: Backend> Drop for Worker<B> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<B: Backend> Worker<B> {
    fn timed_loop(&mut self, phase: &Phase, state: &mut State, control: &Control, begin_ns: u64) -> Stopped {
        // Who goes on to a count (wear-out) has had the time limit.
        let limit_ns = phase.time_limit_ns.map(|limit| limit.0).filter(|_| !state.wears_out);
        let deadline_ns = limit_ns.map_or(u64::MAX, |limit| begin_ns.saturating_add(limit));
        // Without recording, a clock is read only where a rule of the phase needs it.
        let timed = state.recorder.enabled() || limit_ns.is_some() || phase.arrival.is_some();
        let mut schedule = phase.arrival.map(|arrival| {
            let seeds = [self.workload.seed.0, self.workload.rank.0, self.index as u64, state.phase as u64];
            Schedule::new(arrival, begin_ns, Rng::stream(&[&seeds[..], &[u64::MAX - 3]].concat()))
        });
        let depth = self.backend.queue().map_or(0, |queue| queue.depth());
        let mut flight = Flight::new(depth);
        let stopped = loop {
            if control.stopped() {
                break Stopped::Stop;
            }
            if state.done + flight.len() as u64 >= state.most {
                break Stopped::Count;
            }
            let Some(planned) = state.cursor.next(phase) else { break Stopped::Count };
            let queued = depth > 0 && planned.kind.can_queue() && planned.window.is_none();
            if flight.len() > 0 && (!queued || flight.stage != planned.stage) {
                self.drain(phase, state, control, &mut flight);
            }
            while queued && flight.len() == depth {
                self.reap(phase, state, control, &mut flight, true);
            }
            let region = if queued { flight.free_region() } else { 0 };
            let prepared = self.request(phase, state, &planned, region);
            let scheduled_ns = match &mut schedule {
                Some(schedule) if planned.kind != Kind::Compute => {
                    let time_ns = schedule.next();
                    if time_ns >= deadline_ns {
                        self.backend.wait_until(deadline_ns, &|| control.stopped());
                        break Stopped::TimeLimit;
                    }
                    if !self.wait_for(phase, state, control, &mut flight, time_ns) {
                        break Stopped::Stop;
                    }
                    Some(time_ns)
                }
                _ => None,
            };
            let end_ns = match prepared {
                Err(errno) => {
                    let now = self.backend.now();
                    let request = self.bare_request(state, &planned);
                    let begun = Begun { planned, request, start_ns: scheduled_ns.unwrap_or(now) };
                    self.finish(phase, state, control, begun, -errno, now);
                    now
                }
                Ok(request) if queued => {
                    let start_ns = scheduled_ns.unwrap_or_else(|| self.backend.now());
                    flight.add(region, planned.stage, Begun { planned, request, start_ns });
                    self.backend.queue().expect("it has a depth").submit(region, &request);
                    self.reap(phase, state, control, &mut flight, false);
                    state.ended_ns.max(start_ns)
                }
                Ok(request) => {
                    let start_ns = scheduled_ns.unwrap_or_else(|| if timed { self.backend.now() } else { 0 });
                    let result = match planned.window {
                        None => self.backend.execute(&request),
                        Some(window) => {
                            sieve::execute(&mut self.backend, &request, window, &mut state.extra_bytes)
                        }
                    };
                    let end_ns = if timed { self.backend.now() } else { 0 };
                    self.finish(phase, state, control, Begun { planned, request, start_ns }, result, end_ns);
                    end_ns
                }
            };
            if end_ns >= deadline_ns {
                break Stopped::TimeLimit;
            }
            if state.failed && phase.on_error == OnError::Stop {
                break Stopped::Error;
            }
        };
        self.drain(phase, state, control, &mut flight);
        if state.failed && phase.on_error == OnError::Stop { Stopped::Error } else { stopped }
    }

    /// Until the time of the next arrival, look after what is in flight. False if asked to stop.
    fn wait_for(
        &mut self,
        phase: &Phase,
        state: &mut State,
        control: &Control,
        flight: &mut Flight,
        time_ns: u64,
    ) -> bool {
        while B::REAL && flight.len() > 0 && self.backend.now() < time_ns {
            if control.stopped() {
                return false;
            }
            self.reap(phase, state, control, flight, false);
        }
        self.backend.wait_until(time_ns, &|| control.stopped())
    }

    fn drain(&mut self, phase: &Phase, state: &mut State, control: &Control, flight: &mut Flight) {
        while flight.len() > 0 {
            self.reap(phase, state, control, flight, true);
        }
    }

    fn reap(&mut self, phase: &Phase, state: &mut State, control: &Control, flight: &mut Flight, wait: bool) {
        let mut done = std::mem::take(&mut flight.done);
        self.backend.queue().expect("it has a depth").reap(wait, &mut done);
        for Completion { token, result, end_ns } in done.drain(..) {
            let begun = flight.remove(token);
            self.finish(phase, state, control, begun, result, end_ns);
        }
        flight.done = done;
    }
}
