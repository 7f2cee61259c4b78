//! The two ways in which a session can fail: the workload is not possible, or the system refused something.

use std::fmt;

#[derive(Debug)]
pub enum Error {
    /// The workload cannot be run as described; the text names the key.
    Workload(String),
    /// The system refused something outside the timed region: errno and the path it was about.
    Os { errno: i32, path: String },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The errno that the last failed call of this thread left.
    pub fn last_os(path: impl Into<String>) -> Self {
        Self::os(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO), path)
    }

    pub fn os(errno: i32, path: impl Into<String>) -> Self {
        Self::Os { errno, path: path.into() }
    }
}

/// That of this thread's last failed call.
#[cold]
pub fn errno() -> i64 {
    // SAFETY: the address of this thread's errno is always valid.
    i64::from(unsafe { *libc::__errno_location() })
}

/// What the system says about an errno ("No space left on device").
pub fn errno_text(errno: i32) -> String {
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Workload(text) => out.write_str(text),
            Error::Os { errno, path } => write!(out, "{path}: {}", errno_text(*errno)),
        }
    }
}
