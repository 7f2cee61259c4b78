//! Remove a directory tree by several threads, on directory handles only: a symbolic link is removed and never
//! followed, also one that is planted meanwhile, and nothing below a mount point is removed.

use crate::backend::listing::for_each_entry;
use crate::error::{Error, Result};
use std::ffi::{CString, OsStr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Names that one thread takes at a time, so that a large directory is shared.
const BATCH: usize = 256;
/// So often a directory is looked through until it is empty.
const LISTINGS: usize = 3;

struct Directory {
    parent: Option<Arc<Directory>>,
    /// What it must be; None: whatever has the name.
    identity: Option<Identity>,
    name: CString,
    path: String,
    /// Open while anything in it is still to be removed.
    handle: Mutex<Option<Arc<OwnedFd>>>,
    /// Tasks that must end before it can be removed: its own listing, batches of names, subdirectories.
    pending: AtomicUsize,
    /// How often it was listed. Some file systems skip entries of a directory that is changed while it is read.
    listed: AtomicUsize,
}

enum Task {
    List(Arc<Directory>),
    Unlink(Arc<Directory>, Vec<CString>),
}

#[derive(Default)]
struct Pool {
    /// A stack: depth first keeps few directories open.
    tasks: Mutex<(Vec<Task>, usize)>,
    bell: Condvar,
    first_error: Mutex<Option<Error>>,
    files: AtomicU64,
    directories: AtomicU64,
}

/// Entries that this process has removed, in all trees: who waits for a removal sees by it that it gets on.
static REMOVED: AtomicU64 = AtomicU64::new(0);

pub fn removed() -> u64 {
    REMOVED.load(Ordering::Relaxed)
}

/// Device and inode number of a directory.
pub type Identity = (u64, u64);

/// (files, directories) removed, or the first error, after the rest has been removed.
pub fn remove_tree(path: impl AsRef<OsStr>, threads: usize) -> Result<(u64, u64)> {
    let path = path.as_ref().as_bytes();
    let (parent, name) = split(path)?;
    remove(parent.as_raw_fd(), name, &String::from_utf8_lossy(path), None, threads)
}

/// The same for the directory `name` in an open one. `identity`: what it must be, else nothing is removed (ESTALE).
pub fn remove_tree_at(
    parent: RawFd,
    name: impl AsRef<OsStr>,
    identity: Option<Identity>,
    threads: usize,
) -> Result<(u64, u64)> {
    let name = name.as_ref().as_bytes();
    let said = String::from_utf8_lossy(name);
    if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') {
        return Err(Error::os(libc::EINVAL, said));
    }
    remove(parent, bytes_to_c(name)?, &said, identity, threads)
}

fn remove(
    parent: RawFd,
    name: CString,
    path: &str,
    identity: Option<Identity>,
    threads: usize,
) -> Result<(u64, u64)> {
    let root = Directory {
        parent: None,
        identity,
        name,
        path: path.to_owned(),
        handle: Mutex::new(None),
        pending: AtomicUsize::new(1),
        listed: AtomicUsize::new(0),
    };
    let pool = Pool::default();
    pool.push(Task::List(Arc::new(root)));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, 256) {
            scope.spawn(|| pool.work(parent));
        }
    });
    match pool.first_error.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        Some(error) => Err(error),
        None => Ok((pool.files.into_inner(), pool.directories.into_inner())),
    }
}

/// The directory that holds the tree, and the tree's name in it.
fn split(path: &[u8]) -> Result<(OwnedFd, CString)> {
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    let (parent, name) = match path[..end].iter().rposition(|&byte| byte == b'/') {
        Some(0) => (&b"/"[..], &path[1..end]),
        Some(slash) => (&path[..slash], &path[slash + 1..end]),
        None => (&b"."[..], &path[..end]),
    };
    let said = String::from_utf8_lossy(path);
    if matches!(name, b"" | b"." | b"..") {
        return Err(Error::os(libc::EINVAL, said));
    }
    let parent_name = bytes_to_c(parent)?;
    // SAFETY: NUL-terminated; the descriptor is ours.
    let fd = unsafe { libc::open(parent_name.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(Error::last_os(said));
    }
    // SAFETY: just opened.
    Ok((unsafe { OwnedFd::from_raw_fd(fd) }, bytes_to_c(name)?))
}

fn bytes_to_c(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes).map_err(|_| Error::os(libc::EINVAL, String::from_utf8_lossy(bytes)))
}

impl Pool {
    fn push(&self, task: Task) {
        let mut tasks = self.tasks.lock().expect("no thread panics with the lock");
        tasks.0.push(task);
        tasks.1 += 1;
        self.bell.notify_one();
    }

