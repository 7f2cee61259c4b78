//! An open directory: what the server said of it that the kernel has not taken yet.

use std::collections::VecDeque;

use fuser::Errno;
use nfs3_types::nfs3::{NFS_PROGRAM, READDIRPLUS3args, READDIRPLUS3resok, cookieverf3, entryplus3, nfs_fh3};

use crate::rpc::Caller;
use crate::server::Server;

const NAMES_BYTES: u32 = 16 << 10;
const MOST_BYTES: u32 = 64 << 10;

/// One that is being read.
#[derive(Default)]
pub struct Listing {
    /// Where `entries` begin, in the server's count.
    at: u64,
    verifier: cookieverf3,
    entries: VecDeque<entryplus3<'static>>,
    ended: bool,
}

impl Listing {
    /// The entry after `at`; `None`: there is no more. It stays until it is taken.
    pub fn next(
        &mut self,
        server: &Server,
        caller: Caller,
        directory: &nfs_fh3,
        at: u64,
    ) -> Result<Option<&entryplus3<'static>>, Errno> {
        if at != self.at {
            *self = Self {
                at,
                verifier: if at == 0 { cookieverf3::default() } else { self.verifier },
                ..Self::default()
            };
        }
        while self.entries.is_empty() && !self.ended {
            let args = READDIRPLUS3args {
                dir: directory.clone(),
                cookie: self.at,
                cookieverf: self.verifier,
                dircount: NAMES_BYTES,
                maxcount: MOST_BYTES,
            };
            let found: READDIRPLUS3resok<'static> =
                server.call(caller, NFS_PROGRAM::NFSPROC3_READDIRPLUS, &args)?;
            self.verifier = found.cookieverf;
            self.ended = found.reply.eof;
            self.entries = found.reply.entries.into_inner().into();
            if self.entries.is_empty() && !self.ended {
                return Err(Errno::EIO); // neither an entry nor the end
            }
        }
        Ok(self.entries.front())
    }

    /// The kernel has the one that `next` gave; where the one after it is.
    pub fn take(&mut self) -> u64 {
        if let Some(entry) = self.entries.pop_front() {
            self.at = entry.cookie;
        }
        self.at
    }

    /// The directory is read from its beginning: what was said before may be old.
    pub fn rewind(&mut self) {
        *self = Self::default();
    }
}
