//! The kinds of operation. The number is what a record holds, so the order is part of the store's schema:
//! new kinds go to the end.

use serde::Deserialize;

macro_rules! kinds {
    ($($variant:ident $name:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        #[repr(u8)]
        pub enum Kind { $($variant),+ }

        pub const NAMES: &[&str] = &[$($name),+];

        impl Kind {
            pub fn from_name(name: &str) -> Option<Kind> {
                match name { $($name => Some(Kind::$variant),)+ _ => None }
            }
        }
    };
}

kinds! {
    Create "create", Open "open", Close "close", Write "write", Read "read", Append "append",
    MmapWrite "mmap_write", MmapRead "mmap_read", Stat "stat", Readdir "readdir", Rename "rename",
    Truncate "truncate", Unlink "unlink", Mkdir "mkdir", Rmdir "rmdir", Fsync "fsync",
    Fdatasync "fdatasync", Dontneed "dontneed", Compute "compute",
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Kind::from_name(&name).ok_or_else(|| format!("no kind {name:?}; there are {}, mix", NAMES.join(", ")))
    }
}

impl Kind {
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Moves bytes: has a transfer size and patterns.
    pub fn is_data(self) -> bool {
        use Kind::*;
        matches!(self, Write | Read | Append | MmapWrite | MmapRead)
    }

    pub fn is_mmap(self) -> bool {
        matches!(self, Kind::MmapWrite | Kind::MmapRead)
    }

    /// Puts the content of the worker's buffer into the file.
    pub fn puts_content(self) -> bool {
        matches!(self, Kind::Write | Kind::Append | Kind::MmapWrite)
    }

    /// Needs the file opened for writing.
    pub fn modifies(self) -> bool {
        self.puts_content() || self == Kind::Truncate
    }

    /// Works on an open file rather than on a name.
    pub fn needs_file(self) -> bool {
        use Kind::*;
        self.is_data() || matches!(self, Truncate | Fsync | Fdatasync | Dontneed)
    }

    /// May be in flight together with others of its step (io_uring).
    pub fn can_queue(self) -> bool {
        matches!(self, Kind::Write | Kind::Read)
    }
}
