//! The two devices that a phase may work on instead of files: reads come from /dev/zero, writes go to /dev/null.
//!
//! Nothing can be changed there, and nothing else outside the root is ever opened: each is opened for the one
//! direction that it is for, and must be the character device of its number.

use crate::beneath::c_string;
use crate::error::{Error, Result};
use crate::kind::Kind;
use crate::workload::{Detail, Phase};
use serde::Deserialize;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Device {
    Zero,
    Null,
}

impl Device {
    pub fn path(self) -> &'static str {
        match self {
            Device::Zero => "/dev/zero",
            Device::Null => "/dev/null",
        }
    }

    /// What is done to it, and how it is opened.
    fn direction(self) -> (Kind, i32) {
        match self {
            Device::Zero => (Kind::Read, libc::O_RDONLY),
            Device::Null => (Kind::Write, libc::O_WRONLY),
        }
    }

    /// Linux, Documentation/admin-guide/devices.txt: 1:3 is null, 1:5 is zero.
    fn number(self) -> libc::dev_t {
        libc::makedev(1, if self == Device::Null { 3 } else { 5 })
    }

    /// Reads of the one and writes of the other only, without flags of open and without verification.
    pub fn check(self, phase: &Phase) -> Result<(), String> {
        let (kind, _) = self.direction();
        let fits = |detail: &Detail, of: Kind| match detail {
            Detail::Data { .. } => of == kind,
            Detail::Compute(_) => true,
            _ => false,
        };
        let path = self.path();
        if phase.operations().any(|operation| !fits(&operation.detail, operation.kind)) {
            return Err(format!("on {path} there is {} and compute only", kind.name()));
        }
        if !phase.open_flags.is_empty() || phase.verify {
            return Err(format!("{path} is opened without flags, and cannot be verified"));
        }
        Ok(())
    }

    pub fn open(self) -> Result<RawFd> {
        let path = self.path();
        let name = c_string(path)?;
        let flags = self.direction().1 | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: `name` is NUL-terminated; the descriptor is ours; all-zero is a valid stat.
        unsafe {
            let fd = libc::open(name.as_ptr(), flags);
            if fd < 0 {
                return Err(Error::last_os(path));
            }
            let owned = OwnedFd::from_raw_fd(fd);
            let mut found: libc::stat = std::mem::zeroed();
            if libc::fstat(owned.as_raw_fd(), &mut found) < 0 {
                return Err(Error::last_os(path));
            }
            if found.st_mode & libc::S_IFMT != libc::S_IFCHR || found.st_rdev != self.number() {
                return Err(Error::Workload(format!("{path} is not the device that it should be")));
            }
            Ok(owned.into_raw_fd())
        }
    }
}
