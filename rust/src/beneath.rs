//! Directories below the root, reached without following a symbolic link and without leaving it.
//!
//! openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS does this in one call (Linux 5.6); an older kernel gets
//! one openat(O_NOFOLLOW) for each component, which is as safe and slower. The timed calls then name only the last
//! component, relative to such a directory, with O_NOFOLLOW.

use crate::error::{Error, Result};
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

const DIRECTORY: i32 = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;

pub fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::os(libc::EINVAL, text))
}

fn owned(fd: i64, path: &str) -> Result<OwnedFd> {
    if fd < 0 {
        return Err(Error::last_os(path));
    }
    // SAFETY: the kernel just gave it to us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// The root itself; its last component must not be a symbolic link.
pub fn open_root(path: &str) -> Result<OwnedFd> {
    let name = c_string(path)?;
    // SAFETY: `name` is NUL-terminated.
    owned(unsafe { libc::open(name.as_ptr(), DIRECTORY) }.into(), path)
}

/// A directory below `root`; with `create`, what is missing on the way is made.
pub fn open_directory(root: RawFd, path: &str, create: bool) -> Result<OwnedFd> {
    match open_beneath(root, path) {
        Err(Error::Os { errno: libc::ENOENT, .. }) if create => {
            make_directories(root, path)?;
            open_beneath(root, path)
        }
        result => result,
    }
}

fn open_beneath(root: RawFd, path: &str) -> Result<OwnedFd> {
    let name = c_string(if path.is_empty() { "." } else { path })?;
    // SAFETY: all-zero is a valid open_how.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = DIRECTORY as u64;
    how.resolve = libc::RESOLVE_BENEATH | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_NO_MAGICLINKS;
    // SAFETY: `name` and `how` are valid for the call, and the size is that of `how`.
    let fd = unsafe { libc::syscall(libc::SYS_openat2, root, name.as_ptr(), &how, size_of_val(&how)) };
    match owned(fd, path) {
        Err(Error::Os { errno: libc::ENOSYS, .. }) => walk(root, path, open_component),
        result => result,
    }
}

fn open_component(dir: RawFd, component: &str, path: &str) -> Result<OwnedFd> {
    let name = c_string(component)?;
    // SAFETY: `name` is NUL-terminated.
    owned(unsafe { libc::openat(dir, name.as_ptr(), DIRECTORY) }.into(), path)
}

fn make_directories(root: RawFd, path: &str) -> Result<()> {
    walk(root, path, |dir, component, path| {
        let name = c_string(component)?;
        // SAFETY: `name` is NUL-terminated.
        if unsafe { libc::mkdirat(dir, name.as_ptr(), 0o755) } < 0 {
            match Error::last_os(path) {
                Error::Os { errno: libc::EEXIST, .. } => {}
                error => return Err(error),
            }
        }
        open_component(dir, component, path)
    })
    .map(drop)
}

fn walk(root: RawFd, path: &str, step: impl Fn(RawFd, &str, &str) -> Result<OwnedFd>) -> Result<OwnedFd> {
    let mut dir = open_component(root, ".", path)?;
    for component in path.split('/').filter(|component| !component.is_empty()) {
        dir = step(dir.as_raw_fd(), component, path)?;
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    #[test]
    fn links_and_dots_do_not_lead_out() {
        let (inside, outside) = (TempDir::new("in"), TempDir::new("out"));
        std::os::unix::fs::symlink(outside.path(), inside.path().join("link")).unwrap();
        let root = open_root(inside.path().to_str().unwrap()).unwrap();
        for path in ["link", "link/x", "..", "a/../.."] {
            assert!(open_directory(root.as_raw_fd(), path, false).is_err(), "{path}");
            assert!(walk(root.as_raw_fd(), "link", open_component).is_err());
        }
        assert!(open_directory(root.as_raw_fd(), "link/made", true).is_err());
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
        open_directory(root.as_raw_fd(), "a/b/c", true).unwrap();
        walk(root.as_raw_fd(), "a/b/c", open_component).unwrap();
        assert!(inside.path().join("a/b/c").is_dir());
    }
}
