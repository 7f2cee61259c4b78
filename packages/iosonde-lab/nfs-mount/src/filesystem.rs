//! FUSE's requests, each answered by calls of the server.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, Notifier, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};
use nfs3_types::nfs3::{
    CREATE3args, CREATE3resok, FSSTAT3args, FSSTAT3resok, LINK3args, LINK3resok, MKDIR3args, MKDIR3resok,
    MKNOD3args, MKNOD3resok, NFS_PROGRAM, Nfs3Option, PATHCONF3args, PATHCONF3resok, READLINK3args,
    READLINK3resok, REMOVE3args, REMOVE3resok, RENAME3args, RENAME3resok, RMDIR3args, RMDIR3resok,
    SETATTR3args, SETATTR3resok, SYMLINK3args, SYMLINK3resok, createhow3, devicedata3, fattr3, ftype3,
    mknoddata3, nfs_fh3, nfspath3, post_op_attr, post_op_fh3, symlinkdata3,
};
use nfs3_types::xdr_codec::Opaque;

use crate::attributes::{changes, device, for_fuse, kind, of_mode};
use crate::listing::Listing;
use crate::nodes::{Node, Nodes};
use crate::options::Options;
use crate::rpc::Caller;
use crate::server::{ROOT, Server, entry};
use crate::write_behind::Traffic;

const BLOCK: u64 = 4096;
const WAITING_REQUESTS: u16 = 64;
/// Writes that have to be on the server's disk when they return.
const SYNCHRONOUS: i32 = libc::O_DIRECT | libc::O_SYNC | libc::O_DSYNC;

/// One mount.
pub struct FileSystem {
    server: Server,
    nodes: Nodes,
    traffic: Arc<Traffic>,
    believed: Duration,
    sync: bool,
    longest_name: u32,
    open_files: AtomicUsize,
    hidden_files: AtomicU64,
    listings: Mutex<HashMap<u64, Arc<Mutex<Listing>>>>,
    next_listing: AtomicU64,
    notifier: Arc<OnceLock<Notifier>>,
}

impl FileSystem {
    /// The error is a sentence.
    pub fn new(server: Server, options: &Options) -> Result<Self, String> {
        let said = |error: Errno| format!("{}:{}: {error:?}", options.host, options.export);
        let root = server.attributes(ROOT, &server.root).map_err(said)?;
        let limits: PATHCONF3resok = server
            .call(ROOT, NFS_PROGRAM::NFSPROC3_PATHCONF, &PATHCONF3args { object: server.root.clone() })
            .map_err(said)?;
        Ok(Self {
            nodes: Nodes::new(server.root.clone(), &root),
            server,
            traffic: Arc::default(),
            believed: options.believed,
            sync: options.sync,
            longest_name: limits.name_max,
            open_files: AtomicUsize::new(0),
            hidden_files: AtomicU64::new(0),
            listings: Mutex::default(),
            next_listing: AtomicU64::new(1),
            notifier: Arc::default(),
        })
    }

    /// Where to put what tells the kernel of changes, once it is there.
    pub fn notifier(&self) -> Arc<OnceLock<Notifier>> {
        self.notifier.clone()
    }

    fn for_fuse(&self, attributes: &fattr3) -> FileAttr {
        let known_as = self.nodes.number(attributes.fileid);
        FileAttr { blksize: self.server.read_bytes, ..for_fuse(attributes, known_as) }
    }

    fn drain(&self, node: &Node) {
        node.writes.drain(&self.server, &self.traffic, &node.handle);
    }

    fn sync(&self, node: &Node, caller: Caller) -> Result<(), Errno> {
        node.writes.sync(&self.server, &self.traffic, &node.handle, caller)
    }

    /// With all that was written here.
    fn attributes(&self, caller: Caller, node: &Node) -> Result<fattr3, Errno> {
        self.drain(node);
        self.server.attributes(caller, &node.handle)
    }

