//! The calls of NFS version 3 (RFC 1813), each with its arguments, and how an export is found.

use std::net::{SocketAddr, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use fuser::Errno;
use nfs3_types::mount::{self, MOUNT_PROGRAM, dirpath, mountres3};
use nfs3_types::nfs3::{
    self, COMMIT3args, COMMIT3resok, FSINFO3args, FSINFO3resok, GETATTR3args, GETATTR3resok, LOOKUP3args,
    LOOKUP3resok, NFS_PROGRAM, Nfs3Option, READ3args, WRITE3args, WRITE3resok, diropargs3, fattr3, filename3,
    nfs_fh3, nfsstat3, post_op_attr, stable_how, writeverf3,
};
use nfs3_types::portmap::{self, PMAP_PORT, PMAP_PROG, mapping};
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};

use crate::attributes::errno;
use crate::options::Options;
use crate::rpc::{Answer, Body, Caller, Program, Rpc};

const NFS: Program = Program(nfs3::PROGRAM, nfs3::VERSION);
const MOUNT: Program = Program(mount::PROGRAM, mount::VERSION);
const PORTMAP: Program = Program(portmap::PROGRAM, portmap::VERSION);
/// How long anything but NFS itself may take to answer.
const MOUNT_LIMIT: Duration = Duration::from_secs(20);
/// A server that says "not now" is asked again after this.
const LATER: Duration = Duration::from_millis(500);
pub const ROOT: Caller = Caller { uid: 0, gid: 0 };

/// An export of a server.
pub struct Server {
    rpc: Rpc,
    pub root: nfs_fh3,
    pub read_bytes: u32,
    pub write_bytes: u32,
}

/// What READ gave: a part of its answer.
pub struct Piece {
    answer: Vec<u8>,
    start: usize,
    pub end_of_file: bool,
}

impl Piece {
    pub fn data(&self) -> &[u8] {
        &self.answer[self.start..]
    }
}

/// What WRITE did.
pub struct Written {
    pub n_bytes: usize,
    pub is_stable: bool,
    pub verifier: writeverf3,
}

impl Server {
    /// Find an export and connect to it. The error is a sentence.
    pub fn connect(options: &Options) -> Result<Self, String> {
        let host = address(&options.host, PMAP_PORT)?;
        let port_of = |given: Option<u16>, program: Program, name: &str| match given {
            Some(port) => Ok(port),
            None => port(host, program).map_err(|error| format!("{}: {name}: {error}", options.host)),
        };
        let mount_port = port_of(options.mount_port, MOUNT, "where MOUNT is")?;
        let root = export_root(SocketAddr::new(host.ip(), mount_port), &options.export)
            .map_err(|error| format!("{}:{}: {error}", options.host, options.export))?;
        let nfs = SocketAddr::new(host.ip(), port_of(options.port, NFS, "where NFS version 3 is")?);
        let rpc = Rpc::connect(nfs, options.give_up).map_err(|error| format!("{nfs}: {error}"))?;
        let mut server = Self { rpc, root, read_bytes: options.read_bytes, write_bytes: options.write_bytes };
        let limits: FSINFO3resok = server
            .call(ROOT, NFS_PROGRAM::NFSPROC3_FSINFO, &FSINFO3args { fsroot: server.root.clone() })
            .map_err(|error| format!("{}:{}: FSINFO: {error:?}", options.host, options.export))?;
        server.read_bytes = server.read_bytes.min(limits.rtmax);
        server.write_bytes = server.write_bytes.min(limits.wtmax);
        Ok(server)
    }

    /// Call, and wait for what it says if it succeeds.
    pub fn call<T: Unpack>(
        &self,
        caller: Caller,
        procedure: NFS_PROGRAM,
        args: &impl Pack,
    ) -> Result<T, Errno> {
        Ok(T::unpack(&mut self.succeeded(caller, procedure, args)?).map_err(|_| Errno::EIO)?.0)
    }

