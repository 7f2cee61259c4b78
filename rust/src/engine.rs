//! A session: its workers, one thread each, over the phases of a workload.

use crate::backend::fake::Fake;
use crate::backend::io_uring::Uring;
use crate::backend::posix::Posix;
use crate::beneath;
use crate::budget;
use crate::clock::monotonic_ns;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::files::FileTable;
use crate::parse;
use crate::rng::Rng;
use crate::worker::{Outcome, Work, Worker};
use crate::workload::{Backend, Workload};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

type BoxedWorker = Box<dyn Work>;

pub struct Engine {
    workload: Arc<Workload>,
    control: Arc<Control>,
    /// Empty while a phase is prepared or running (its threads have them), or after a panic.
    workers: Vec<BoxedWorker>,
    prepared: Option<Prepared>,
    /// The phase that was run last.
    ended: Option<usize>,
    phases_done: Vec<bool>,
    records_left: u64,
    record: bool,
}

struct Prepared {
    phase: usize,
    /// Send the start time, or drop it, and the thread ends without running.
    gates: Vec<mpsc::Sender<u64>>,
    threads: Vec<JoinHandle<(BoxedWorker, Option<Outcome>)>>,
}

impl Engine {
    pub fn new(text: &str, max_operations: u64, record: bool) -> Result<Self> {
        let workload = Arc::new(parse::workload(text)?);
        let workers =
            (0..workload.workers.len()).map(|index| worker(&workload, index)).collect::<Result<_>>()?;
        Ok(Self {
            control: Arc::new(Control::new(workload.workers.len())),
            workers,
            prepared: None,
            ended: None,
            phases_done: vec![false; workload.workers[0].phases.len()],
            records_left: max_operations,
            record,
            workload,
        })
    }

    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    pub fn prepare(&mut self, phase: usize) -> Result<()> {
        if phase >= self.phases_done.len() {
            return fail(format!("no phase {phase}: the workload has {}", self.phases_done.len()));
        }
        self.park(phase, None)
    }

    /// Prepare to go on with the phase that ended last, up to `count` operations by each worker in all.
    pub fn prepare_wear_out(&mut self, phase: usize, count: u64) -> Result<()> {
        if self.ended != Some(phase) || self.prepared.is_some() {
            return fail(format!("wear_out: phase {phase} is not the one that was run last"));
        }
        self.park(phase, Some(count))
    }

    /// Make threads for the workers; each gets ready and waits at its gate.
    fn park(&mut self, phase: usize, goal: Option<u64>) -> Result<()> {
        self.unpark();
        if self.workers.is_empty() {
            return fail("the session is closed".into());
        }
        let records = self.record_shares(phase, goal);
        self.control.begin(self.workers.len());
        let (ready, readies) = mpsc::channel();
        let mut prepared = Prepared { phase, gates: Vec::new(), threads: Vec::new() };
        for (index, mut worker) in self.workers.drain(..).enumerate() {
            let (gate, opening) = mpsc::channel();
            let (control, ready, records, record) =
                (Arc::clone(&self.control), ready.clone(), records[index] as usize, self.record);
            prepared.gates.push(gate);
            prepared.threads.push(std::thread::spawn(move || {
                let _bell = EndOfWorker(&control);
                block_signals();
                let result = worker.prepare(phase, records, record, goal);
                let fit = result.is_ok();
                // Whoever prepares us may have given up: then the gate is closed too.
                let _ = ready.send(result);
                drop(ready);
                let start = if fit { opening.recv().ok() } else { None };
                let outcome = start.map(|start_at_ns| worker.run(&control, start_at_ns));
                (worker, outcome)
            }));
        }
        drop(ready);
        self.prepared = Some(prepared);
        let results: Vec<Result<()>> = readies.iter().collect();
        let complete = results.len() == self.workload.workers.len();
        let result = results.into_iter().collect::<Result<()>>();
        if result.is_err() || !complete {
            self.unpark();
        }
        if !complete {
            return fail("a worker failed while it got ready; the session is closed".into());
        }
        result
    }

    /// What this phase's workers may record, leaving a fair part for the phases to come.
    fn record_shares(&self, phase: usize, goal: Option<u64>) -> Vec<u64> {
        let workers = &self.workload.workers;
        let now = workers.iter().zip(&self.workers).map(|(work, worker)| match goal {
            Some(goal) => Some(goal.saturating_sub(worker.operations_done())),
            None => work.phases[phase].most_operations(),
        });
        let to_come = |index: &usize| !self.phases_done[*index] && *index != phase;
        let later = (0..self.phases_done.len())
            .filter(to_come)
            .flat_map(|index| workers.iter().map(move |work| work.phases[index].most_operations()));
        let wants: Vec<_> = now.chain(later).collect();
        let mut shares = budget::shares(self.records_left, &wants);
        shares.truncate(workers.len());
        shares
    }

    /// Let the workers go. They start together at `start_at_ns` (0: as soon as all are awake).
    pub fn start(&mut self, phase: usize, start_at_ns: u64) -> Result<()> {
        const WAKE_UP_NS: u64 = 100_000;
        let Some(prepared) = self.prepared.as_ref().filter(|prepared| prepared.phase == phase) else {
            return fail(format!("phase {phase} is not prepared"));
        };
        let virtual_time = matches!(self.workload.backend, Backend::Fake(_));
        let start_at_ns = match start_at_ns {
            0 if prepared.gates.len() > 1 && !virtual_time => monotonic_ns() + WAKE_UP_NS,
            given => given,
        };
        for gate in &prepared.gates {
            // A thread that died is found when it is joined.
            let _ = gate.send(start_at_ns);
        }
        Ok(())
    }

