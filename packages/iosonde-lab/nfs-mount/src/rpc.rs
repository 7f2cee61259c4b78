//! Remote procedure calls over one TCP connection (RFC 5531): any number in flight, answered in any order.
//!
//! A connection that breaks is made again, and what had no answer is sent again, as kernels do for a "hard" mount.

use std::collections::HashMap;
use std::io::{BufReader, Cursor, Error, ErrorKind, Read, Result as IoResult, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fuser::Errno;
use nfs3_types::rpc::{
    RPC_VERSION_2, accept_stat_data, auth_unix, call_body, fragment_header, msg_body, opaque_auth,
    reply_body, rpc_msg,
};
use nfs3_types::xdr_codec::{Opaque, Pack, Unpack};
use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};

/// What follows the header of an answer.
pub type Body = Cursor<Vec<u8>>;
pub type Answer = Result<Body, Errno>;
type Done = Box<dyn FnOnce(Answer) + Send>;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);
/// A connection on which nothing was acknowledged for so long is given up, and made again.
const SILENCE: Duration = Duration::from_secs(60);
/// Of an answer: more is no NFS that we asked for.
const MOST_BYTES: usize = 4 << 20;
/// Servers may want root on the other end: only root can take one of these.
const RESERVED_PORTS: std::ops::RangeInclusive<u16> = 665..=1023;

/// A program and its version.
#[derive(Clone, Copy)]
pub struct Program(pub u32, pub u32);

/// In whose name a call is made.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    pub uid: u32,
    pub gid: u32,
}

/// One connection. Ends with the last one who holds it.
pub struct Rpc {
    shared: Arc<Shared>,
}

struct Shared {
    address: SocketAddr,
    host_name: Vec<u8>,
    next: AtomicU32,
    closed: AtomicBool,
    /// `None` while there is no connection. Held before `pending` by whoever holds both.
    writer: Mutex<Option<TcpStream>>,
    pending: Mutex<HashMap<u32, Pending>>,
}

struct Pending {
    message: Arc<Vec<u8>>,
    since: Instant,
    done: Done,
}