    /// The kernel's number for a file that the server told of at `moment`, with attributes that are not older than what
    /// the kernel knows: it would cut the file short.
    fn known(
        &self,
        caller: Caller,
        handle: &nfs_fh3,
        attributes: fattr3,
        moment: u64,
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let node = self.nodes.remember(handle, &attributes)?;
        if !node.writes.unsettled_since(moment) {
            return Ok((node, attributes));
        }
        match self.attributes(caller, &node) {
            Ok(attributes) => Ok((node, attributes)),
            Err(error) => {
                self.nodes.forget(node.ino, 1);
                Err(error)
            }
        }
    }

    fn look_up(&self, caller: Caller, parent: INodeNo, name: &[u8]) -> Result<(Arc<Node>, fattr3), Errno> {
        let moment = self.traffic.now();
        let directory = self.nodes.get(parent.0)?;
        let (handle, attributes) = self.server.lookup(caller, &directory.handle, name)?;
        self.known(caller, &handle, attributes, moment)
    }

    /// What was just made in a directory.
    fn made(
        &self,
        caller: Caller,
        directory: &nfs_fh3,
        name: &[u8],
        handle: post_op_fh3,
        attributes: post_op_attr,
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let (handle, attributes) = match handle {
            Nfs3Option::Some(handle) => {
                let attributes = self.server.attributes_or(caller, &handle, attributes)?;
                (handle, attributes)
            }
            Nfs3Option::None => self.server.lookup(caller, directory, name)?,
        };
        self.known(caller, &handle, attributes, 0)
    }

    fn create_file(
        &self,
        caller: Caller,
        parent: INodeNo,
        name: &[u8],
        mode: u32,
        exclusive: bool,
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let directory = self.nodes.get(parent.0)?;
        let how =
            if exclusive { createhow3::GUARDED(of_mode(mode)) } else { createhow3::UNCHECKED(of_mode(mode)) };
        let args = CREATE3args { where_: entry(&directory.handle, name), how };
        let made: CREATE3resok = self.server.call(caller, NFS_PROGRAM::NFSPROC3_CREATE, &args)?;
        self.made(caller, &directory.handle, name, made.obj, made.obj_attributes)
    }

    fn make_node(
        &self,
        caller: Caller,
        parent: INodeNo,
        name: &[u8],
        mode: u32,
        number: u32,
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let attributes = of_mode(mode);
        let what = match mode & libc::S_IFMT {
            libc::S_IFREG => return self.create_file(caller, parent, name, mode, true),
            libc::S_IFIFO => mknoddata3::NF3FIFO(attributes),
            libc::S_IFSOCK => mknoddata3::NF3SOCK(attributes),
            libc::S_IFCHR => {
                mknoddata3::NF3CHR(devicedata3 { dev_attributes: attributes, spec: device(number) })
            }
            libc::S_IFBLK => {
                mknoddata3::NF3BLK(devicedata3 { dev_attributes: attributes, spec: device(number) })
            }
            _ => return Err(Errno::EINVAL),
        };
        let directory = self.nodes.get(parent.0)?;
        let args = MKNOD3args { where_: entry(&directory.handle, name), what };
        let made: MKNOD3resok = self.server.call(caller, NFS_PROGRAM::NFSPROC3_MKNOD, &args)?;
        self.made(caller, &directory.handle, name, made.obj, made.obj_attributes)
    }

    fn make_directory(
        &self,
        caller: Caller,
        parent: INodeNo,
        name: &[u8],
        mode: u32,
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let directory = self.nodes.get(parent.0)?;
        let args = MKDIR3args { where_: entry(&directory.handle, name), attributes: of_mode(mode) };
        let made: MKDIR3resok = self.server.call(caller, NFS_PROGRAM::NFSPROC3_MKDIR, &args)?;
        self.made(caller, &directory.handle, name, made.obj, made.obj_attributes)
    }

