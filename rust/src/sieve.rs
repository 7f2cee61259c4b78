//! Data sieving: many small pieces with holes between them, moved by few large accesses that take the holes along.
//!
//! As ROMIO does it for one independent access (Thakur, Gropp, Lusk, "Data Sieving and Collective I/O in ROMIO",
//! Frontiers '99): a window begins at the next byte that is wanted, and is as long as the buffer, or ends with the last
//! piece; a piece may lie in two windows. Reading is one read and copies. Writing reads the window, puts the pieces
//! in, and writes it back, with the window locked, because the holes may be what others write. A window without a hole
//! is written as it is, and not read or locked.

use crate::backend::{Backend, Request};
use crate::error::errno;
use crate::kind::Kind;
use crate::pattern::{Pattern, Range};
use std::os::fd::RawFd;

/// A range of a file in pieces of `range.transfer` bytes with `hole` bytes between them, and the sieve's buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sieve {
    pub range: Range,
    pub hole: u64,
    pub buffer: u32,
}

impl Sieve {
    fn period(self) -> u64 {
        u64::from(self.range.transfer) + self.hole
    }

    /// Where the last piece ends.
    fn end(self) -> u64 {
        let pieces = Pattern::Stride { hole: self.hole, jitter: 0 }.positions(self.range);
        self.range.base + (pieces - 1) * self.period() + u64::from(self.range.transfer)
    }

    fn window(self, offset: u64) -> Window {
        let length = u64::from(self.buffer).min(self.end() - offset) as u32;
        let skip = ((offset - self.range.base) % self.period()) as u32;
        Window { offset, length, transfer: self.range.transfer, hole: self.hole, skip }
    }

    /// The first wanted byte after a window; None after the last.
    fn after(self, window: Window) -> Option<u64> {
        let next = window.offset + u64::from(window.length);
        let place = (next - self.range.base) % self.period();
        let hole_left = if place < u64::from(self.range.transfer) { 0 } else { self.period() - place };
        Some(next + hole_left).filter(|&next| next < self.end())
    }

    /// How many windows a sweep has.
    pub fn windows(self) -> u64 {
        let mut walk = Windows::new(self);
        (1..)
            .find(|_| {
                walk.next();
                walk.at == self.range.base
            })
            .expect("a sweep ends")
    }
}

/// The windows of a sieve in order, and from the start again.
#[derive(Clone, Debug)]
pub struct Windows {
    sieve: Sieve,
    at: u64,
}

impl Windows {
    pub fn new(sieve: Sieve) -> Self {
        Self { sieve, at: sieve.range.base }
    }

    pub fn restart(&mut self) {
        self.at = self.sieve.range.base;
    }

    pub fn next(&mut self) -> Window {
        let window = self.sieve.window(self.at);
        self.at = self.sieve.after(window).unwrap_or(self.sieve.range.base);
        window
    }
}

/// One large access. It begins `skip` bytes into a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub offset: u64,
    pub length: u32,
    transfer: u32,
    hole: u64,
    skip: u32,
}

/// A part of a piece that lies in a window: where in the window, where among the wanted bytes packed together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub at: usize,
    pub packed: usize,
    pub length: usize,
}

impl Window {
    /// Bytes of pieces in it.
    pub fn useful(self) -> u32 {
        let period = u64::from(self.transfer) + self.hole;
        let reach = u64::from(self.skip) + u64::from(self.length);
        let wanted =
            reach / period * u64::from(self.transfer) + (reach % period).min(u64::from(self.transfer));
        (wanted - u64::from(self.skip)) as u32
    }

    pub fn pieces(self) -> impl Iterator<Item = Piece> {
        let (mut at, mut packed, mut left) = (0, 0, (self.transfer - self.skip) as usize);
        std::iter::from_fn(move || {
            let rest = (self.length as usize).checked_sub(at).filter(|&rest| rest > 0)?;
            let piece = Piece { at, packed, length: left.min(rest) };
            packed += piece.length;
            at = (at as u64 + left as u64 + self.hole).min(u64::from(self.length)) as usize;
            left = self.transfer as usize;
            Some(piece)
        })
    }

    fn cut(self, length: u32) -> Self {
        Self { length, ..self }
    }
}

/// Do it: how many wanted bytes were moved, or minus the errno. `request.buffer` holds the wanted bytes packed
/// together, `request.mapped` the window. What system calls moved beyond the wanted bytes is added to `extra`.
pub fn execute<B: Backend>(backend: &mut B, request: &Request, window: Window, extra: &mut u64) -> i64 {
    if request.kind == Kind::Read {
        let got = move_window(backend, Kind::Read, request, window);
        if got < 0 {
            return got;
        }
        let window = window.cut(got as u32);
        copy(window, |piece| (request.mapped, piece.at, request.buffer, piece.packed));
        *extra += u64::from(window.length - window.useful());
        return window.useful().into();
    }
    if window.useful() == window.length {
        return backend.execute(request);
    }
    if B::REAL
        && let Err(errno) = lock(request.fd, libc::F_WRLCK, window)
    {
        return -errno;
    }
    let done = read_modify_write(backend, request, window, extra);
    if B::REAL
        && let Err(errno) = lock(request.fd, libc::F_UNLCK, window)
    {
        return -errno;
    }
    done
}

