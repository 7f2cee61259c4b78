//! Who carries out an operation. One trait, so that everything above is tested with scripted truth.

pub mod fake;
pub mod io_uring;
pub mod listing;
pub mod machine;
pub mod posix;

use crate::kind::Kind;
use std::ffi::c_char;
use std::os::fd::RawFd;

/// One operation, ready to go: everything was looked up before the clock is read.
#[derive(Clone, Copy)]
pub struct Request {
    pub kind: Kind,
    /// The directory that holds the file, and the file's name in it.
    pub dir: RawFd,
    pub name: *const c_char,
    /// The new name of a rename, in the same directory.
    pub new_name: *const c_char,
    pub fd: RawFd,
    /// O_* flags of open and create.
    pub flags: i32,
    pub buffer: *mut u8,
    /// Where `offset` is in memory, for mmap kinds; the window of a sieve.
    pub mapped: *mut u8,
    pub length: u32,
    /// In the file; the new length of a truncate; the first byte of an advice.
    pub offset: u64,
    /// The length of an advice (0: to the end); the ns of a compute.
    pub extent: u64,
}

pub trait Backend: Send {
    /// Directories and files exist on this machine.
    const REAL: bool;

    /// The clock that starts and durations are taken from, ns.
    fn now(&self) -> u64;

    /// False if `give_up` said so before the time came.
    fn wait_until(&mut self, time_ns: u64, give_up: &dyn Fn() -> bool) -> bool;

    /// Do it and return when it is done: what the system call returned, or minus the errno.
    fn execute(&mut self, request: &Request) -> i64;

    /// Open and close outside the timed region.
    fn open_untimed(&mut self, request: &Request) -> i64;
    fn close_untimed(&mut self, fd: RawFd);

    /// Of a scripted machine: the class (`machine::CLASSES`) of every operation since the last call.
    fn take_truth(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// The queue of a back end that has several operations in flight.
    fn queue(&mut self) -> Option<&mut dyn Queue> {
        None
    }
}

/// Several operations in flight.
pub trait Queue {
    fn depth(&self) -> usize;

    /// Start an operation; `token` < depth comes back with its completion. Errors are completions too.
    fn submit(&mut self, token: usize, request: &Request);

    /// Append what is complete to `done`; with `wait`, at least one.
    fn reap(&mut self, wait: bool, done: &mut Vec<Completion>);

    /// By how much, on the average of the completions since the last call, an end may be late at most, ns.
    fn take_mean_blind_ns(&mut self) -> u64;
}

#[derive(Clone, Copy, Debug)]
pub struct Completion {
    pub token: usize,
    pub result: i64,
    pub end_ns: u64,
}