    fn succeeded(&self, caller: Caller, procedure: NFS_PROGRAM, args: &impl Pack) -> Result<Body, Errno> {
        loop {
            let mut body = self.rpc.call(NFS, procedure as u32, caller, args)?;
            match nfsstat3::unpack(&mut body).map_err(|_| Errno::EIO)?.0 {
                nfsstat3::NFS3_OK => return Ok(body),
                nfsstat3::NFS3ERR_JUKEBOX => thread::sleep(LATER),
                status => return Err(errno(status)),
            }
        }
    }

    pub fn attributes(&self, caller: Caller, handle: &nfs_fh3) -> Result<fattr3, Errno> {
        let args = GETATTR3args { object: handle.clone() };
        Ok(self.call::<GETATTR3resok>(caller, NFS_PROGRAM::NFSPROC3_GETATTR, &args)?.obj_attributes)
    }

    /// Those that came with an answer, or asked for where none came.
    pub fn attributes_or(
        &self,
        caller: Caller,
        handle: &nfs_fh3,
        given: post_op_attr,
    ) -> Result<fattr3, Errno> {
        match given {
            Nfs3Option::Some(attributes) => Ok(attributes),
            Nfs3Option::None => self.attributes(caller, handle),
        }
    }

    pub fn lookup(
        &self,
        caller: Caller,
        directory: &nfs_fh3,
        name: &[u8],
    ) -> Result<(nfs_fh3, fattr3), Errno> {
        let args = LOOKUP3args { what: entry(directory, name) };
        let found: LOOKUP3resok = self.call(caller, NFS_PROGRAM::NFSPROC3_LOOKUP, &args)?;
        let attributes = self.attributes_or(caller, &found.object, found.obj_attributes)?;
        Ok((found.object, attributes))
    }

    pub fn read(&self, caller: Caller, file: &nfs_fh3, offset: u64, n_bytes: u32) -> Result<Piece, Errno> {
        let count = n_bytes.min(self.read_bytes);
        let args = READ3args { file: file.clone(), offset, count };
        let body = self.succeeded(caller, NFS_PROGRAM::NFSPROC3_READ, &args)?;
        piece(body).filter(|found| found.data().len() <= count as usize).ok_or(Errno::EIO)
    }

    /// Write what one call can take.
    pub fn write(
        &self,
        caller: Caller,
        file: &nfs_fh3,
        offset: u64,
        data: &[u8],
        stable: stable_how,
    ) -> Result<Written, Errno> {
        let data = &data[..data.len().min(self.write_bytes as usize)];
        let body =
            self.succeeded(caller, NFS_PROGRAM::NFSPROC3_WRITE, &write_args(file, offset, data, stable))?;
        written(body, data.len())
    }

    /// The same without waiting; `data` is no more than one call can take. `done` must not wait either.
    pub fn write_behind(
        &self,
        caller: Caller,
        file: &nfs_fh3,
        offset: u64,
        data: &[u8],
        done: impl FnOnce(Result<Written, Errno>) + Send + 'static,
    ) {
        let n_bytes = data.len();
        let args = write_args(file, offset, data, stable_how::UNSTABLE);
        self.rpc.send(NFS, NFS_PROGRAM::NFSPROC3_WRITE as u32, caller, &args, move |answer| {
            done(result_of_write(answer, n_bytes));
        });
    }

    /// Bring to disk what was written; the verifier changes when the server was started again since.
    pub fn commit(&self, caller: Caller, file: &nfs_fh3) -> Result<writeverf3, Errno> {
        let args = COMMIT3args { file: file.clone(), offset: 0, count: 0 };
        Ok(self.call::<COMMIT3resok>(caller, NFS_PROGRAM::NFSPROC3_COMMIT, &args)?.verf)
    }
}

/// A name in a directory.
pub fn entry<'a>(directory: &nfs_fh3, name: &'a [u8]) -> diropargs3<'a> {
    diropargs3 { dir: directory.clone(), name: filename3(Opaque::borrowed(name)) }
}

