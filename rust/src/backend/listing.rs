//! Reading a directory's entries with getdents64: no allocation per entry, and nothing is followed.

use crate::error::errno;
use std::ffi::{CStr, c_char};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const DIRECTORY: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
/// Of a `linux_dirent64`: where its length, its type and its name are.
const LENGTH_AT: usize = 16;
const TYPE_AT: usize = 18;
const NAME_AT: usize = 19;

fn result(value: i64) -> i64 {
    if value < 0 { -errno() } else { value }
}

/// Open, read to the end, close: the number of entries without `.` and `..`, or minus the errno.
pub fn count_entries(dir: RawFd, name: *const c_char) -> i64 {
    // SAFETY: `name` is NUL-terminated.
    let fd = result(unsafe { libc::openat(dir, name, DIRECTORY) }.into());
    if fd < 0 {
        return fd;
    }
    // SAFETY: just opened, owned by nobody else.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    let mut entries = 0;
    let end = for_each_entry(fd.as_raw_fd(), |_, _| entries += 1);
    if end < 0 { end } else { entries }
}

/// Call `visit` with name and type (DT_*) of each entry that an open directory has from its position on.
pub fn for_each_entry(fd: RawFd, mut visit: impl FnMut(&CStr, u8)) -> i64 {
    let mut buffer = [0u64; 4096];
    loop {
        // SAFETY: the buffer is aligned for dirents and its size is given in bytes.
        let filled = result(unsafe {
            libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), size_of_val(&buffer))
        });
        if filled <= 0 {
            return filled;
        }
        // SAFETY: the kernel filled so many bytes; u64s may be read as bytes.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), filled as usize) };
        let mut at = 0;
        while at < bytes.len() {
            let length = u16::from_ne_bytes([bytes[at + LENGTH_AT], bytes[at + LENGTH_AT + 1]]) as usize;
            let name = CStr::from_bytes_until_nul(&bytes[at + NAME_AT..at + length]).unwrap_or_default();
            if !matches!(name.to_bytes(), b"." | b"..") {
                visit(name, bytes[at + TYPE_AT]);
            }
            at += length;
        }
    }
}
