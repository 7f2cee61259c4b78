//! The files that the kernel knows: each by a number, here by the handle that the server gave.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use fuser::Errno;
use nfs3_types::nfs3::{fattr3, nfs_fh3, nfstime3};

use crate::write_behind::Writes;

/// FUSE's number of the root.
pub const ROOT: u64 = 1;

/// What changes when a file does.
#[derive(Clone, Copy, PartialEq)]
pub struct Version {
    size: u64,
    mtime: nfstime3,
    ctime: nfstime3,
}

impl From<&fattr3> for Version {
    fn from(attributes: &fattr3) -> Self {
        Self { size: attributes.size, mtime: attributes.mtime, ctime: attributes.ctime }
    }
}

/// One file.
pub struct Node {
    pub ino: u64,
    pub generation: u64,
    pub handle: nfs_fh3,
    pub writes: Arc<Writes>,
    opens: AtomicUsize,
    /// The version that the kernel's pages are of.
    pages_of: Mutex<Option<Version>>,
    /// Where it is until it is closed, if it was removed while open: directory and name.
    hidden: Mutex<Option<(nfs_fh3, Vec<u8>)>>,
}

impl Node {
    fn new(ino: u64, generation: u64, handle: nfs_fh3) -> Self {
        Self {
            ino,
            generation,
            handle,
            writes: Arc::default(),
            opens: AtomicUsize::new(0),
            pages_of: Mutex::new(None),
            hidden: Mutex::new(None),
        }
    }

    /// It was opened: whether the kernel's pages still are what the server has (close-to-open). After a change from
    /// here nobody can tell it from one by others, so these pages go too.
    pub fn opened(&self, now: &fattr3) -> bool {
        self.opens.fetch_add(1, Ordering::SeqCst);
        let version = Version::from(now);
        let before = self.pages_of.lock().unwrap().replace(version);
        !self.writes.take_changed() && before == Some(version)
    }

    /// It was closed: where it has to be removed now, if this was the last time and it was removed before.
    pub fn closed(&self) -> Option<(nfs_fh3, Vec<u8>)> {
        if self.opens.fetch_sub(1, Ordering::SeqCst) > 1 {
            return None;
        }
        self.hidden.lock().unwrap().take()
    }

    pub fn is_open(&self) -> bool {
        self.opens.load(Ordering::SeqCst) > 0
    }

    pub fn hide(&self, directory: nfs_fh3, name: Vec<u8>) {
        *self.hidden.lock().unwrap() = Some((directory, name));
    }
}

struct Known {
    node: Arc<Node>,
    lookups: u64,
}

/// All of them, by the kernel's numbers, which are the server's but for the root.
pub struct Nodes {
    root_file: u64,
    file_system: u64,
    known: Mutex<HashMap<u64, Known>>,
}

impl Nodes {
    pub fn new(root: nfs_fh3, attributes: &fattr3) -> Self {
        let node = Arc::new(Node::new(ROOT, 0, root));
        Self {
            root_file: attributes.fileid,
            file_system: attributes.fsid,
            known: Mutex::new(HashMap::from([(ROOT, Known { node, lookups: 1 })])),
        }
    }

    /// The kernel's number of a file.
    pub fn number(&self, file: u64) -> u64 {
        match file {
            _ if file == self.root_file => ROOT,
            ROOT => self.root_file,
            _ => file,
        }
    }

    pub fn get(&self, ino: u64) -> Result<Arc<Node>, Errno> {
        self.find(ino).ok_or(Errno::ESTALE)
    }

    pub fn find(&self, ino: u64) -> Option<Arc<Node>> {
        self.known.lock().unwrap().get(&ino).map(|known| known.node.clone())
    }

    /// The kernel is told of a file: it will say when it forgets it. A number whose file was removed may come again,
    /// with another handle: that is another file.
    pub fn remember(&self, handle: &nfs_fh3, attributes: &fattr3) -> Result<Arc<Node>, Errno> {
        if attributes.fsid != self.file_system {
            return Err(Errno::EXDEV); // its numbers may be those of files here
        }
        let ino = self.number(attributes.fileid);
        let mut all = self.known.lock().unwrap();
        let known = all
            .entry(ino)
            .or_insert_with(|| Known { node: Arc::new(Node::new(ino, 0, handle.clone())), lookups: 0 });
        if known.node.handle != *handle {
            known.node = Arc::new(Node::new(ino, known.node.generation + 1, handle.clone()));
        }
        known.lookups += 1;
        Ok(known.node.clone())
    }

    pub fn forget(&self, ino: u64, lookups: u64) {
        let mut all = self.known.lock().unwrap();
        if ino != ROOT
            && let Some(known) = all.get_mut(&ino)
        {
            known.lookups = known.lookups.saturating_sub(lookups);
            if known.lookups == 0 {
                all.remove(&ino);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nfs3_types::nfs3::{ftype3, specdata3};
    use nfs3_types::xdr_codec::Opaque;

    use super::*;

    fn handle(byte: u8) -> nfs_fh3 {
        nfs_fh3 { data: Opaque::owned(vec![byte]) }
    }

    fn attributes(fileid: u64, size: u64) -> fattr3 {
        fattr3 {
            type_: ftype3::NF3REG,
            mode: 0o644,
            nlink: 1,
            uid: 0,
            gid: 0,
            size,
            used: size,
            rdev: specdata3::default(),
            fsid: 3,
            fileid,
            atime: nfstime3::default(),
            mtime: nfstime3::default(),
            ctime: nfstime3::default(),
        }
    }

    fn nodes() -> Nodes {
        Nodes::new(handle(0), &attributes(128, 0))
    }

    #[test]
    fn the_root_and_file_1_change_places() {
        let nodes = nodes();
        assert_eq!([128, 1, 5].map(|file| nodes.number(file)), [1, 128, 5]);
    }

    #[test]
    fn a_number_with_another_handle_is_another_file() {
        let nodes = nodes();
        let before = nodes.remember(&handle(1), &attributes(5, 0)).unwrap();
        let after = nodes.remember(&handle(2), &attributes(5, 0)).unwrap();
        assert_ne!((before.generation, &before.handle), (after.generation, &after.handle));
        nodes.forget(5, 1);
        assert!(nodes.find(5).is_some());
        nodes.forget(5, 1);
        assert!(nodes.find(5).is_none());
    }

    #[test]
    fn another_file_system_below_the_export_is_not_entered() {
        let mut below = attributes(5, 0);
        below.fsid = 4;
        assert_eq!(nodes().remember(&handle(1), &below).err(), Some(Errno::EXDEV));
    }

    #[test]
    fn pages_stay_from_close_to_open_unless_the_file_changed() {
        let node = nodes().remember(&handle(1), &attributes(5, 0)).unwrap();
        assert!(!node.opened(&attributes(5, 10)), "nothing is known of them");
        assert!(node.opened(&attributes(5, 10)));
        assert!(!node.opened(&attributes(5, 11)), "changed by others");
        node.writes.touch();
        assert!(!node.opened(&attributes(5, 11)), "changed from here");
        assert!(node.opened(&attributes(5, 11)));
    }

    #[test]
    fn a_file_removed_while_open_is_removed_at_its_last_close() {
        let node = nodes().remember(&handle(1), &attributes(5, 0)).unwrap();
        node.opened(&attributes(5, 0));
        node.opened(&attributes(5, 0));
        node.hide(handle(0), b".nfs1".to_vec());
        assert_eq!(node.closed(), None);
        assert_eq!(node.closed(), Some((handle(0), b".nfs1".to_vec())));
        assert!(!node.is_open());
    }
}
