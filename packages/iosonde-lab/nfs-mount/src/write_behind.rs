//! What was written to one file and is not yet known to be on the server's disk.
//!
//! Programs go on while it is sent (UNSTABLE); pieces that touch each other are sent as one. An error is kept until
//! somebody asks: the next write, fsync or close. A server that was started again may have forgotten what it had not
//! committed, which its verifier tells: that is an error too (EIO), as nothing is kept here to be sent again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use fuser::Errno;
use nfs3_types::nfs3::{nfs_fh3, stable_how, writeverf3};

use crate::rpc::Caller;
use crate::server::{Server, Written};

/// Bytes of all files that may be on their way at once.
const WINDOW_BYTES: usize = 16 << 20;

/// Where it goes.
pub trait Store {
    fn most_bytes(&self) -> usize;
    fn write(
        &self,
        by: Caller,
        file: &nfs_fh3,
        at: u64,
        data: &[u8],
        how: stable_how,
    ) -> Result<Written, Errno>;
    /// Without waiting; nor may `done` wait.
    fn write_behind(
        &self,
        by: Caller,
        file: &nfs_fh3,
        at: u64,
        data: &[u8],
        done: impl FnOnce(Result<Written, Errno>) + Send + 'static,
    );
    fn commit(&self, by: Caller, file: &nfs_fh3) -> Result<writeverf3, Errno>;
}

impl Store for Server {
    fn most_bytes(&self) -> usize {
        self.write_bytes as usize
    }

    fn write(
        &self,
        by: Caller,
        file: &nfs_fh3,
        at: u64,
        data: &[u8],
        how: stable_how,
    ) -> Result<Written, Errno> {
        Self::write(self, by, file, at, data, how)
    }

    fn write_behind(
        &self,
        by: Caller,
        file: &nfs_fh3,
        at: u64,
        data: &[u8],
        done: impl FnOnce(Result<Written, Errno>) + Send + 'static,
    ) {
        Self::write_behind(self, by, file, at, data, done);
    }

    fn commit(&self, by: Caller, file: &nfs_fh3) -> Result<writeverf3, Errno> {
        Self::commit(self, by, file)
    }
}

/// Shared by all files: what is on its way, and how many answers have come.
#[derive(Default)]
pub struct Traffic {
    bytes: Mutex<usize>,
    less: Condvar,
    answers: AtomicU64,
}

impl Traffic {
    /// A moment, for `Writes::unsettled_since`.
    pub fn now(&self) -> u64 {
        self.answers.load(Ordering::SeqCst)
    }

    fn enter(&self, n_bytes: usize) {
        let full = |bytes: &mut usize| *bytes > 0 && *bytes + n_bytes > WINDOW_BYTES;
        *self.less.wait_while(self.bytes.lock().unwrap(), full).unwrap() += n_bytes;
    }

    fn leave(&self, n_bytes: usize) {
        *self.bytes.lock().unwrap() -= n_bytes;
        self.less.notify_all();
    }

    fn answered(&self) -> u64 {
        self.answers.fetch_add(1, Ordering::SeqCst) + 1
    }
}

/// A piece of a file.
struct Piece {
    by: Caller,
    at: u64,
    data: Vec<u8>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.at + self.data.len() as u64
    }

    /// Take in what lies within it or touches its end, if it then is no more than one call can take.
    fn takes(&mut self, by: Caller, at: u64, data: &[u8], most: usize) -> bool {
        let end = at + data.len() as u64;
        if by.uid != self.by.uid || by.gid != self.by.gid || at < self.at || at > self.end() {
            return false;
        }
        if end > self.at + most as u64 {
            return false;
        }
        let start = (at - self.at) as usize;
        let within = data.len().min(self.data.len() - start);
        self.data[start..start + within].copy_from_slice(&data[..within]);
        self.data.extend(&data[within..]);
        true
    }
}

#[derive(Default)]
struct State {
    gathered: Option<Piece>,
    /// First and last byte of each on its way.
    on_the_way: Vec<(u64, u64)>,
    /// What the server took only in part.
    left: Vec<Piece>,
    /// Of what was written and not committed.
    verifier: Option<writeverf3>,
    failed: Option<Errno>,
    last_answer: u64,
    changed: bool,
}

