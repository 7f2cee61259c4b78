//! `iosonde-nfs-mount HOST:/EXPORT DIRECTORY`: an NFSv3 client by FUSE, where the kernel has none.

mod attributes;
mod filesystem;
mod listing;
mod nodes;
mod options;
mod rpc;
mod server;
mod write_behind;

use std::ffi::CString;
use std::fs;
use std::io::{Error, Read, Result, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use fuser::{Config, MountOption, Session, SessionACL};

use crate::filesystem::FileSystem;
use crate::options::{Options, USAGE};
use crate::server::Server;

/// Requests of programs that can wait for the server at once.
const THREADS: usize = 16;
/// The kernel asks for so many READs ahead of a program that reads a file from its beginning.
const READS_AHEAD: u32 = 4;
const MOUNTED: &str = "mounted";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "-h" || word == "--help") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let done = Options::parse(words)
        .and_then(|options| if options.foreground { mount(&options, || {}) } else { mount_behind(&options) });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("iosonde-nfs-mount: {}", error.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// Mount, say so, and serve until it is unmounted.
fn mount(options: &Options, say_mounted: impl FnOnce()) -> std::result::Result<(), String> {
    let server = Server::connect(options)?;
    let ahead_kib = READS_AHEAD * server.read_bytes / 1024;
    let file_system = FileSystem::new(server, options)?;
    let notifier = file_system.notifier();
    let session = mounted(file_system, options).map_err(|error| format!("{}: {error}", options.directory))?;
    let _ = notifier.set(session.notifier());
    let serving = session.spawn().map_err(|error| error.to_string())?;
    read_ahead(&options.directory, ahead_kib).map_err(|error| format!("{}: {error}", options.directory))?;
    say_mounted();
    serving.join().map_err(|error| error.to_string())
}

fn mounted(file_system: FileSystem, options: &Options) -> Result<Session<FileSystem>> {
    let mut config = Config::default();
    config.n_threads = Some(THREADS);
    // The crate would mount with the type `fuse`; with its subtype it is seen to be a network mount.
    if unsafe { libc::geteuid() } == 0 {
        let device = fs::OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
        mount_by_root(options, device.as_raw_fd())?;
        return Session::from_fd(file_system, device.into(), SessionACL::All, config);
    }
    config.mount_options = vec![
        MountOption::FSName(options.source.clone()),
        MountOption::Subtype(options.subtype.clone()),
        MountOption::DefaultPermissions,
        if options.read_only { MountOption::RO } else { MountOption::RW },
    ];
    Session::new(file_system, &options.directory, &config)
}

fn mount_by_root(options: &Options, device: i32) -> Result<()> {
    let said = format!("fd={device},rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other");
    let [source, directory, kind, said] =
        [options.source.as_str(), &options.directory, &format!("fuse.{}", options.subtype), &said]
            .map(CString::new);
    let (source, directory, kind, said) = (source?, directory?, kind?, said?);
    let flags = libc::MS_NOSUID | libc::MS_NODEV | if options.read_only { libc::MS_RDONLY } else { 0 };
    let done = unsafe {
        libc::mount(source.as_ptr(), directory.as_ptr(), kind.as_ptr(), flags, said.as_ptr().cast())
    };
    if done == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Let the kernel read further ahead than its 128 KiB. Only root can: others do without.
fn read_ahead(directory: &str, kib: u32) -> Result<()> {
    let device = fs::metadata(directory)?.dev();
    let knob = format!("/sys/class/bdi/{}:{}/read_ahead_kb", libc::major(device), libc::minor(device));
    let _ = fs::write(knob, kib.to_string());
    Ok(())
}

/// The same in a process that stays when this one ends, which it does once the export is mounted.
fn mount_behind(options: &Options) -> std::result::Result<(), String> {
    let (mut told, mut teller) = UnixStream::pair().map_err(|error| error.to_string())?;
    // Safe: there is one thread yet.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last_os_error().to_string()),
        0 => {
            drop(told);
            unsafe { libc::setsid() };
            let result = mount(options, || {
                let _ = teller.write_all(MOUNTED.as_bytes());
                let _ = teller.shutdown(std::net::Shutdown::Both);
                detach();
            });
            if let Err(error) = result {
                let _ = teller.write_all(error.as_bytes());
                std::process::exit(1);
            }
            std::process::exit(0)
        }
        _ => {
            drop(teller);
            let mut said = String::new();
            told.read_to_string(&mut said).map_err(|error| error.to_string())?;
            match said.as_str() {
                MOUNTED => Ok(()),
                "" => Err("it ended before it had mounted anything".into()),
                _ => Err(said),
            }
        }
    }
}

/// Leave the directory and the terminal of whoever started this.
fn detach() {
    let _ = std::env::set_current_dir("/");
    if let Ok(null) = fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        for stream in 0..3 {
            unsafe { libc::dup2(null.as_raw_fd(), stream) };
        }
    }
}
