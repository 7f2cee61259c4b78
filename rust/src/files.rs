//! The files that a worker knows: names looked up once, descriptors kept over the phases.

use crate::backend::{Backend, Request};
use crate::beneath;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::rng::hash;
use crate::workload::Phase;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

pub struct Slot {
    /// The last component of the present name, and of the one that a rename would give, or that a create beside it
    /// makes.
    pub name: CString,
    pub new_name: CString,
    pub dir: RawFd,
    dir_index: u32,
    /// -1 if not open.
    pub fd: RawFd,
    /// Of the name as the workload spells it: what its content is made from.
    pub content_key: u64,
    /// The descriptor lives to the end of the phase only.
    opened_by_prepare: bool,
}

/// One file in the list of a phase: its slot, and the number that records carry.
#[derive(Clone, Copy)]
pub struct Visit {
    pub slot: u32,
    pub number: u32,
}

#[derive(Default)]
pub struct FileTable {
    pub slots: Vec<Slot>,
    by_name: HashMap<String, u32>,
    dirs: Vec<(String, Option<OwnedFd>)>,
    dir_by_name: HashMap<String, u32>,
}

impl FileTable {
    /// The files of a phase, with their directories open (and made, where missing), and, where its steps begin
    /// with an operation on an open file, the files too.
    pub fn prepare<B: Backend>(
        &mut self,
        backend: &mut B,
        root: Option<RawFd>,
        phase: &Phase,
        flags: i32,
    ) -> Result<Vec<Visit>> {
        self.close_opened_by_prepare(backend);
        self.forget_removed_directories();
        if let Some(device) = phase.files.device {
            return Ok(vec![self.device(backend, device)?]);
        }
        let suffix = phase.operations().find_map(|operation| operation.suffix());
        let beside = phase.creates_beside();
        let visits = (0..phase.files.count())
            .map(|index| {
                let (name, number) = phase.files.name(index);
                Ok(Visit { slot: self.slot(root, &name, suffix, beside)?, number })
            })
            .collect::<Result<Vec<_>>>()?;
        if phase.wants_open_files() {
            allow_open_files(visits.len());
            for visit in &visits {
                self.open(backend, visit.slot, flags)?;
            }
        } else if phase
            .operations()
            .any(|operation| operation.kind == Kind::Open || operation.kind == Kind::Create)
        {
            allow_open_files(visits.len());
        }
        if B::REAL {
            self.set_append(&visits, flags & libc::O_APPEND != 0);
        }
        Ok(visits)
    }

    /// Its name is absolute, which no file's can be.
    fn device<B: Backend>(&mut self, backend: &mut B, device: Device) -> Result<Visit> {
        let index = self.slot(None, device.path(), None, false)?;
        let slot = &mut self.slots[index as usize];
        if slot.fd < 0 {
            slot.fd = if B::REAL {
                device.open()?
            } else {
                backend.open_untimed(&slot.request(Kind::Open)) as RawFd
            };
            slot.opened_by_prepare = true;
        }
        Ok(Visit { slot: index, number: 0 })
    }

    pub fn path(&self, slot: u32) -> String {
        let slot = &self.slots[slot as usize];
        let (dir, name) = (&self.dirs[slot.dir_index as usize].0, slot.name.to_string_lossy());
        if dir.is_empty() { name.into_owned() } else { format!("{dir}/{name}") }
    }

    fn slot(&mut self, root: Option<RawFd>, path: &str, suffix: Option<&str>, beside: bool) -> Result<u32> {
        let (dir_name, name) = path.rsplit_once('/').unwrap_or(("", path));
        let dir_index = self.directory(root, dir_name)?;
        let dir = self.dirs[dir_index as usize].1.as_ref().map_or(-1, |fd| fd.as_raw_fd());
        let index = match self.by_name.get(path) {
            Some(&index) => index,
            None => {
                self.slots.push(Slot {
                    name: beneath::c_string(name)?,
                    new_name: CString::default(),
                    dir,
                    dir_index,
                    fd: -1,
                    content_key: hash(path.as_bytes()),
                    opened_by_prepare: false,
                });
                let index = self.slots.len() as u32 - 1;
                self.by_name.insert(path.to_owned(), index);
                index
            }
        };
        let slot = &mut self.slots[index as usize];
        (slot.dir, slot.dir_index) = (dir, dir_index);
        if let Some(suffix) = suffix {
            // A file that an earlier phase renamed gets its first name back.
            let renamed = slot.name.to_bytes() != name.as_bytes();
            slot.new_name = if renamed && !beside {
                beneath::c_string(name)?
            } else {
                beneath::c_string(&format!("{name}{suffix}"))?
            };
        }
        Ok(index)
    }

