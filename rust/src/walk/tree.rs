//! Where a directory is, by names from the root on, and how it is opened: relative to the one above it while few are
//! open, else name by name from the root. No path is ever longer than a name.

use super::strata::Stratum;
use crate::error::{Error, Result, errno};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const READ: i32 = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
const PASS: i32 = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
/// Handles of directories that are held for those below them, of all walks; a process may usually open 1024 files.
const MOST_OPEN: usize = 400;
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// File systems of the kernel's own words: no data is stored there, and to read some has effects.
/// proc, sysfs, cgroup (1 and 2), debugfs, tracefs, devpts, securityfs, pstore, bpf, nsfs, binfmt_misc, configfs, mqueue.
const PSEUDO: [i64; 14] = [
    0x9fa0,
    0x6265_6572,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x1cd1,
    0x7363_6673,
    0x6165_676c,
    0xcafe_4a11,
    0x6e73_6673,
    0x4249_4e4d,
    0x6265_6570,
    0x1980_0202,
];

/// An open directory.
pub struct Handle(OwnedFd);

impl Handle {
    fn new(fd: RawFd) -> std::result::Result<Self, i32> {
        if fd < 0 {
            return Err(errno() as i32);
        }
        OPEN.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the kernel just gave it to us.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}

impl AsRawFd for Handle {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether directories may still be held open for those below them.
pub fn may_hold() -> bool {
    OPEN.load(Ordering::Relaxed) < MOST_OPEN
}

/// The directory to begin at, for which a symbolic link may stand.
pub fn open_root(path: &[u8]) -> Result<Handle> {
    let said = String::from_utf8_lossy(path);
    let name = CString::new(path).map_err(|_| Error::os(libc::EINVAL, said.clone()))?;
    // SAFETY: NUL-terminated.
    let fd = unsafe { libc::open(name.as_ptr(), READ & !libc::O_NOFOLLOW) };
    Handle::new(fd).map_err(|errno| Error::os(errno, said))
}

pub struct Node {
    above: Option<Arc<Node>>,
    name: CString,
    /// None: that of the root.
    pub device: Option<u64>,
    pub depth: u32,
    /// What the files in it belong to, where that follows from the directory.
    pub stratum: Option<Arc<Stratum>>,
}

impl Node {
    pub fn root(stratum: Option<Arc<Stratum>>) -> Self {
        Self { above: None, name: CString::default(), device: None, depth: 0, stratum }
    }

    pub fn below(above: &Arc<Node>, name: &CStr, device: u64, stratum: Option<Arc<Stratum>>) -> Self {
        Self {
            above: Some(Arc::clone(above)),
            name: name.into(),
            device: Some(device),
            depth: above.depth + 1,
            stratum,
        }
    }

    /// The names from the root to an entry of this directory, joined by `/`.
    pub fn path_of(&self, name: &CStr) -> Vec<u8> {
        self.path_to(name.to_bytes())
    }

    /// The same; without a name, to the directory itself.
    pub fn path_to(&self, name: &[u8]) -> Vec<u8> {
        let mut names = if name.is_empty() { Vec::new() } else { vec![name] };
        let mut node = self;
        while let Some(above) = &node.above {
            names.push(node.name.to_bytes());
            node = above;
        }
        names.reverse();
        names.join(&b'/')
    }

    /// Open for reading, by the handle of the directory above it if there is one; else the errno.
    pub fn open(&self, root: &Handle, above: Option<&Handle>) -> std::result::Result<Handle, i32> {
        match (&self.above, above) {
            (None, _) => read(root.as_raw_fd(), c"."),
            (_, Some(above)) => read(above.as_raw_fd(), &self.name),
            (Some(first), None) => {
                let mut way = Vec::new();
                let mut node: &Node = first;
                while let Some(above) = &node.above {
                    way.push(&node.name);
                    node = above;
                }
                let mut at: Option<Handle> = None;
                for name in way.into_iter().rev() {
                    let here = at.as_ref().unwrap_or(root).as_raw_fd();
                    // SAFETY: `name` is NUL-terminated.
                    at = Some(Handle::new(unsafe { libc::openat(here, name.as_ptr(), PASS) })?);
                }
                read(at.as_ref().unwrap_or(root).as_raw_fd(), &self.name)
            }
        }
    }
}

impl Drop for Node {
    /// One after the other: as deep as a tree may be, a stack is not.
    fn drop(&mut self) {
        let mut next = self.above.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.above.take();
        }
    }
}

/// Without a change of its access time, where that is allowed.
fn read(directory: RawFd, name: &CStr) -> std::result::Result<Handle, i32> {
    // SAFETY: `name` is NUL-terminated.
    let fd = unsafe { libc::openat(directory, name.as_ptr(), READ | libc::O_NOATIME) };
    if fd < 0 && errno() as i32 == libc::EPERM {
        // SAFETY: as above.
        return Handle::new(unsafe { libc::openat(directory, name.as_ptr(), READ) });
    }
    Handle::new(fd)
}

/// Whether a directory is on a file system that stores nothing.
pub fn is_pseudo(directory: RawFd, name: &CStr) -> bool {
    // SAFETY: `name` is NUL-terminated.
    let Ok(handle) = Handle::new(unsafe { libc::openat(directory, name.as_ptr(), PASS) }) else {
        return false;
    };
    let mut found = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: there is room for the answer, which is read only if the kernel gave it.
    unsafe {
        libc::fstatfs(handle.as_raw_fd(), found.as_mut_ptr()) == 0
            && PSEUDO.contains(&(i64::from(found.assume_init().f_type as u32)))
    }
}