    fn work(&self, top: RawFd) {
        loop {
            let mut tasks = self.tasks.lock().expect("no thread panics with the lock");
            let task = loop {
                match tasks.0.pop() {
                    Some(task) => break task,
                    None if tasks.1 == 0 => return,
                    None => tasks = self.bell.wait(tasks).expect("no thread panics with the lock"),
                }
            };
            drop(tasks);
            match task {
                Task::List(directory) => {
                    self.list(&directory, top);
                    self.done(&directory, top);
                }
                Task::Unlink(directory, names) => {
                    names.iter().for_each(|name| self.unlink(&directory, name));
                    self.done(&directory, top);
                }
            }
            let mut tasks = self.tasks.lock().expect("no thread panics with the lock");
            tasks.1 -= 1;
            if tasks.1 == 0 {
                self.bell.notify_all();
            }
        }
    }

    /// Open a directory and make tasks of its entries.
    fn list(&self, directory: &Arc<Directory>, top: RawFd) {
        directory.listed.fetch_add(1, Ordering::AcqRel);
        let handle = match open(directory, top) {
            Ok(handle) => Arc::new(handle),
            Err(Error::Os { errno: libc::ENOENT, .. }) if directory.parent.is_some() => return,
            Err(error) => return self.note(error),
        };
        *directory.handle.lock().expect("no thread panics with the lock") = Some(Arc::clone(&handle));
        let mut names = Vec::new();
        let end = for_each_entry(handle.as_raw_fd(), |name, kind| {
            if kind == libc::DT_DIR || (kind == libc::DT_UNKNOWN && is_directory(&handle, name)) {
                directory.pending.fetch_add(1, Ordering::AcqRel);
                self.push(Task::List(Arc::new(Directory {
                    parent: Some(Arc::clone(directory)),
                    identity: None,
                    name: name.to_owned(),
                    path: format!("{}/{}", directory.path, name.to_string_lossy()),
                    handle: Mutex::new(None),
                    pending: AtomicUsize::new(1),
                    listed: AtomicUsize::new(0),
                })));
            } else {
                names.push(name.to_owned());
                if names.len() == BATCH {
                    directory.pending.fetch_add(1, Ordering::AcqRel);
                    self.push(Task::Unlink(Arc::clone(directory), std::mem::take(&mut names)));
                }
            }
        });
        if end < 0 {
            self.note(Error::os(-end as i32, directory.path.as_str()));
        }
        names.iter().for_each(|name| self.unlink(directory, name));
    }

    fn unlink(&self, directory: &Directory, name: &CString) {
        let Some(handle) = directory.handle() else { return };
        // SAFETY: `name` is NUL-terminated, the handle is open.
        if unsafe { libc::unlinkat(handle.as_raw_fd(), name.as_ptr(), 0) } == 0 {
            self.files.fetch_add(1, Ordering::Relaxed);
            REMOVED.fetch_add(1, Ordering::Relaxed);
            return;
        }
        match Error::last_os(format!("{}/{}", directory.path, name.to_string_lossy())) {
            Error::Os { errno: libc::ENOENT, .. } => {} // somebody else removed it: that is what was wanted
            error => self.note(error),
        }
    }

    /// One task of a directory is over; with the last one it goes itself, and so on upwards.
    fn done(&self, directory: &Arc<Directory>, top: RawFd) {
        let mut current = Some(Arc::clone(directory));
        while let Some(directory) = current {
            if directory.pending.fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
            let opened = directory.handle.lock().expect("no thread panics with the lock").take().is_some();
            let parent = directory.parent.as_ref().and_then(|parent| parent.handle());
            let parent_fd = parent.as_ref().map_or(top, |handle| handle.as_raw_fd());
            // SAFETY: `name` is NUL-terminated, the handle is open.
            if opened
                && unsafe { libc::unlinkat(parent_fd, directory.name.as_ptr(), libc::AT_REMOVEDIR) } == 0
            {
                self.directories.fetch_add(1, Ordering::Relaxed);
                REMOVED.fetch_add(1, Ordering::Relaxed);
            } else if opened {
                let error = Error::last_os(directory.path.as_str());
                let not_empty = matches!(error, Error::Os { errno: libc::ENOTEMPTY | libc::EEXIST, .. });
                if not_empty && directory.listed.load(Ordering::Acquire) < LISTINGS {
                    directory.pending.store(1, Ordering::Release);
                    return self.push(Task::List(directory));
                }
                self.note(error);
            }
            current = directory.parent.clone();
        }
    }

    fn note(&self, error: Error) {
        self.first_error.lock().expect("no thread panics with the lock").get_or_insert(error);
    }
}

impl Directory {
    fn handle(&self) -> Option<Arc<OwnedFd>> {
        self.handle.lock().expect("no thread panics with the lock").clone()
    }
}