impl State {
    fn is_on_the_way(&self, at: u64, n_bytes: usize) -> bool {
        self.on_the_way.iter().any(|(start, end)| at < *end && *start < at + n_bytes as u64)
    }

    fn note(&mut self, written: &Written) {
        if !written.is_stable && *self.verifier.get_or_insert(written.verifier) != written.verifier {
            self.failed.get_or_insert(Errno::EIO); // it was started again in between
        }
    }
}

/// Of one file.
#[derive(Default)]
pub struct Writes {
    state: Mutex<State>,
    settled: Condvar,
}

impl Writes {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Write, sometime. Waits only while too much is on its way, or what is there is about to be written already.
    pub fn add(
        self: &Arc<Self>,
        store: &impl Store,
        traffic: &Arc<Traffic>,
        file: &nfs_fh3,
        by: Caller,
        at: u64,
        data: &[u8],
    ) -> Result<(), Errno> {
        let most = store.most_bytes();
        for (index, data) in data.chunks(most).enumerate() {
            let at = at + (index * most) as u64;
            let mut state = self.lock();
            state.changed = true;
            if let Some(error) = state.failed {
                return Err(error);
            }
            if !state.gathered.as_mut().is_some_and(|gathered| gathered.takes(by, at, data, most)) {
                let before = state.gathered.replace(Piece { by, at, data: data.to_vec() });
                state = self.start(state, store, traffic, file, before);
            }
            if state.gathered.as_ref().is_some_and(|gathered| gathered.data.len() == most) {
                let full = state.gathered.take();
                drop(self.start(state, store, traffic, file, full));
            }
        }
        Ok(())
    }

    /// Send a piece, once nothing is on its way to the same place: a server may take calls in any order.
    fn start<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        store: &impl Store,
        traffic: &Arc<Traffic>,
        file: &nfs_fh3,
        piece: Option<Piece>,
    ) -> MutexGuard<'a, State> {
        let Some(piece) = piece else { return state };
        let n_bytes = piece.data.len();
        loop {
            state = self.settled.wait_while(state, |now| now.is_on_the_way(piece.at, n_bytes)).unwrap();
            if state.left.is_empty() {
                break;
            }
            state = self.write_what_is_left(state, store, traffic, file);
        }
        state.on_the_way.push((piece.at, piece.end()));
        drop(state);
        traffic.enter(n_bytes);
        let (writes, traffic) = (self.clone(), traffic.clone());
        let (by, at, data) = (piece.by, piece.at, Arc::new(piece.data));
        let sent = data.clone();
        store.write_behind(by, file, at, &sent, move |result| {
            traffic.leave(n_bytes);
            let mut state = writes.lock();
            state.on_the_way.retain(|(start, _)| *start != at);
            match result {
                Err(error) => {
                    state.failed.get_or_insert(error);
                }
                Ok(written) => {
                    state.note(&written);
                    if written.n_bytes < n_bytes {
                        let (at, data) = (at + written.n_bytes as u64, data[written.n_bytes..].to_vec());
                        state.left.push(Piece { by, at, data });
                    }
                }
            }
            state.last_answer = traffic.answered();
            writes.settled.notify_all();
        });
        self.lock()
    }

    /// Write, and wait for it, what the server took only in part.
    fn write_what_is_left<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        store: &impl Store,
        traffic: &Traffic,
        file: &nfs_fh3,
    ) -> MutexGuard<'a, State> {
        while let Some(piece) = state.left.pop() {
            state.on_the_way.push((piece.at, piece.end()));
            drop(state);
            let done = self.write(store, traffic, file, &piece, stable_how::UNSTABLE);
            state = self.lock();
            state.on_the_way.retain(|(start, _)| *start != piece.at);
            if let Err(error) = done {
                state.failed.get_or_insert(error);
            }
            self.settled.notify_all();
        }
        state
    }

    /// Return when the server has everything, or has refused it.
    pub fn drain(self: &Arc<Self>, store: &impl Store, traffic: &Arc<Traffic>, file: &nfs_fh3) {
        let mut state = self.lock();
        let gathered = state.gathered.take();
        state = self.start(state, store, traffic, file, gathered);
        loop {
            state = self.settled.wait_while(state, |now| !now.on_the_way.is_empty()).unwrap();
            if state.left.is_empty() {
                return;
            }
            state = self.write_what_is_left(state, store, traffic, file);
        }
    }

    fn write(
        &self,
        store: &impl Store,
        traffic: &Traffic,
        file: &nfs_fh3,
        piece: &Piece,
        how: stable_how,
    ) -> Result<(), Errno> {
        let mut begin = 0;
        while begin < piece.data.len() {
            let written = store.write(piece.by, file, piece.at + begin as u64, &piece.data[begin..], how)?;
            let mut state = self.lock();
            state.note(&written);
            state.last_answer = traffic.answered();
            if written.n_bytes == 0 {
                return Err(Errno::EIO);
            }
            begin += written.n_bytes;
        }
        Ok(())
    }

    /// Write, and return when it is on the server's disk.
    pub fn through(
        self: &Arc<Self>,
        store: &impl Store,
        traffic: &Arc<Traffic>,
        file: &nfs_fh3,
        by: Caller,
        at: u64,
        data: &[u8],
    ) -> Result<(), Errno> {
        self.touch();
        self.drain(store, traffic, file);
        self.write(store, traffic, file, &Piece { by, at, data: data.to_vec() }, stable_how::FILE_SYNC)
    }

    /// Return when everything is on the server's disk. The error is that of any write since the last time.
    pub fn sync(
        self: &Arc<Self>,
        store: &impl Store,
        traffic: &Arc<Traffic>,
        file: &nfs_fh3,
        by: Caller,
    ) -> Result<(), Errno> {
        self.drain(store, traffic, file);
        let mut state = self.lock();
        let (failed, verifier) = (state.failed.take(), state.verifier.take());
        drop(state);
        let committed = match verifier {
            None => Ok(()),
            Some(verifier) => {
                store.commit(by, file).and_then(|now| if now == verifier { Ok(()) } else { Err(Errno::EIO) })
            }
        };
        failed.map_or(committed, Err)
    }

    /// Something is gathered or on its way, or an answer has come since `moment`: attributes asked for then are old.
    pub fn unsettled_since(&self, moment: u64) -> bool {
        let state = self.lock();
        state.gathered.is_some() || !state.on_the_way.is_empty() || state.last_answer > moment
    }

    /// The file is changed from here by other means than a write.
    pub fn touch(&self) {
        self.lock().changed = true;
    }

    /// Whether the file was changed from here since this was last asked.
    pub fn take_changed(&self) -> bool {
        std::mem::take(&mut self.lock().changed)
    }
}