    /// Wait until the running phase is over (see `Control::wait`), and take what its workers did.
    pub fn collect(&mut self) -> Result<Vec<Outcome>> {
        let Some(prepared) = self.prepared.take() else { return fail("no phase was started".into()) };
        let phase = prepared.phase;
        let outcomes: Vec<_> = self.join(prepared)?.into_iter().flatten().collect();
        let recorded: usize = outcomes.iter().map(|outcome| outcome.recording.operations.len()).sum();
        self.records_left = self.records_left.saturating_sub(recorded as u64);
        self.phases_done[phase] = true;
        self.ended = Some(phase);
        Ok(outcomes)
    }

    /// Take the workers back from their threads. One that panicked closes the session.
    fn join(&mut self, prepared: Prepared) -> Result<Vec<Option<Outcome>>> {
        drop(prepared.gates);
        let mut outcomes = Vec::new();
        let mut panics = Vec::new();
        for (index, thread) in prepared.threads.into_iter().enumerate() {
            match thread.join() {
                Ok((worker, outcome)) => {
                    self.workers.push(worker);
                    outcomes.push(outcome);
                }
                Err(panic) => panics.push(format!("worker {index} panicked: {}", panic_text(&*panic))),
            }
        }
        if panics.is_empty() {
            return Ok(outcomes);
        }
        self.workers.clear();
        fail(format!("{}; the session is closed", panics.join("; ")))
    }

    /// Send parked workers home without running.
    fn unpark(&mut self) {
        if let Some(prepared) = self.prepared.take() {
            // A panic has emptied `workers`, which the next call reports.
            let _ = self.join(prepared);
        }
    }

    pub fn close(&mut self) {
        self.unpark();
        self.workers.iter_mut().for_each(|worker| worker.close());
        self.workers.clear();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}

struct EndOfWorker<'a>(&'a Control);

impl Drop for EndOfWorker<'_> {
    fn drop(&mut self) {
        self.0.end_worker();
    }
}

fn worker(workload: &Arc<Workload>, index: usize) -> Result<BoxedWorker> {
    let seed = Rng::stream(&[workload.seed.0, workload.rank.0, index as u64, u64::MAX]);
    Ok(match &workload.backend {
        Backend::Posix {} => new_worker(workload, index, Posix)?,
        Backend::IoUring { queue_depth } => new_worker(workload, index, Uring::new(queue_depth.0 as u32)?)?,
        Backend::Fake(script) => new_worker(workload, index, Fake::new(script.as_ref().clone(), seed))?,
    })
}

fn new_worker<B: crate::backend::Backend + 'static>(
    workload: &Arc<Workload>,
    index: usize,
    backend: B,
) -> Result<BoxedWorker> {
    let root = if B::REAL { Some(beneath::open_root(&workload.root)?) } else { None };
    let workload = Arc::clone(workload);
    Ok(Box::new(Worker { index, workload, root, backend, files: FileTable::default(), state: None }))
}

fn fail<T>(text: String) -> Result<T> {
    Err(Error::Workload(text))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Signals are for the main thread; here they would interrupt system calls. Those that a fault of this very thread
/// raises stay.
fn block_signals() {
    // SAFETY: the set is initialised by sigfillset before it is used.
    unsafe {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(set.as_mut_ptr());
        let mut set = set.assume_init();
        for signal in [libc::SIGBUS, libc::SIGSEGV, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
            libc::sigdelset(&mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    struct Panics;

    impl Work for Panics {
        fn prepare(&mut self, _: usize, _: usize, _: bool, _: Option<u64>) -> Result<()> {
            Ok(())
        }
        fn run(&mut self, _: &Control, _: u64) -> Outcome {
            panic!("a bug")
        }
        fn operations_done(&self) -> u64 {
            0
        }
        fn close(&mut self) {}
    }

    const WORKLOAD: &str = r#"{"root": "/x", "backend": {"name": "fake"}, "workers": [
        {"phases": [{"files": {"template": "f"}, "steps": [{"kind": "stat"}]}]},
        {"phases": [{"files": {"template": "f"}, "steps": [{"kind": "stat"}]}]}]}"#;

    #[test]
    fn a_panic_of_one_worker_is_an_error_and_closes_the_session() {
        let mut engine = Engine::new(WORKLOAD, 10, true).unwrap();
        engine.workers[1] = Box::new(Panics);
        engine.prepare(0).unwrap();
        engine.start(0, 0).unwrap();
        while !engine.control().wait(Duration::from_millis(10)) {}
        let error = engine.collect().err().unwrap().to_string();
        assert_eq!(error, "worker 1 panicked: a bug; the session is closed");
        assert!(engine.prepare(0).is_err());
    }

    #[test]
    fn a_phase_can_be_prepared_again_and_dropped_without_running() {
        let mut engine = Engine::new(WORKLOAD, 10, true).unwrap();
        engine.prepare(0).unwrap();
        engine.prepare(0).unwrap();
        engine.start(0, 0).unwrap();
        while !engine.control().wait(Duration::from_millis(10)) {}
        assert_eq!(engine.collect().unwrap().len(), 2);
        engine.prepare(0).unwrap();
    }
}