/// Without following a link and without leaving the mount and the device of its parent (EXDEV).
fn open(directory: &Directory, top: RawFd) -> Result<OwnedFd> {
    let parent = directory.parent.as_ref().and_then(|parent| parent.handle());
    let parent_fd = parent.as_ref().map_or(top, |handle| handle.as_raw_fd());
    let fd = open_same_mount(parent_fd, directory)?;
    let (inner, outer) = (identity_of(fd.as_raw_fd()), identity_of(parent_fd));
    if inner.is_none() || inner.map(|found| found.0) != outer.map(|found| found.0) {
        return Err(Error::os(libc::EXDEV, directory.path.as_str()));
    }
    if directory.identity.is_some() && directory.identity != inner {
        return Err(Error::os(libc::ESTALE, directory.path.as_str()));
    }
    Ok(fd)
}

/// openat2(2) sees a bind mount of the same device, too (Linux 5.6); without it devices alone are compared.
fn open_same_mount(parent: RawFd, directory: &Directory) -> Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: all-zero is a valid open_how; `name` and `how` are valid for the calls; the descriptor is ours.
    unsafe {
        let mut how: libc::open_how = std::mem::zeroed();
        how.flags = flags as u64;
        how.resolve = libc::RESOLVE_NO_XDEV | libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_BENEATH;
        let name = directory.name.as_ptr();
        let mut fd = libc::syscall(libc::SYS_openat2, parent, name, &how, size_of_val(&how));
        // A container that does not know the call may forbid it.
        if fd < 0 && matches!(Error::last_os(""), Error::Os { errno: libc::ENOSYS | libc::EPERM, .. }) {
            fd = libc::openat(parent, name, flags).into();
        }
        if fd < 0 {
            Err(Error::last_os(directory.path.as_str()))
        } else {
            Ok(OwnedFd::from_raw_fd(fd as RawFd))
        }
    }
}

fn identity_of(fd: RawFd) -> Option<Identity> {
    // SAFETY: all-zero is a valid stat, which is valid for the call.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &mut status) == 0).then_some((status.st_dev, status.st_ino))
    }
}

fn is_directory(handle: &OwnedFd, name: &std::ffi::CStr) -> bool {
    // SAFETY: NUL-terminated; all-zero is a valid stat.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        libc::fstatat(handle.as_raw_fd(), name.as_ptr(), &mut found, libc::AT_SYMLINK_NOFOLLOW) == 0
            && found.st_mode & libc::S_IFMT == libc::S_IFDIR
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;
    use std::fs;

    #[test]
    fn removes_all_and_follows_no_link() {
        let (dir, outside) = (TempDir::new("tree"), TempDir::new("keep"));
        fs::write(outside.path().join("precious"), "x").unwrap();
        let tree = dir.path().join("tree");
        for number in 0..20 {
            let sub = tree.join(format!("a{number}/b/c"));
            fs::create_dir_all(&sub).unwrap();
            (0..40).for_each(|file| fs::write(sub.join(format!("f{file}")), "").unwrap());
        }
        (0..700).for_each(|file| fs::write(tree.join(format!("f{file}")), "").unwrap());
        std::os::unix::fs::symlink(outside.path(), tree.join("link")).unwrap();
        assert_eq!(remove_tree(tree.to_str().unwrap(), 4).unwrap(), (20 * 40 + 700 + 1, 61));
        assert!(!tree.exists() && outside.path().join("precious").exists());
    }

    #[test]
    fn beneath_a_descriptor_only_what_it_must_be_is_removed() {
        use std::os::unix::fs::MetadataExt;
        let dir = TempDir::new("tree");
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("a/b")).unwrap();
        let found = fs::metadata(&tree).unwrap();
        let parent = fs::File::open(dir.path()).unwrap();
        let at = |name: &str, identity| remove_tree_at(parent.as_raw_fd(), name, identity, 2);
        assert!(at("tree", Some((found.dev(), found.ino() + 1))).is_err() && tree.join("a/b").is_dir());
        assert!(at("tree/a", None).is_err() && at("..", None).is_err() && tree.join("a/b").is_dir());
        let before = removed();
        assert_eq!(at("tree", Some((found.dev(), found.ino()))).unwrap(), (0, 3));
        assert!(!tree.exists() && removed() >= before + 3);
    }

    #[test]
    fn a_link_or_an_absent_tree_is_an_error() {
        let (dir, outside) = (TempDir::new("tree"), TempDir::new("keep"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(outside.path(), &link).unwrap();
        assert!(remove_tree(link.to_str().unwrap(), 2).is_err());
        assert!(link.is_symlink() && outside.path().exists());
        assert!(remove_tree(dir.path().join("absent").to_str().unwrap(), 2).is_err());
        assert!(remove_tree("/", 2).is_err() && remove_tree("..", 2).is_err());
    }
}
