//! System calls, one for each operation, made by the worker's own thread.

use super::{Backend, Request};
use crate::clock;
use crate::error::errno;
use crate::kind::Kind;
use std::os::fd::RawFd;

pub struct Posix;

const NEW_FILE_MODE: libc::mode_t = 0o644;
const NEW_DIRECTORY_MODE: libc::mode_t = 0o755;

impl Backend for Posix {
    const REAL: bool = true;

    #[inline(always)]
    fn now(&self) -> u64 {
        clock::monotonic_ns()
    }

    fn wait_until(&mut self, time_ns: u64, give_up: &dyn Fn() -> bool) -> bool {
        clock::wait_until(time_ns, give_up)
    }

    #[inline(always)]
    fn execute(&mut self, request: &Request) -> i64 {
        call(request)
    }

    fn open_untimed(&mut self, request: &Request) -> i64 {
        call(request)
    }

    fn close_untimed(&mut self, fd: RawFd) {
        // SAFETY: the worker owns the descriptor and forgets it now.
        unsafe { libc::close(fd) };
    }
}

/// What the call returned, or minus the errno.
#[inline(always)]
pub fn call(request: &Request) -> i64 {
    // SAFETY: names are NUL-terminated and live in the worker's file table; `buffer` has `length` bytes (and
    // `mapped` too, for mmap kinds: see mapping.rs for what happens when the file is shorter); descriptors that
    // are not open give EBADF.
    let result = unsafe {
        let r = request;
        match r.kind {
            Kind::Read => libc::pread64(r.fd, r.buffer.cast(), r.length as usize, r.offset as i64) as i64,
            Kind::Write => libc::pwrite64(r.fd, r.buffer.cast(), r.length as usize, r.offset as i64) as i64,
            Kind::Append => libc::write(r.fd, r.buffer.cast(), r.length as usize) as i64,
            Kind::MmapRead => {
                std::ptr::copy_nonoverlapping(r.mapped, r.buffer, r.length as usize);
                i64::from(r.length)
            }
            Kind::MmapWrite => {
                std::ptr::copy_nonoverlapping(r.buffer, r.mapped, r.length as usize);
                i64::from(r.length)
            }
            Kind::Create => libc::openat(r.dir, r.name, r.flags | libc::O_CREAT, NEW_FILE_MODE).into(),
            Kind::Open => libc::openat(r.dir, r.name, r.flags).into(),
            Kind::Close => libc::close(r.fd).into(),
            Kind::Stat => {
                let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
                libc::fstatat(r.dir, r.name, found.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW).into()
            }
            Kind::Readdir => return super::listing::count_entries(r.dir, r.name),
            Kind::Rename => libc::renameat(r.dir, r.name, r.dir, r.new_name).into(),
            Kind::Truncate => libc::ftruncate64(r.fd, r.offset as i64).into(),
            Kind::Unlink => libc::unlinkat(r.dir, r.name, 0).into(),
            Kind::Mkdir => libc::mkdirat(r.dir, r.name, NEW_DIRECTORY_MODE).into(),
            Kind::Rmdir => libc::unlinkat(r.dir, r.name, libc::AT_REMOVEDIR).into(),
            Kind::Fsync => libc::fsync(r.fd).into(),
            Kind::Fdatasync => libc::fdatasync(r.fd).into(),
            Kind::Dontneed => {
                // This call returns its errno.
                return -i64::from(libc::posix_fadvise64(
                    r.fd,
                    r.offset as i64,
                    r.extent as i64,
                    libc::POSIX_FADV_DONTNEED,
                ));
            }
            Kind::Compute => {
                let end = clock::monotonic_ns().saturating_add(r.extent);
                while clock::monotonic_ns() < end {
                    std::hint::spin_loop();
                }
                0
            }
        }
    };
    if result < 0 {
        -errno()
    } else if matches!(request.kind, Kind::Read | Kind::Write) && result < i64::from(request.length) {
        rest(request, result)
    } else {
        result
    }
}

/// The rest of a transfer of which the kernel did only a part: how much it was in the end, or minus the errno that
/// says why it is not more (a full target shortens one write and fails only the next). A read ends at the file's end.
#[cold]
#[inline(never)]
fn rest(r: &Request, mut done: i64) -> i64 {
    while done > 0 && done < i64::from(r.length) {
        // SAFETY: `done` is below `length`, the size of the buffer.
        let more = unsafe {
            let (buffer, length) = (r.buffer.add(done as usize), (i64::from(r.length) - done) as usize);
            let offset = r.offset as i64 + done;
            match r.kind {
                Kind::Write => libc::pwrite64(r.fd, buffer.cast(), length, offset),
                _ => libc::pread64(r.fd, buffer.cast(), length, offset),
            }
        };
        match more {
            0 => break,
            -1 => return -errno(),
            _ => done += more as i64,
        }
    }
    done
}