    fn make_symlink(
        &self,
        caller: Caller,
        parent: INodeNo,
        name: &[u8],
        target: &[u8],
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let directory = self.nodes.get(parent.0)?;
        let symlink = symlinkdata3 {
            symlink_attributes: of_mode(0o777),
            symlink_data: nfspath3(Opaque::borrowed(target)),
        };
        let args = SYMLINK3args { where_: entry(&directory.handle, name), symlink };
        let made: SYMLINK3resok = self.server.call(caller, NFS_PROGRAM::NFSPROC3_SYMLINK, &args)?;
        self.made(caller, &directory.handle, name, made.obj, made.obj_attributes)
    }

    fn make_link(
        &self,
        caller: Caller,
        ino: INodeNo,
        parent: INodeNo,
        name: &[u8],
    ) -> Result<(Arc<Node>, fattr3), Errno> {
        let moment = self.traffic.now();
        let (node, directory) = (self.nodes.get(ino.0)?, self.nodes.get(parent.0)?);
        let args = LINK3args { file: node.handle.clone(), link: entry(&directory.handle, name) };
        let made: LINK3resok = self.server.call(caller, NFS_PROGRAM::NFSPROC3_LINK, &args)?;
        let attributes = self.server.attributes_or(caller, &node.handle, made.file_attributes)?;
        self.known(caller, &node.handle, attributes, moment)
    }

    /// A file that is open here keeps its data: it gets another name until it is closed, as kernels do. True if so.
    fn hide_if_open(&self, caller: Caller, directory: &Node, name: &[u8]) -> Result<bool, Errno> {
        if self.open_files.load(Ordering::SeqCst) == 0 {
            return Ok(false);
        }
        let (_, attributes) = match self.server.lookup(caller, &directory.handle, name) {
            Err(Errno::ENOENT) => return Ok(false),
            found => found?,
        };
        let found = self.nodes.find(self.nodes.number(attributes.fileid)).filter(|node| node.is_open());
        let Some(node) = found.filter(|_| attributes.type_ == ftype3::NF3REG && attributes.nlink == 1) else {
            return Ok(false);
        };
        let number = self.hidden_files.fetch_add(1, Ordering::SeqCst);
        let other = format!(".nfs{:016x}{:08x}{number:04x}", node.ino, std::process::id());
        self.move_entry(caller, &directory.handle, name, &directory.handle, other.as_bytes())?;
        node.hide(directory.handle.clone(), other.into_bytes());
        Ok(true)
    }

    fn move_entry(
        &self,
        caller: Caller,
        from: &nfs_fh3,
        name: &[u8],
        to: &nfs_fh3,
        new_name: &[u8],
    ) -> Result<(), Errno> {
        let args = RENAME3args { from: entry(from, name), to: entry(to, new_name) };
        self.server.call::<RENAME3resok>(caller, NFS_PROGRAM::NFSPROC3_RENAME, &args).map(drop)
    }

    fn remove(&self, caller: Caller, directory: &nfs_fh3, name: &[u8]) -> Result<(), Errno> {
        let args = REMOVE3args { object: entry(directory, name) };
        self.server.call::<REMOVE3resok>(caller, NFS_PROGRAM::NFSPROC3_REMOVE, &args).map(drop)
    }

    fn remove_file(&self, caller: Caller, parent: INodeNo, name: &[u8]) -> Result<(), Errno> {
        let directory = self.nodes.get(parent.0)?;
        if self.hide_if_open(caller, &directory, name)? {
            return Ok(());
        }
        self.remove(caller, &directory.handle, name)
    }

    fn remove_directory(&self, caller: Caller, parent: INodeNo, name: &[u8]) -> Result<(), Errno> {
        let directory = self.nodes.get(parent.0)?;
        let args = RMDIR3args { object: entry(&directory.handle, name) };
        self.server.call::<RMDIR3resok>(caller, NFS_PROGRAM::NFSPROC3_RMDIR, &args).map(drop)
    }

