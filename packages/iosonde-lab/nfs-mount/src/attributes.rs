//! What NFS says of a file, as FUSE wants it, and errors as numbers that programs know.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{Errno, FileAttr, FileType, INodeNo, TimeOrNow};
use nfs3_types::nfs3::{
    Nfs3Option, fattr3, ftype3, mode3, nfsstat3, nfstime3, sattr3, set_atime, set_mtime, specdata3,
};

const PERMISSIONS: u32 = 0o7777;
const BLOCK: u64 = 512;

/// As FUSE wants it, under the number that it knows the file by.
pub fn for_fuse(attributes: &fattr3, ino: u64) -> FileAttr {
    FileAttr {
        ino: INodeNo(ino),
        size: attributes.size,
        blocks: attributes.used.div_ceil(BLOCK),
        atime: time(attributes.atime),
        mtime: time(attributes.mtime),
        ctime: time(attributes.ctime),
        crtime: UNIX_EPOCH,
        kind: kind(attributes.type_),
        perm: (attributes.mode & PERMISSIONS) as u16,
        nlink: attributes.nlink,
        uid: attributes.uid,
        gid: attributes.gid,
        rdev: libc::makedev(attributes.rdev.specdata1, attributes.rdev.specdata2) as u32,
        blksize: 4096,
        flags: 0,
    }
}

pub fn kind(of: ftype3) -> FileType {
    match of {
        ftype3::NF3REG => FileType::RegularFile,
        ftype3::NF3DIR => FileType::Directory,
        ftype3::NF3LNK => FileType::Symlink,
        ftype3::NF3BLK => FileType::BlockDevice,
        ftype3::NF3CHR => FileType::CharDevice,
        ftype3::NF3SOCK => FileType::Socket,
        ftype3::NF3FIFO => FileType::NamedPipe,
    }
}

/// Of a device file.
pub fn device(number: u32) -> specdata3 {
    let number = libc::dev_t::from(number);
    specdata3 { specdata1: libc::major(number), specdata2: libc::minor(number) }
}

/// A new file's.
pub fn of_mode(mode: mode3) -> sattr3 {
    sattr3 { mode: Nfs3Option::Some(mode & PERMISSIONS), ..sattr3::default() }
}

/// What is to be changed.
pub fn changes(
    mode: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    size: Option<u64>,
    atime: Option<TimeOrNow>,
    mtime: Option<TimeOrNow>,
) -> sattr3 {
    sattr3 {
        mode: option(mode.map(|mode| mode & PERMISSIONS)),
        uid: option(uid),
        gid: option(gid),
        size: option(size),
        atime: match atime {
            None => set_atime::DONT_CHANGE,
            Some(TimeOrNow::Now) => set_atime::SET_TO_SERVER_TIME,
            Some(TimeOrNow::SpecificTime(time)) => set_atime::SET_TO_CLIENT_TIME(of_time(time)),
        },
        mtime: match mtime {
            None => set_mtime::DONT_CHANGE,
            Some(TimeOrNow::Now) => set_mtime::SET_TO_SERVER_TIME,
            Some(TimeOrNow::SpecificTime(time)) => set_mtime::SET_TO_CLIENT_TIME(of_time(time)),
        },
    }
}

fn option<T: nfs3_types::xdr_codec::Pack + nfs3_types::xdr_codec::Unpack>(value: Option<T>) -> Nfs3Option<T> {
    value.map_or(Nfs3Option::None, Nfs3Option::Some)
}

fn time(of: nfstime3) -> SystemTime {
    UNIX_EPOCH + Duration::new(of.seconds.into(), of.nseconds)
}

/// Times before 1970 and after 2106 cannot be said in NFSv3: the nearest that can.
fn of_time(time: SystemTime) -> nfstime3 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    match u32::try_from(since.as_secs()) {
        Ok(seconds) => nfstime3 { seconds, nseconds: since.subsec_nanos() },
        Err(_) => nfstime3 { seconds: u32::MAX, nseconds: 0 },
    }
}

/// The error that a program is to see.
pub fn errno(status: nfsstat3) -> Errno {
    match status {
        nfsstat3::NFS3ERR_PERM => Errno::EPERM,
        nfsstat3::NFS3ERR_NOENT => Errno::ENOENT,
        nfsstat3::NFS3ERR_NXIO => Errno::ENXIO,
        nfsstat3::NFS3ERR_ACCES => Errno::EACCES,
        nfsstat3::NFS3ERR_EXIST => Errno::EEXIST,
        nfsstat3::NFS3ERR_XDEV => Errno::EXDEV,
        nfsstat3::NFS3ERR_NODEV => Errno::ENODEV,
        nfsstat3::NFS3ERR_NOTDIR => Errno::ENOTDIR,
        nfsstat3::NFS3ERR_ISDIR => Errno::EISDIR,
        nfsstat3::NFS3ERR_INVAL | nfsstat3::NFS3ERR_BADTYPE | nfsstat3::NFS3ERR_TOOSMALL => Errno::EINVAL,
        nfsstat3::NFS3ERR_FBIG => Errno::EFBIG,
        nfsstat3::NFS3ERR_NOSPC => Errno::ENOSPC,
        nfsstat3::NFS3ERR_ROFS => Errno::EROFS,
        nfsstat3::NFS3ERR_MLINK => Errno::EMLINK,
        nfsstat3::NFS3ERR_NAMETOOLONG => Errno::ENAMETOOLONG,
        nfsstat3::NFS3ERR_NOTEMPTY => Errno::ENOTEMPTY,
        nfsstat3::NFS3ERR_DQUOT => Errno::from_i32(libc::EDQUOT),
        nfsstat3::NFS3ERR_STALE | nfsstat3::NFS3ERR_BADHANDLE => Errno::from_i32(libc::ESTALE),
        nfsstat3::NFS3ERR_NOTSUPP => Errno::EOPNOTSUPP,
        _ => Errno::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_from_those_of_linux_are_mapped() {
        for (status, number) in [
            (nfsstat3::NFS3ERR_NAMETOOLONG, libc::ENAMETOOLONG),
            (nfsstat3::NFS3ERR_NOTEMPTY, libc::ENOTEMPTY),
            (nfsstat3::NFS3ERR_DQUOT, libc::EDQUOT),
            (nfsstat3::NFS3ERR_STALE, libc::ESTALE),
            (nfsstat3::NFS3ERR_SERVERFAULT, libc::EIO),
        ] {
            assert_eq!(errno(status).code(), number);
        }
    }

    #[test]
    fn times_that_nfs_cannot_say_become_the_nearest() {
        let past = UNIX_EPOCH - Duration::from_secs(1);
        let future = UNIX_EPOCH + Duration::from_secs(1 << 33);
        assert_eq!(of_time(past), nfstime3 { seconds: 0, nseconds: 0 });
        assert_eq!(of_time(future).seconds, u32::MAX);
    }
}
