//! This node's page cache of a file: how much is there, and letting go of it.

use crate::beneath::c_string;
use crate::buffer::page_size;
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Looked at in pieces, so that a large file needs little memory.
const WINDOW: u64 = 1 << 30;

fn open(path: &str, flags: i32) -> Result<OwnedFd> {
    let name = c_string(path)?;
    // SAFETY: `name` is NUL-terminated; the descriptor is ours.
    unsafe {
        match libc::open(name.as_ptr(), flags | libc::O_CLOEXEC) {
            -1 => Err(Error::last_os(path)),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

fn status(file: &OwnedFd, path: &str) -> Result<libc::stat> {
    // SAFETY: all-zero is a valid stat, and it is valid for the call.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        if libc::fstat(file.as_raw_fd(), &mut found) < 0 { Err(Error::last_os(path)) } else { Ok(found) }
    }
}

/// (bytes resident in the page cache, size of the file), by mincore(2).
///
/// The kernel tells only owners and writers of a file; for others it would claim that everything is resident, so
/// that they get EPERM here.
pub fn page_cache(path: &str) -> Result<(u64, u64)> {
    let file = open(path, libc::O_RDONLY)?;
    let found = status(&file, path)?;
    let name = c_string(path)?;
    // SAFETY: `name` is NUL-terminated.
    let told = unsafe { libc::geteuid() == found.st_uid || libc::access(name.as_ptr(), libc::W_OK) == 0 };
    if !told {
        return Err(Error::os(libc::EPERM, path));
    }
    let size = found.st_size as u64;
    let page = page_size() as u64;
    let mut resident = 0;
    let mut pages = Vec::new();
    for start in (0..size).step_by(WINDOW as usize) {
        let length = WINDOW.min(size - start);
        pages.resize(length.div_ceil(page) as usize, 0u8);
        // SAFETY: the mapping is only asked about, never read; `pages` has a byte for each of its pages.
        let failed = unsafe {
            let (fd, length) = (file.as_raw_fd(), length as usize);
            let map =
                libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, fd, start as i64);
            if map == libc::MAP_FAILED {
                return Err(Error::last_os(path));
            }
            let failed = libc::mincore(map, length, pages.as_mut_ptr()) < 0;
            let error = Error::last_os(path);
            libc::munmap(map, length);
            failed.then_some(error)
        };
        if let Some(error) = failed {
            return Err(error);
        }
        resident += pages.iter().filter(|&&flags| flags & 1 == 1).count() as u64 * page;
    }
    Ok((resident.min(size), size))
}

/// fdatasync, so that no page is dirty, then posix_fadvise(DONTNEED) over the whole file.
pub fn drop_page_cache(path: &str) -> Result<()> {
    let file = open(path, libc::O_RDONLY)?;
    // SAFETY: calls on a descriptor of ours that touch no memory.
    unsafe {
        if libc::fdatasync(file.as_raw_fd()) < 0 {
            return Err(Error::last_os(path));
        }
        match libc::posix_fadvise64(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) {
            0 => Ok(()),
            errno => Err(Error::os(errno, path)),
        }
    }
}

/// Write all dirty pages of the file system that holds `path`: syncfs(2).
pub fn sync_file_system(path: &str) -> Result<()> {
    let directory = open(path, libc::O_RDONLY)?;
    // SAFETY: a call on a descriptor of ours that touches no memory.
    if unsafe { libc::syncfs(directory.as_raw_fd()) } < 0 { Err(Error::last_os(path)) } else { Ok(()) }
}

/// What one read gave, how long it took, and whether all of it came from the page cache (None: the file system does
/// not tell).
pub struct TimedRead {
    pub data: Vec<u8>,
    pub ns: u64,
    pub cached: Option<bool>,
}

/// Up to `length` bytes from `offset` on. First only what is cached is asked for (RWF_NOWAIT, which starts no input),
/// then the rest.
pub fn read_timed(fd: i32, offset: u64, length: usize) -> Result<TimedRead> {
    let mut data = vec![1u8; length]; // not zeros: its pages are to be there before the clock starts
    let began = monotonic_ns();
    let mut got = 0;
    // SAFETY: the vector describes `data`, which outlives the call.
    let (there, error) = unsafe {
        let part = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: length };
        let there = libc::preadv2(fd, &part, 1, offset as i64, libc::RWF_NOWAIT);
        (there, std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    };
    let mut cached = match error {
        _ if there >= 0 => Some(true),
        libc::EAGAIN => Some(false),
        _ => None,
    };
    got += there.max(0) as usize;
    while got < length {
        // SAFETY: the rest of `data` is valid for `length - got` bytes.
        let more = unsafe {
            let at = data.as_mut_ptr().add(got).cast();
            libc::pread(fd, at, length - got, (offset + got as u64) as i64)
        };
        match more {
            0 => break,
            1.. => {
                got += more as usize;
                cached = cached.map(|_| false);
            }
            _ if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => continue,
            _ => return Err(Error::last_os("read")),
        }
    }
    let ns = monotonic_ns() - began;
    data.truncate(got);
    Ok(TimedRead { data, ns, cached })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    #[test]
    fn a_timed_read_gives_the_bytes_and_ends_at_the_end() {
        let file = std::env::temp_dir().join(format!("iosonde-timed-{}", std::process::id()));
        std::fs::write(&file, (0..10_000u32).map(|at| at as u8).collect::<Vec<u8>>()).unwrap();
        let open = std::fs::File::open(&file).unwrap();
        let read = read_timed(open.as_raw_fd(), 9_000, 4_096).unwrap();
        assert_eq!(read.data, (9_000..10_000u32).map(|at| at as u8).collect::<Vec<u8>>());
        assert!(read.ns > 0 && read.cached != Some(false), "what was just written is in memory");
        assert!(read_timed(-1, 0, 1).is_err());
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn what_was_written_is_resident() {
        let dir = TempDir::new("cache");
        let path = dir.path().join("file");
        std::fs::write(&path, vec![1u8; 10_000]).unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(page_cache(path).unwrap(), (10_000, 10_000));
        sync_file_system(path).unwrap();
        drop_page_cache(path).unwrap();
        assert!(page_cache(path).unwrap().0 <= 10_000);
        assert!(page_cache("/nowhere/at/all").is_err());
    }
}