    fn rename_entry(
        &self,
        caller: Caller,
        from: (INodeNo, &[u8]),
        to: (INodeNo, &[u8]),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        if !flags.is_empty() {
            return Err(Errno::EINVAL); // NFSv3 cannot keep or exchange what is there
        }
        let (source, target) = (self.nodes.get(from.0.0)?, self.nodes.get(to.0.0)?);
        let same = from.0 == to.0 && from.1 == to.1;
        if !same {
            self.hide_if_open(caller, &target, to.1)?;
        }
        self.move_entry(caller, &source.handle, from.1, &target.handle, to.1)
    }

    fn change(
        &self,
        caller: Caller,
        node: &Node,
        new_attributes: nfs3_types::nfs3::sattr3,
    ) -> Result<fattr3, Errno> {
        self.drain(node);
        if new_attributes.size.is_some() {
            node.writes.touch();
        }
        let args = SETATTR3args { object: node.handle.clone(), new_attributes, guard: Nfs3Option::None };
        let done: SETATTR3resok = self.server.call(caller, NFS_PROGRAM::NFSPROC3_SETATTR, &args)?;
        self.server.attributes_or(caller, &node.handle, done.obj_wcc.after)
    }

    /// Close-to-open: what is read from now on is what was there when the last one who wrote had closed it.
    fn open_file(&self, caller: Caller, ino: INodeNo) -> Result<FopenFlags, Errno> {
        let node = self.nodes.get(ino.0)?;
        let attributes = self.attributes(caller, &node)?;
        self.open_files.fetch_add(1, Ordering::SeqCst);
        if node.opened(&attributes) {
            return Ok(FopenFlags::FOPEN_KEEP_CACHE);
        }
        // The kernel drops the pages itself, but not what it believes of the size.
        if let Some(notifier) = self.notifier.get() {
            let _ = notifier.inval_inode(ino, -1, 0);
        }
        Ok(FopenFlags::empty())
    }

    fn close_file(&self, caller: Caller, ino: INodeNo) -> Result<(), Errno> {
        let node = self.nodes.get(ino.0)?;
        let synced = self.sync(&node, caller);
        self.open_files.fetch_sub(1, Ordering::SeqCst);
        if let Some((directory, name)) = node.closed() {
            self.remove(caller, &directory, &name)?;
        }
        synced
    }

    /// Up to `size` bytes, by as many calls as it takes.
    fn read_file(
        &self,
        caller: Caller,
        ino: INodeNo,
        offset: u64,
        size: u32,
        reply: impl FnOnce(&[u8]),
    ) -> Result<(), Errno> {
        let node = self.nodes.get(ino.0)?;
        self.drain(&node);
        let first = self.server.read(caller, &node.handle, offset, size)?;
        if first.end_of_file || first.data().is_empty() || first.data().len() == size as usize {
            reply(first.data());
            return Ok(());
        }
        let mut whole = first.data().to_vec();
        while whole.len() < size as usize {
            let rest = size - whole.len() as u32;
            let next = self.server.read(caller, &node.handle, offset + whole.len() as u64, rest)?;
            whole.extend(next.data());
            if next.end_of_file || next.data().is_empty() {
                break;
            }
        }
        reply(&whole);
        Ok(())
    }

    fn write_file(
        &self,
        caller: Caller,
        ino: INodeNo,
        offset: u64,
        data: &[u8],
        flags: i32,
    ) -> Result<(), Errno> {
        let node = self.nodes.get(ino.0)?;
        if self.sync || flags & SYNCHRONOUS != 0 {
            node.writes.through(&self.server, &self.traffic, &node.handle, caller, offset, data)
        } else {
            node.writes.add(&self.server, &self.traffic, &node.handle, caller, offset, data)
        }
    }

    fn listing(&self, handle: FileHandle) -> Result<Arc<Mutex<Listing>>, Errno> {
        self.listings.lock().unwrap().get(&handle.0).cloned().ok_or(Errno::EBADF)
    }

