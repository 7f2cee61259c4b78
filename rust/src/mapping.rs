//! A piece of a file in memory, for `mmap_read` and `mmap_write`.
//!
//! Touching a mapped page that has nothing behind it (beyond the end of the file, no space left, an I/O error)
//! raises SIGBUS, which would end the process. The handler here puts an empty page of memory under the address
//! and notes it, so that the copy comes to its end and the operation is recorded as failed with EIO.

use crate::buffer::page_size;
use crate::error::errno;
use crate::pattern::Range;
use std::cell::Cell;
use std::os::fd::RawFd;
use std::sync::OnceLock;

#[derive(Clone, Copy, PartialEq)]
pub struct Wanted {
    pub fd: RawFd,
    /// Which file: a descriptor number may come back for another one.
    pub slot: u32,
    pub stage: u64,
    pub range: Range,
    pub write: bool,
}

pub struct Mapping {
    pub wanted: Wanted,
    start: *mut u8,
    length: usize,
    /// Bytes between the start of the mapping (a page) and the start of the range.
    skip: u64,
}

// SAFETY: the memory is this value's own. A worker drops it before its thread ends.
unsafe impl Send for Mapping {}

thread_local! {
    /// The addresses that this thread has mapped, and whether one of them had nothing behind it.
    static WATCHED: Cell<(usize, usize, bool)> = const { Cell::new((0, 0, false)) };
}

impl Mapping {
    /// Map the range. A file that is to be written is made long enough first. Err is an errno.
    pub fn new(wanted: Wanted) -> Result<Self, i64> {
        catch_bus_errors();
        let Range { base, size, .. } = wanted.range;
        let skip = base % page_size() as u64;
        let length = (skip + size) as usize;
        let access = libc::PROT_READ | if wanted.write { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address that the kernel chooses; fstat writes into a valid stat.
        let start = unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            if libc::fstat(wanted.fd, &mut found) < 0 {
                return Err(errno());
            }
            let end = (base + size) as i64;
            if wanted.write && found.st_size < end && libc::ftruncate64(wanted.fd, end) < 0 {
                return Err(errno());
            }
            libc::mmap(
                std::ptr::null_mut(),
                length,
                access,
                libc::MAP_SHARED,
                wanted.fd,
                (base - skip) as i64,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(errno());
        }
        WATCHED.set((start as usize, start as usize + length.next_multiple_of(page_size()), false));
        Ok(Self { wanted, start: start.cast(), length, skip })
    }

    /// The address of a place in the file.
    pub fn address(&self, offset: u64) -> *mut u8 {
        let place = (self.skip + offset - self.wanted.range.base) as usize;
        debug_assert!(place < self.length);
        // SAFETY: inside the mapping.
        unsafe { self.start.add(place) }
    }

    /// Whether a page of it turned out to have nothing behind it.
    pub fn is_broken(&self) -> bool {
        WATCHED.get().2
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        WATCHED.set((0, 0, false));
        // SAFETY: mapped by `new`, and nothing points into it any more.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

static EARLIER: OnceLock<libc::sigaction> = OnceLock::new();

/// Once per process.
fn catch_bus_errors() {
    EARLIER.get_or_init(|| {
        // SAFETY: zeroed sigactions are valid; the handler has the signature that SA_SIGINFO asks for.
        unsafe {
            let (mut earlier, mut ours): (libc::sigaction, libc::sigaction) =
                (std::mem::zeroed(), std::mem::zeroed());
            ours.sa_sigaction = on_bus_error as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &ours, &mut earlier);
            earlier
        }
    });
}

/// Only async-signal-safe calls: a system call, and thread-local memory without a destructor.
extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: SA_SIGINFO gives a valid `info`; the page that is replaced lies in our own mapping.
    unsafe {
        let address = (*info).si_addr() as usize;
        let (start, end, _) = WATCHED.get();
        if (start..end).contains(&address) {
            let size = page_size();
            let page = (address & !(size - 1)) as *mut libc::c_void;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
            libc::mmap(page, size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            WATCHED.set((start, end, true));
        } else if let Some(earlier) = EARLIER.get() {
            // Not ours: the instruction runs again and meets whoever was there before.
            libc::sigaction(libc::SIGBUS, earlier, std::ptr::null_mut());
        }
    }
}