#[cfg(test)]
mod tests {
    use nfs3_types::xdr_codec::Opaque;

    use super::*;

    const USER: Caller = Caller { uid: 5, gid: 5 };
    type Done = Box<dyn FnOnce(Result<Written, Errno>) + Send>;

    /// Keeps what is written until it is told to answer.
    #[derive(Default)]
    struct Fake {
        waiting: Mutex<Vec<(u64, usize, Done)>>,
        written: Mutex<Vec<(u64, usize)>>,
        verifier: Mutex<u8>,
    }

    impl Fake {
        fn result(&self, n_bytes: usize) -> Written {
            Written { n_bytes, is_stable: false, verifier: writeverf3([*self.verifier.lock().unwrap(); 8]) }
        }

        /// Answer everything; `share` of each piece was taken.
        fn answer(&self, share: f64) -> Vec<(u64, usize)> {
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap());
            let asked = waiting.iter().map(|(at, n_bytes, _)| (*at, *n_bytes)).collect();
            for (_, n_bytes, done) in waiting {
                done(Ok(self.result((n_bytes as f64 * share) as usize)));
            }
            asked
        }
    }

    impl Store for Fake {
        fn most_bytes(&self) -> usize {
            8
        }

        fn write(
            &self,
            _: Caller,
            _: &nfs_fh3,
            at: u64,
            data: &[u8],
            _: stable_how,
        ) -> Result<Written, Errno> {
            self.written.lock().unwrap().push((at, data.len()));
            Ok(self.result(data.len()))
        }

        fn write_behind(
            &self,
            _: Caller,
            _: &nfs_fh3,
            at: u64,
            data: &[u8],
            done: impl FnOnce(Result<Written, Errno>) + Send + 'static,
        ) {
            self.waiting.lock().unwrap().push((at, data.len(), Box::new(done)));
        }

        fn commit(&self, _: Caller, _: &nfs_fh3) -> Result<writeverf3, Errno> {
            Ok(self.result(0).verifier)
        }
    }

    struct Case {
        store: Fake,
        writes: Arc<Writes>,
        traffic: Arc<Traffic>,
        file: nfs_fh3,
    }

    impl Case {
        fn new() -> Self {
            Self {
                store: Fake::default(),
                writes: Arc::default(),
                traffic: Arc::default(),
                file: nfs_fh3 { data: Opaque::owned(vec![1]) },
            }
        }

        fn add(&self, at: u64, data: &[u8]) -> Result<(), Errno> {
            self.writes.add(&self.store, &self.traffic, &self.file, USER, at, data)
        }

        fn sync(&self) -> Result<(), Errno> {
            self.writes.sync(&self.store, &self.traffic, &self.file, USER)
        }
    }

    #[test]
    fn small_writes_are_sent_as_one_and_large_ones_in_pieces() {
        let case = Case::new();
        for at in [0, 2, 4, 6, 8] {
            case.add(at, b"ab").unwrap();
        }
        assert_eq!(case.store.answer(1.0), [(0, 8)]);
        case.add(100, &[0; 20]).unwrap();
        assert_eq!(case.store.answer(1.0), [(8, 2), (100, 8), (108, 8)]);
        assert!(case.writes.unsettled_since(case.traffic.now()), "four bytes are still gathered");
    }

    #[test]
    fn what_is_gathered_can_be_written_again() {
        let mut piece = Piece { by: USER, at: 10, data: b"abcd".to_vec() };
        assert!(piece.takes(USER, 12, b"XYZ", 8));
        assert_eq!(piece.data, b"abXYZ");
        assert!(!piece.takes(USER, 9, b"-", 8), "before it");
        assert!(!piece.takes(USER, 16, b"-", 8), "a hole between");
        assert!(!piece.takes(USER, 15, b"1234", 8), "more than one call can take");
        assert!(!piece.takes(Caller { uid: 6, gid: 5 }, 15, b"1", 8), "another user");
    }

    #[test]
    fn nothing_is_sent_to_where_something_is_on_its_way() {
        let case = Arc::new(Case::new());
        case.add(0, &[1; 8]).unwrap();
        let again = case.clone();
        let second = std::thread::spawn(move || again.add(4, &[2; 8]).unwrap());
        while case.writes.lock().gathered.is_some() || !case.writes.lock().changed {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(case.store.answer(1.0), [(0, 8)], "the second waits");
        second.join().unwrap();
        assert_eq!(case.store.answer(1.0), [(4, 8)]);
    }

    #[test]
    fn what_was_taken_in_part_is_written_to_the_end() {
        let case = Case::new();
        case.add(0, &[1; 8]).unwrap();
        case.store.answer(0.5);
        assert_eq!(case.sync(), Ok(()));
        assert_eq!(*case.store.written.lock().unwrap(), [(4, 4)]);
    }

    #[test]
    fn what_was_taken_in_part_is_written_before_what_came_later() {
        let case = Case::new();
        case.add(0, &[1; 8]).unwrap();
        case.store.answer(0.5);
        case.add(0, &[2; 8]).unwrap();
        assert_eq!(*case.store.written.lock().unwrap(), [(4, 4)], "the rest of the first");
        assert_eq!(case.store.answer(1.0), [(0, 8)], "the second");
    }

    #[test]
    fn a_server_that_was_started_again_is_an_error_once() {
        let case = Case::new();
        case.add(0, &[1; 8]).unwrap();
        case.store.answer(1.0);
        *case.store.verifier.lock().unwrap() += 1;
        assert_eq!(case.sync(), Err(Errno::EIO), "before COMMIT");
        assert_eq!(case.sync(), Ok(()));

        case.add(0, &[1; 8]).unwrap();
        case.store.answer(1.0);
        *case.store.verifier.lock().unwrap() += 1;
        case.add(8, &[1; 8]).unwrap();
        case.store.answer(1.0);
        assert_eq!(case.add(16, &[1; 8]), Err(Errno::EIO), "between two writes");
        assert_eq!(case.sync(), Err(Errno::EIO));
        assert_eq!(case.sync(), Ok(()));
    }
}