impl Rpc {
    /// Connect. `give_up`: how long a call may wait for its answer.
    pub fn connect(address: SocketAddr, give_up: Option<Duration>) -> IoResult<Self> {
        let stream = connected(address)?;
        let shared = Arc::new(Shared {
            address,
            host_name: host_name(),
            next: AtomicU32::new(
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.subsec_nanos()),
            ),
            closed: AtomicBool::new(false),
            writer: Mutex::new(Some(stream.try_clone()?)),
            pending: Mutex::new(HashMap::new()),
        });
        let reading = shared.clone();
        thread::Builder::new().name("answers".into()).spawn(move || reading.read_answers(stream))?;
        if let Some(limit) = give_up {
            let watching = shared.clone();
            thread::Builder::new().name("give-up".into()).spawn(move || watching.give_up(limit))?;
        }
        Ok(Self { shared })
    }

    /// Call, and go on; `done` is called with the answer, on the thread that reads answers: it must not wait.
    pub fn send(
        &self,
        program: Program,
        procedure: u32,
        caller: Caller,
        args: &impl Pack,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        let shared = &self.shared;
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let message = match encoded(number, program, procedure, shared.credential(caller), args) {
            Ok(message) => Arc::new(message),
            Err(error) => return done(Err(error)),
        };
        let pending = Pending { message: message.clone(), since: Instant::now(), done: Box::new(done) };
        let mut writer = shared.writer.lock().unwrap();
        shared.pending.lock().unwrap().insert(number, pending);
        if let Some(stream) = writer.as_mut()
            && stream.write_all(&message).is_err()
        {
            let _ = stream.shutdown(Shutdown::Both); // who reads answers connects again, and sends this again
        }
    }

    /// Call, and wait for the answer.
    pub fn call(&self, program: Program, procedure: u32, caller: Caller, args: &impl Pack) -> Answer {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.send(program, procedure, caller, args, move |answer| {
            let _ = sender.send(answer);
        });
        receiver.recv().unwrap_or(Err(Errno::EIO))
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        if let Some(stream) = self.shared.writer.lock().unwrap().take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn credential(&self, caller: Caller) -> opaque_auth<'static> {
        opaque_auth::auth_unix(&auth_unix {
            stamp: 0,
            machinename: Opaque::owned(self.host_name.clone()),
            uid: caller.uid,
            gid: caller.gid,
            gids: vec![],
        })
    }

    fn read_answers(self: Arc<Self>, stream: TcpStream) {
        let mut input = BufReader::new(stream);
        let mut sending = None;
        while !self.closed.load(Ordering::Relaxed) {
            match record(&mut input).and_then(numbered) {
                Ok((number, body)) => {
                    let found = self.pending.lock().unwrap().remove(&number);
                    if let Some(pending) = found {
                        (pending.done)(opened(body));
                    }
                }
                Err(_) => {
                    let _ = input.get_ref().shutdown(Shutdown::Both);
                    sending.take().map(thread::JoinHandle::join);
                    let Some(stream) = self.connect_again() else { break };
                    // Not by this thread: a server may want its answers to be read before it reads more.
                    let (shared, writer) = (self.clone(), stream.try_clone());
                    sending = writer.ok().map(|writer| thread::spawn(move || shared.send_again(writer)));
                    input = BufReader::new(stream);
                }
            }
        }
        let abandoned = std::mem::take(&mut *self.pending.lock().unwrap());
        for (_, pending) in abandoned {
            (pending.done)(Err(Errno::EIO));
        }
    }

    /// `None` where nobody wants one any more.
    fn connect_again(&self) -> Option<TcpStream> {
        *self.writer.lock().unwrap() = None;
        while !self.closed.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
            if let Ok(stream) = connected(self.address) {
                return Some(stream);
            }
        }
        None
    }

    /// Send everything without an answer; from then on others may send.
    fn send_again(&self, mut stream: TcpStream) {
        let mut writer = self.writer.lock().unwrap();
        let again: Vec<_> = self.pending.lock().unwrap().values().map(|one| one.message.clone()).collect();
        if again.iter().all(|message| stream.write_all(message).is_ok()) {
            *writer = Some(stream);
        } else {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn give_up(&self, limit: Duration) {
        while !self.closed.load(Ordering::Relaxed) {
            thread::sleep(PAUSE);
            let late: Vec<_> =
                self.pending.lock().unwrap().extract_if(|_, one| one.since.elapsed() > limit).collect();
            for (_, pending) in late {
                (pending.done)(Err(Errno::ETIMEDOUT));
            }
        }
    }
}

fn connected(address: SocketAddr) -> IoResult<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv4() {
        let start = u16::try_from(std::process::id() % 300).unwrap_or(0);
        let ports = RESERVED_PORTS.skip(start.into()).chain(RESERVED_PORTS);
        for port in ports {
            match socket.bind(&SockAddr::from(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port))) {
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                _ => break, // it is ours, or none is for us: then any port
            }
        }
    }
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE / 4).with_interval(SILENCE / 4))?;
    socket.set_tcp_user_timeout(Some(SILENCE))?;
    socket.connect_timeout(&SockAddr::from(address), CONNECT_LIMIT)?;
    Ok(socket.into())
}

fn host_name() -> Vec<u8> {
    let mut name = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    name.retain(|byte| *byte != b'\n');
    name
}

fn encoded(
    number: u32,
    Program(program, version): Program,
    procedure: u32,
    credential: opaque_auth<'static>,
    args: &impl Pack,
) -> Result<Vec<u8>, Errno> {
    let call = rpc_msg {
        xid: number,
        body: msg_body::CALL(call_body {
            rpcvers: RPC_VERSION_2,
            prog: program,
            vers: version,
            proc: procedure,
            cred: credential,
            verf: opaque_auth::default(),
        }),
    };
    let n_bytes = call.packed_size() + args.packed_size();
    let length = u32::try_from(n_bytes).ok().filter(|n| *n <= fragment_header::MASK).ok_or(Errno::EINVAL)?;
    let mut message = Vec::with_capacity(4 + n_bytes);
    message.extend(fragment_header::new(length, true).into_xdr_buf());
    call.pack(&mut message).and_then(|_| args.pack(&mut message)).map_err(|_| Errno::EINVAL)?;
    Ok(message)
}

/// One message, of however many fragments.
fn record(input: &mut impl Read) -> IoResult<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let mut header = [0; 4];
        input.read_exact(&mut header)?;
        let header = fragment_header::from(header);
        let n_bytes = header.fragment_length() as usize;
        if whole.len() + n_bytes > MOST_BYTES {
            return Err(Error::from(ErrorKind::InvalidData));
        }
        whole.reserve_exact(n_bytes);
        if input.take(n_bytes as u64).read_to_end(&mut whole)? < n_bytes {
            return Err(Error::from(ErrorKind::UnexpectedEof));
        }
        if header.eof() {
            return Ok(whole);
        }
    }
}