    /// Give entries to the kernel from `offset` on, until `add` says that it has enough: name, where the next one is,
    /// and what the server said of it.
    fn list(
        &self,
        caller: Caller,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut add: impl FnMut(&nfs3_types::nfs3::entryplus3<'static>) -> bool,
    ) -> Result<(), Errno> {
        let (node, listing) = (self.nodes.get(ino.0)?, self.listing(handle)?);
        let mut listing = listing.lock().unwrap();
        if offset == 0 {
            listing.rewind();
        }
        let mut at = offset;
        while let Some(found) = listing.next(&self.server, caller, &node.handle, at)? {
            if add(found) {
                break;
            }
            at = listing.take();
        }
        Ok(())
    }

    /// Of an entry of a directory: `None` where it is gone meanwhile. The server may say nothing of it but its name.
    fn of_entry(
        &self,
        caller: Caller,
        parent: INodeNo,
        found: &nfs3_types::nfs3::entryplus3<'static>,
        moment: u64,
    ) -> Option<(Arc<Node>, fattr3)> {
        match (&found.name_handle, &found.name_attributes) {
            (Nfs3Option::Some(handle), Nfs3Option::Some(attributes)) => {
                self.known(caller, handle, attributes.clone(), moment).ok()
            }
            _ => self.look_up(caller, parent, found.name.as_ref()).ok(),
        }
    }

    fn reply_entry(&self, reply: ReplyEntry, found: Result<(Arc<Node>, fattr3), Errno>) {
        match found {
            Ok((node, attributes)) => {
                reply.entry(&self.believed, &self.for_fuse(&attributes), Generation(node.generation));
            }
            Err(error) => reply.error(error),
        }
    }

    fn reply_attributes(&self, reply: ReplyAttr, found: Result<fattr3, Errno>) {
        match found {
            Ok(attributes) => reply.attr(&self.believed, &self.for_fuse(&attributes)),
            Err(error) => reply.error(error),
        }
    }
}

fn by(request: &Request) -> Caller {
    Caller { uid: request.uid(), gid: request.gid() }
}

fn reply_empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

fn is_dots(name: &[u8]) -> bool {
    matches!(name, b"." | b"..")
}

impl Filesystem for FileSystem {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let _ = config.set_max_write(self.server.write_bytes.max(BLOCK as u32));
        let _ = config.set_max_background(WAITING_REQUESTS);
        for wanted in [
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_READDIRPLUS_AUTO,
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_PARALLEL_DIROPS,
        ] {
            let _ = config.add_capabilities(wanted); // an older kernel does without
        }
        Ok(())
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.reply_entry(reply, self.look_up(by(request), parent, name.as_bytes()));
    }

    fn forget(&self, _: &Request, ino: INodeNo, lookups: u64) {
        self.nodes.forget(ino.0, lookups);
    }

    fn getattr(&self, request: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.nodes.get(ino.0).and_then(|node| self.attributes(by(request), &node));
        self.reply_attributes(reply, found);
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let wanted = changes(mode, uid, gid, size, atime, mtime);
        let done = self.nodes.get(ino.0).and_then(|node| self.change(by(request), &node, wanted));
        self.reply_attributes(reply, done);
    }

