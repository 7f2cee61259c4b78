//! What statx says of an entry, without following it or mounting what is there.

use std::ffi::CStr;
use std::os::fd::RawFd;

const FLAGS: i32 = libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT;
const WANTED: u32 = libc::STATX_BASIC_STATS;
const BLOCK: u64 = 512;

#[derive(Clone, Copy, Debug)]
pub struct Stat {
    pub mode: u32,
    pub links: u32,
    pub owner: u32,
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    pub allocated: u64,
    pub modified_s: i64,
    pub modified_ns: u32,
    pub accessed_s: i64,
    /// Whether another file system, or a part of one, is mounted here.
    pub mount_root: bool,
}

impl Stat {
    /// An entry of an open directory, or the errno.
    pub fn of(directory: RawFd, name: &CStr) -> Result<Self, i32> {
        statx(directory, name, FLAGS)
    }

    pub fn of_handle(handle: RawFd) -> Result<Self, i32> {
        statx(handle, c"", FLAGS | libc::AT_EMPTY_PATH)
    }
}

fn statx(directory: RawFd, name: &CStr, flags: i32) -> Result<Stat, i32> {
    let mut found = std::mem::MaybeUninit::<libc::statx>::uninit();
    // SAFETY: `name` is NUL-terminated, and there is room for the answer.
    if unsafe { libc::statx(directory, name.as_ptr(), flags, WANTED, found.as_mut_ptr()) } < 0 {
        return Err(crate::error::errno() as i32);
    }
    // SAFETY: the kernel filled it.
    let found = unsafe { found.assume_init() };
    Ok(Stat {
        mode: found.stx_mode.into(),
        links: found.stx_nlink,
        owner: found.stx_uid,
        device: libc::makedev(found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
        size: found.stx_size,
        allocated: found.stx_blocks * BLOCK,
        modified_s: found.stx_mtime.tv_sec,
        modified_ns: found.stx_mtime.tv_nsec,
        accessed_s: found.stx_atime.tv_sec,
        mount_root: found.stx_attributes & libc::STATX_ATTR_MOUNT_ROOT as u64 != 0,
    })
}