    /// An earlier phase may have removed a directory, and another made it anew.
    fn forget_removed_directories(&mut self) {
        for (name, handle) in &mut self.dirs {
            let Some(fd) = handle else { continue };
            // SAFETY: all-zero is a valid stat, and it is valid for the call.
            let mut found: libc::stat = unsafe { std::mem::zeroed() };
            let known = unsafe { libc::fstat(fd.as_raw_fd(), &mut found) } == 0;
            if known && found.st_nlink == 0 {
                *handle = None;
                self.dir_by_name.remove(name);
            }
        }
    }

    fn directory(&mut self, root: Option<RawFd>, name: &str) -> Result<u32> {
        if let Some(&index) = self.dir_by_name.get(name) {
            return Ok(index);
        }
        let handle = root.map(|root| beneath::open_directory(root, name, true)).transpose()?;
        self.dirs.push((name.to_owned(), handle));
        let index = self.dirs.len() as u32 - 1;
        self.dir_by_name.insert(name.to_owned(), index);
        Ok(index)
    }

    fn open<B: Backend>(&mut self, backend: &mut B, index: u32, flags: i32) -> Result<()> {
        let path = self.path(index);
        let slot = &mut self.slots[index as usize];
        if slot.fd >= 0 {
            return Ok(());
        }
        // Create and truncate are operations; opening beforehand must change nothing.
        let flags = flags & !(libc::O_TRUNC | libc::O_EXCL);
        let fd = backend.open_untimed(&Request { flags, ..slot.request(Kind::Open) });
        if fd < 0 {
            return Err(Error::os(-fd as i32, path));
        }
        slot.fd = fd as RawFd;
        slot.opened_by_prepare = true;
        Ok(())
    }

    /// A file that an earlier phase opened gets the append mode of this one.
    fn set_append(&self, visits: &[Visit], append: bool) {
        for visit in visits {
            let fd = self.slots[visit.slot as usize].fd;
            if fd < 0 {
                continue;
            }
            // SAFETY: F_GETFL and F_SETFL on a descriptor of ours touch no memory.
            unsafe {
                let flags = libc::fcntl(fd, libc::F_GETFL);
                if (flags & libc::O_APPEND != 0) != append {
                    libc::fcntl(fd, libc::F_SETFL, flags ^ libc::O_APPEND);
                }
            }
        }
    }

    fn close_opened_by_prepare<B: Backend>(&mut self, backend: &mut B) {
        for slot in self.slots.iter_mut().filter(|slot| slot.opened_by_prepare) {
            slot.close(backend);
        }
    }

    pub fn close_all<B: Backend>(&mut self, backend: &mut B) {
        self.slots.iter_mut().for_each(|slot| slot.close(backend));
    }
}

impl Slot {
    pub fn close<B: Backend>(&mut self, backend: &mut B) {
        if self.fd >= 0 {
            backend.close_untimed(self.fd);
            self.set_fd(-1);
        }
    }

    /// After a timed open, create or close.
    pub fn set_fd(&mut self, fd: RawFd) {
        self.fd = fd;
        self.opened_by_prepare = false;
    }

    pub fn renamed(&mut self) {
        std::mem::swap(&mut self.name, &mut self.new_name);
    }

    /// A request on this file, without data.
    #[inline]
    pub fn request(&self, kind: Kind) -> Request {
        Request {
            kind,
            dir: self.dir,
            name: self.name.as_ptr(),
            new_name: self.new_name.as_ptr(),
            fd: self.fd,
            flags: 0,
            buffer: std::ptr::null_mut(),
            mapped: std::ptr::null_mut(),
            length: 0,
            offset: 0,
            extent: 0,
        }
    }
}

/// Raise the soft limit of open files, as far as the hard one allows, if this many are to be open.
fn allow_open_files(count: usize) {
    const OTHERS: u64 = 1024;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for both calls. If it cannot be raised, opening fails and says so.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < count as u64 + OTHERS {
            limit.rlim_cur = limit.rlim_max.min((count as u64 + OTHERS) * 2);
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