    fn readlink(&self, request: &Request, ino: INodeNo, reply: ReplyData) {
        let found = self.nodes.get(ino.0).and_then(|node| {
            let args = READLINK3args { symlink: node.handle.clone() };
            self.server.call::<READLINK3resok<'static>>(by(request), NFS_PROGRAM::NFSPROC3_READLINK, &args)
        });
        match found {
            Ok(found) => reply.data(found.data.as_ref()),
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        self.reply_entry(reply, self.make_node(by(request), parent, name.as_bytes(), mode, rdev));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        self.reply_entry(reply, self.make_directory(by(request), parent, name.as_bytes(), mode));
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.remove_file(by(request), parent, name.as_bytes()));
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.remove_directory(by(request), parent, name.as_bytes()));
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let target = target.as_os_str().as_bytes();
        self.reply_entry(reply, self.make_symlink(by(request), parent, name.as_bytes(), target));
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = ((parent, name.as_bytes()), (new_parent, new_name.as_bytes()));
        reply_empty(reply, self.rename_entry(by(request), from, to, flags));
    }

    fn link(&self, request: &Request, ino: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.reply_entry(reply, self.make_link(by(request), ino, parent, name.as_bytes()));
    }

    fn open(&self, request: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.open_file(by(request), ino) {
            Ok(flags) => reply.opened(FileHandle(0), flags),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        match self.create_file(by(request), parent, name.as_bytes(), mode, flags & libc::O_EXCL != 0) {
            Ok((node, attributes)) => {
                self.open_files.fetch_add(1, Ordering::SeqCst);
                node.opened(&attributes);
                let (attributes, generation) = (self.for_fuse(&attributes), Generation(node.generation));
                reply.created(&self.believed, &attributes, generation, FileHandle(0), FopenFlags::empty());
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        request: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut reply = Some(reply);
        let done = self.read_file(by(request), ino, offset, size, |data| {
            if let Some(reply) = reply.take() {
                reply.data(data);
            }
        });
        if let (Err(error), Some(reply)) = (done, reply) {
            reply.error(error);
        }
    }

    fn write(
        &self,
        request: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.write_file(by(request), ino, offset, data, flags.0) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, request: &Request, ino: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply_empty(reply, self.nodes.get(ino.0).and_then(|node| self.sync(&node, by(request))));
    }

    fn fsync(&self, request: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply_empty(reply, self.nodes.get(ino.0).and_then(|node| self.sync(&node, by(request))));
    }

    fn release(
        &self,
        request: &Request,
        ino: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        reply_empty(reply, self.close_file(by(request), ino));
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let number = self.next_listing.fetch_add(1, Ordering::SeqCst);
        self.listings.lock().unwrap().insert(number, Arc::default());
        reply.opened(FileHandle(number), FopenFlags::empty());
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.listings.lock().unwrap().remove(&handle.0);
        reply.ok();
    }

    /// Servers bring to disk what they do to directories before they answer.
    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn readdir(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let done = self.list(by(request), ino, handle, offset, |found| {
            let kind = match &found.name_attributes {
                Nfs3Option::Some(attributes) => kind(attributes.type_),
                Nfs3Option::None => fuser::FileType::RegularFile,
            };
            let number = INodeNo(self.nodes.number(found.fileid));
            reply.add(number, found.cookie, kind, OsStr::from_bytes(found.name.as_ref()))
        });
        match done {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn readdirplus(
        &self,
        request: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let (caller, moment) = (by(request), self.traffic.now());
        let done = self.list(caller, ino, handle, offset, |found| {
            let name = OsStr::from_bytes(found.name.as_ref());
            if is_dots(found.name.as_ref()) {
                // The kernel knows both, and takes nothing of them but their names.
                let attributes = match &found.name_attributes {
                    Nfs3Option::Some(attributes) => self.for_fuse(attributes),
                    Nfs3Option::None => return false,
                };
                return reply.add(
                    attributes.ino,
                    found.cookie,
                    name,
                    &Duration::ZERO,
                    &attributes,
                    Generation(0),
                );
            }
            let Some((node, attributes)) = self.of_entry(caller, ino, found, moment) else { return false };
            let (attributes, generation) = (self.for_fuse(&attributes), Generation(node.generation));
            let full = reply.add(attributes.ino, found.cookie, name, &self.believed, &attributes, generation);
            if full {
                self.nodes.forget(node.ino, 1);
            }
            full
        });
        match done {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn statfs(&self, request: &Request, _: INodeNo, reply: ReplyStatfs) {
        let args = FSSTAT3args { fsroot: self.server.root.clone() };
        match self.server.call::<FSSTAT3resok>(by(request), NFS_PROGRAM::NFSPROC3_FSSTAT, &args) {
            Ok(of) => reply.statfs(
                of.tbytes / BLOCK,
                of.fbytes / BLOCK,
                of.abytes / BLOCK,
                of.tfiles,
                of.ffiles,
                BLOCK as u32,
                self.longest_name,
                BLOCK as u32,
            ),
            Err(error) => reply.error(error),
        }
    }
}