fn numbered(message: Vec<u8>) -> IoResult<(u32, Vec<u8>)> {
    let number = message.first_chunk().ok_or(ErrorKind::InvalidData)?;
    Ok((u32::from_be_bytes(*number), message))
}

/// The body of an answer that says success.
fn opened(message: Vec<u8>) -> Answer {
    let mut body = Cursor::new(message);
    let (answer, _) = rpc_msg::unpack(&mut body).map_err(|_| Errno::EIO)?;
    match answer.body {
        msg_body::REPLY(reply_body::MSG_ACCEPTED(accepted)) => match accepted.reply_data {
            accept_stat_data::SUCCESS => Ok(body),
            accept_stat_data::PROG_UNAVAIL
            | accept_stat_data::PROG_MISMATCH { .. }
            | accept_stat_data::PROC_UNAVAIL => Err(Errno::EOPNOTSUPP),
            _ => Err(Errno::EIO),
        },
        msg_body::REPLY(reply_body::MSG_DENIED(_)) => Err(Errno::EACCES),
        msg_body::CALL(_) => Err(Errno::EIO),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use nfs3_types::rpc::accepted_reply;

    use super::*;

    const ECHO: Program = Program(7, 1);
    const ROOT: Caller = Caller { uid: 0, gid: 0 };

    /// The argument of a call that arrives, with its number.
    fn called(stream: &mut TcpStream) -> (u32, u32) {
        let mut body = Cursor::new(record(stream).unwrap());
        let (call, _) = rpc_msg::unpack(&mut body).unwrap();
        (call.xid, u32::unpack(&mut body).unwrap().0)
    }

    fn answer(stream: &mut TcpStream, number: u32, value: u32, in_pieces: bool) {
        let mut message = Vec::new();
        let body = msg_body::REPLY(reply_body::MSG_ACCEPTED(accepted_reply {
            verf: opaque_auth::default(),
            reply_data: accept_stat_data::SUCCESS,
        }));
        rpc_msg { xid: number, body }.pack(&mut message).unwrap();
        value.pack(&mut message).unwrap();
        let pieces: Vec<_> = if in_pieces { message.chunks(8).collect() } else { vec![&message] };
        for (index, piece) in pieces.iter().enumerate() {
            let header = fragment_header::new(piece.len() as u32, index + 1 == pieces.len());
            stream.write_all(&header.into_xdr_buf()).unwrap();
            stream.write_all(piece).unwrap();
        }
    }

    fn value(answer: Answer) -> Result<u32, Errno> {
        Ok(u32::unpack(&mut answer?).unwrap().0)
    }

    fn server() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[test]
    fn answers_find_their_calls_in_any_order_and_in_pieces() {
        let (listener, address) = server();
        let serving = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let calls: Vec<_> = (0..3).map(|_| called(&mut stream)).collect();
            for (number, argument) in calls.into_iter().rev() {
                answer(&mut stream, number, argument * 10, argument == 2);
            }
        });
        let rpc = Rpc::connect(address, None).unwrap();
        let (sender, receiver) = mpsc::channel();
        for argument in 1..=3u32 {
            let sender = sender.clone();
            rpc.send(ECHO, 1, ROOT, &argument, move |answer| sender.send((argument, value(answer))).unwrap());
        }
        let found: HashMap<u32, _> = receiver.iter().take(3).collect();
        assert_eq!(found, HashMap::from([(1, Ok(10)), (2, Ok(20)), (3, Ok(30))]));
        serving.join().unwrap();
    }

    #[test]
    fn what_had_no_answer_is_sent_again_when_the_server_is_back() {
        let (listener, address) = server();
        let serving = thread::spawn(move || {
            let first = called(&mut listener.accept().unwrap().0); // and the connection ends
            let mut stream = listener.accept().unwrap().0;
            let again = called(&mut stream);
            answer(&mut stream, again.0, 5, false);
            first == again
        });
        let rpc = Rpc::connect(address, None).unwrap();
        assert_eq!(value(rpc.call(ECHO, 1, ROOT, &4u32)), Ok(5));
        assert!(serving.join().unwrap(), "the same call, with the same number");
    }

    #[test]
    fn a_soft_mount_gives_up() {
        let (_silent, address) = server();
        let rpc = Rpc::connect(address, Some(Duration::from_millis(50))).unwrap();
        assert_eq!(value(rpc.call(ECHO, 1, ROOT, &4u32)), Err(Errno::ETIMEDOUT));
    }
}
