//! Reads and writes through io_uring(7), several in flight; every other kind is a plain system call.
//!
//! A completion carries no time, so the end of an operation is the moment at which this thread sees it. Each
//! operation is submitted by a call of its own, right after its start was read; the queue is looked at after every
//! submission, and with nothing to submit the thread sleeps in the kernel until the first completion. So an end is
//! never shared by a batch that waited for a later submission: what completes during a sleep is seen at once (the
//! waking up is in the duration, as it is for a blocking call), and what completes while the thread submits or
//! records is late by at most the time since the last look, whose mean is kept (`take_mean_blind_ns`).

use super::{Backend, Completion, Queue, Request, posix};
use crate::clock;
use crate::error::{Error, Result};
use crate::kind::Kind;
use io_uring::{IoUring, opcode, types};
use std::os::fd::RawFd;

pub struct Uring {
    ring: IoUring,
    depth: usize,
    in_flight: usize,
    /// When the queue was last looked at.
    looked_ns: u64,
    blind_sum_ns: u64,
    completions: u64,
}

impl Uring {
    pub fn new(depth: u32) -> Result<Self> {
        let ring = IoUring::new(depth).map_err(|error| {
            let text = "io_uring is not available here";
            Error::Workload(format!("backend: {text} ({error}); use \"posix\""))
        })?;
        Ok(Self { ring, depth: depth as usize, in_flight: 0, looked_ns: 0, blind_sum_ns: 0, completions: 0 })
    }

    /// Move what has completed to `done`; true if there was something. `blind`: the thread was busy elsewhere.
    fn look(&mut self, blind: bool, done: &mut Vec<Completion>) -> bool {
        let mut queue = self.ring.completion();
        let end_ns = clock::monotonic_ns();
        let before = done.len();
        done.extend(queue.by_ref().map(|entry| Completion {
            token: entry.user_data() as usize,
            result: entry.result().into(),
            end_ns,
        }));
        drop(queue);
        let found = done.len() - before;
        self.in_flight -= found;
        self.completions += found as u64;
        if blind {
            self.blind_sum_ns += (end_ns - self.looked_ns) * found as u64;
        }
        self.looked_ns = end_ns;
        found > 0
    }
}

impl Backend for Uring {
    const REAL: bool = true;

    #[inline(always)]
    fn now(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn wait_until(&mut self, time_ns: u64, give_up: &dyn Fn() -> bool) -> bool {
        clock::wait_until(time_ns, give_up)
    }

    fn execute(&mut self, request: &Request) -> i64 {
        posix::call(request)
    }

    fn open_untimed(&mut self, request: &Request) -> i64 {
        posix::call(request)
    }

    fn close_untimed(&mut self, fd: RawFd) {
        posix::Posix.close_untimed(fd);
    }

    fn queue(&mut self) -> Option<&mut dyn Queue> {
        Some(self)
    }
}

impl Queue for Uring {
    fn depth(&self) -> usize {
        self.depth
    }

    fn submit(&mut self, token: usize, request: &Request) {
        if self.in_flight == 0 {
            self.looked_ns = clock::monotonic_ns();
        }
        let (fd, offset) = (types::Fd(request.fd), request.offset);
        let entry = match request.kind {
            Kind::Write => opcode::Write::new(fd, request.buffer, request.length).offset(offset).build(),
            _ => opcode::Read::new(fd, request.buffer, request.length).offset(offset).build(),
        };
        // SAFETY: the region of the worker's buffer is not used for anything else until the token comes back, and
        // the worker waits for every token before it frees the buffer. There is room: fewer than `depth` are
        // in flight, and each was handed to the kernel at once.
        unsafe { self.ring.submission().push(&entry.user_data(token as u64)) }.expect("the queue has room");
        // What is wrong with the operation comes back as its completion; here only the ring itself can fail.
        while let Err(error) = self.ring.submit() {
            let again = matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY));
            assert!(again, "io_uring does not take operations any more: {error}");
        }
        self.in_flight += 1;
    }

    fn reap(&mut self, wait: bool, done: &mut Vec<Completion>) {
        let mut blind = true;
        while !self.look(blind, done) && wait {
            // Interrupted or not: the next look tells.
            let _ = self.ring.submit_and_wait(1);
            blind = false;
        }
    }

    fn take_mean_blind_ns(&mut self) -> u64 {
        let mean = self.blind_sum_ns.checked_div(self.completions).unwrap_or(0);
        (self.blind_sum_ns, self.completions) = (0, 0);
        mean
    }
}