fn read_modify_write<B: Backend>(backend: &mut B, request: &Request, window: Window, extra: &mut u64) -> i64 {
    let got = move_window(backend, Kind::Read, request, window);
    if got < 0 {
        return got;
    }
    // What lies beyond the end of the file is zeros, as in any hole.
    // SAFETY: the window has `length` bytes, and no more were read.
    unsafe { request.mapped.add(got as usize).write_bytes(0, window.length as usize - got as usize) };
    copy(window, |piece| (request.buffer, piece.packed, request.mapped, piece.at));
    let put = move_window(backend, Kind::Write, request, window);
    if put < 0 {
        return put;
    }
    let window = window.cut(put as u32);
    *extra += got as u64 + u64::from(window.length - window.useful());
    window.useful().into()
}

fn move_window<B: Backend>(backend: &mut B, kind: Kind, request: &Request, window: Window) -> i64 {
    backend.execute(&Request { kind, buffer: request.mapped, length: window.length, ..*request })
}

/// Copy every piece of the window: from (memory, place) to (memory, place).
fn copy(window: Window, places: impl Fn(Piece) -> (*mut u8, usize, *mut u8, usize)) {
    for piece in window.pieces() {
        let (from, from_at, to, to_at) = places(piece);
        // SAFETY: the worker's buffer has room for the packed bytes and, apart from them, for the window.
        unsafe { std::ptr::copy_nonoverlapping(from.add(from_at), to.add(to_at), piece.length) };
    }
}

/// Lock or unlock the window for all other openings of the file, on whatever node and thread: the lock belongs to the
/// opening and not to the process, so that threads exclude each other too.
fn lock(fd: RawFd, kind: libc::c_int, window: Window) -> Result<(), i64> {
    // SAFETY: all-zero is a valid flock, and it is valid for the call.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    (lock.l_start, lock.l_len) = (window.offset as libc::off_t, window.length as libc::off_t);
    // SAFETY: as above.
    while unsafe { libc::fcntl(fd, libc::F_OFD_SETLKW, &lock) } < 0 {
        let errno = errno();
        if errno != i64::from(libc::EINTR) {
            return Err(errno);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sieve(base: u64, size: u64, transfer: u32, hole: u64, buffer: u32) -> Sieve {
        Sieve { range: Range { base, size, transfer }, hole, buffer }
    }

    #[test]
    fn windows_and_pieces_are_those_of_romio() {
        // Three pieces of 8 at 100, 120 and 140; a buffer of 24 ends in the second hole …
        let mut windows = Windows::new(sieve(100, 48, 8, 12, 24));
        let (first, second) = (windows.next(), windows.next());
        assert_eq!((first.offset, first.length, first.useful()), (100, 24, 12));
        let pieces: Vec<_> = first.pieces().map(|p| (p.at, p.packed, p.length)).collect();
        assert_eq!(pieces, [(0, 0, 8), (20, 8, 4)]);
        // … or in a piece, the rest of which begins the next window, which ends with the last piece.
        assert_eq!((second.offset, second.length, second.useful()), (124, 24, 12));
        let pieces: Vec<_> = second.pieces().map(|p| (p.at, p.packed, p.length)).collect();
        assert_eq!(pieces, [(0, 0, 4), (16, 4, 8)]);
        assert_eq!(windows.next(), first);
    }

    #[test]
    fn every_wanted_byte_is_in_one_window_once() {
        for transfer in 1..7u32 {
            for hole in 0..7u64 {
                for buffer in 1..20u32 {
                    for size in u64::from(transfer)..40 {
                        let sieve = sieve(1000, size, transfer, hole, buffer);
                        let mut walk = Windows::new(sieve);
                        let mut seen = Vec::new();
                        for _ in 0..sieve.windows() {
                            let window = walk.next();
                            let pieces: Vec<_> = window.pieces().collect();
                            assert!(window.length <= buffer && pieces[0].at == 0);
                            let useful: usize = pieces.iter().map(|piece| piece.length).sum();
                            assert_eq!(useful, window.useful() as usize);
                            for piece in pieces {
                                let start = window.offset + piece.at as u64;
                                seen.extend(start..start + piece.length as u64);
                            }
                        }
                        let pieces = (size - u64::from(transfer)) / (u64::from(transfer) + hole) + 1;
                        let start = |piece| 1000 + piece * (u64::from(transfer) + hole);
                        let wanted: Vec<u64> = (0..pieces)
                            .flat_map(|piece| start(piece)..start(piece) + u64::from(transfer))
                            .collect();
                        assert_eq!(seen, wanted, "{sieve:?}");
                    }
                }
            }
        }
    }
}