fn write_args<'a>(file: &nfs_fh3, offset: u64, data: &'a [u8], stable: stable_how) -> WRITE3args<'a> {
    WRITE3args { file: file.clone(), offset, count: data.len() as u32, stable, data: Opaque::borrowed(data) }
}

fn result_of_write(answer: Answer, n_bytes: usize) -> Result<Written, Errno> {
    let mut body = answer?;
    match nfsstat3::unpack(&mut body).map_err(|_| Errno::EIO)?.0 {
        nfsstat3::NFS3_OK => written(body, n_bytes),
        // "Not now": nothing was written, and whoever waits for the file to be written tries again.
        nfsstat3::NFS3ERR_JUKEBOX => {
            Ok(Written { n_bytes: 0, is_stable: true, verifier: writeverf3::default() })
        }
        status => Err(errno(status)),
    }
}

fn written(mut body: Body, n_bytes: usize) -> Result<Written, Errno> {
    let (done, _) = WRITE3resok::unpack(&mut body).map_err(|_| Errno::EIO)?;
    if done.count as usize > n_bytes {
        return Err(Errno::EIO);
    }
    let is_stable = done.committed != stable_how::UNSTABLE;
    Ok(Written { n_bytes: done.count as usize, is_stable, verifier: done.verf })
}

/// The answer of READ, its data left where it is.
fn piece(mut body: Body) -> Option<Piece> {
    post_op_attr::unpack(&mut body).ok()?;
    let (count, _) = u32::unpack(&mut body).ok()?;
    let (end_of_file, _) = bool::unpack(&mut body).ok()?;
    let (length, _) = u32::unpack(&mut body).ok()?;
    let start = body.position() as usize;
    let mut answer = body.into_inner();
    if length != count || start + length as usize > answer.len() {
        return None;
    }
    answer.truncate(start + length as usize);
    Some(Piece { answer, start, end_of_file })
}

fn address(host: &str, port: u16) -> Result<SocketAddr, String> {
    let found = (host, port).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
    let mut all: Vec<_> = found.collect();
    all.sort_by_key(SocketAddr::is_ipv6);
    all.first().copied().ok_or_else(|| format!("{host}: it has no address"))
}

fn port(rpcbind: SocketAddr, Program(prog, vers): Program) -> Result<u16, String> {
    let rpc = Rpc::connect(rpcbind, Some(MOUNT_LIMIT)).map_err(|error| format!("rpcbind: {error}"))?;
    let args = mapping { prog, vers, prot: portmap::IPPROTO_TCP, port: 0 };
    match result::<u32>(rpc.call(PORTMAP, PMAP_PROG::PMAPPROC_GETPORT as u32, ROOT, &args))? {
        0 => Err("no such service".into()),
        port => u16::try_from(port).map_err(|_| format!("rpcbind says port {port}")),
    }
}

fn export_root(mountd: SocketAddr, export: &str) -> Result<nfs_fh3, String> {
    let rpc = Rpc::connect(mountd, Some(MOUNT_LIMIT)).map_err(|error| format!("{mountd}: {error}"))?;
    let args = dirpath(Opaque::borrowed(export.as_bytes()));
    match result(rpc.call(MOUNT, MOUNT_PROGRAM::MOUNTPROC3_MNT as u32, ROOT, &args))? {
        mountres3::Ok(found) => Ok(nfs_fh3 { data: Opaque::owned(found.fhandle.0.into_owned()) }),
        mountres3::Err(status) => Err(format!("the server refuses it: {status}")),
    }
}

fn result<T: Unpack>(answer: Answer) -> Result<T, String> {
    let mut body = answer.map_err(|error| format!("{error:?}"))?;
    Ok(T::unpack(&mut body).map_err(|error| format!("an answer that is none: {error}"))?.0)
}
