//! A socket at which the user of a process asks how its runtimes are doing: for `raddle top`.
//!
//! `RADDLE_MONITOR=on` opens it with the first runtime of a process, as `PID.sock` in a
//! [folder] that only its owner can enter. A program that connects gets one
//! [`ProcessSnapshot`] as a line of JSON, and the end of the stream. So a slow or stopped client
//! costs the process nothing but a thread that waits for at most [`ANSWER_TIME`].
//!
//! The process has one thread more, which sleeps until a client connects. Counters are read; the
//! workers are not interrupted. A snapshot of 16 workers costs about 50 us on that thread.
//!
//! # Files
//! The end of the process removes its socket. One that is left by a process that was killed is
//! removed by [`sockets`], which every client calls. A process that fork(2) has made has no socket.

use std::env;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::exit::call_at_exit;
use raddle_sync::prim::count_forks;
use thiserror::Error;

use crate::process::{self, VariableError};
use crate::snapshot::ProcessSnapshot;
use crate::{is_forked, sources};

/// The environment variable that opens the socket.
pub const VARIABLE: &str = "RADDLE_MONITOR";

/// The time that a client has to take an answer, and a process to give one.
pub const ANSWER_TIME: Duration = Duration::from_secs(1);

/// The bits of a folder's mode for other users.
const OTHERS: u32 = 0o077;

/// A failure to open the socket, or to find the sockets of other processes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// The variable has a value that it cannot have.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// The socket or its folder cannot be made or read.
    #[error("{VARIABLE}: {}: {source}", path.display())]
    File {
        /// The socket or its folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Other users can enter the folder, or it belongs to one.
    #[error(
        "{VARIABLE}: {}: found mode {mode:o} and owner {owner}; expected a folder that only user \
         {user} can enter (mode 700)", path.display()
    )]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Its owner.
        owner: u32,
        /// This user.
        user: u32,
    },
}

/// The socket of this process, once it is open.
static OPEN: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Returns the folder with the sockets of this user: `raddle` in `XDG_RUNTIME_DIR`, or `raddle-UID`
/// in the folder for temporary files.
#[must_use]
pub fn folder() -> PathBuf {
    let of_user = env::var_os("XDG_RUNTIME_DIR")
        .filter(|path| Path::new(path).is_absolute() && Path::new(path).is_dir());
    match of_user {
        Some(path) => Path::new(&path).join("raddle"),
        None => env::temp_dir().join(format!("raddle-{}", user())),
    }
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Opens the socket of this process if `RADDLE_MONITOR` asks for it and it is not open.
///
/// # Errors
/// If the value of the variable is unknown, or the socket cannot be opened.
pub fn begin_from_environment() -> Result<(), MonitorError> {
    match process::switch(VARIABLE)? {
        Some(true) if !is_forked() => begin(),
        _ => Ok(()),
    }
}

fn begin() -> Result<(), MonitorError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if open.is_some() {
        return Ok(());
    }
    let folder = folder();
    ensure_private(&folder)?;
    let path = folder.join(format!("{}.sock", std::process::id()));
    // A socket refuses connections until its owner listens, and looks abandoned: it gets its name
    // afterwards.
    let hidden = folder.join(format!(".{}", std::process::id()));
    let failure = |source: io::Error| MonitorError::File {
        path: path.clone(),
        source,
    };
    remove(&hidden).map_err(failure)?;
    let listener = UnixListener::bind(&hidden).map_err(failure)?;
    fs::rename(&hidden, &path).map_err(failure)?;
    count_forks();
    let began = Instant::now();
    let serve = move || serve(&listener, began);
    let thread = thread::Builder::new().name("raddle-monitor".to_owned());
    thread.spawn(serve).map_err(failure)?;
    call_at_exit(end);
    *open = Some(path);
    Ok(())
}

/// Removes the socket of this process.
fn end() {
    if is_forked() {
        return;
    }
    let path = OPEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(path) = path {
        // A client may have removed it, and nothing else depends on it.
        let _gone = fs::remove_file(path);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Ensures that a folder exists and that only this user can enter it.
fn ensure_private(folder: &Path) -> Result<(), MonitorError> {
    let failure = |source: io::Error| MonitorError::File {
        path: folder.to_owned(),
        source,
    };
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failure(error)),
        _ => expect_private(folder),
    }
}

fn expect_private(folder: &Path) -> Result<(), MonitorError> {
    let found = fs::symlink_metadata(folder).map_err(|source| MonitorError::File {
        path: folder.to_owned(),
        source,
    })?;
    let (mode, owner, user) = (found.mode() & 0o7777, found.uid(), user());
    if found.is_dir() && mode & OTHERS == 0 && owner == user {
        return Ok(());
    }
    Err(MonitorError::Open {
        path: folder.to_owned(),
        mode,
        owner,
        user,
    })
}

/// Answers each client, for the rest of the process.
fn serve(listener: &UnixListener, began: Instant) {
    loop {
        match listener.accept() {
            // A client that goes away early needs no answer.
            Ok((client, _)) => drop(answer(client, began)),
            // For example, too many files are open: they may be closed later.
            Err(_) => thread::sleep(ANSWER_TIME),
        }
    }
}

fn answer(mut client: UnixStream, began: Instant) -> io::Result<()> {
    client.set_write_timeout(Some(ANSWER_TIME))?;
    let (_, mut text) = process::fact("", &snapshot(began));
    text.push('\n');
    client.write_all(text.as_bytes())
}

fn snapshot(began: Instant) -> ProcessSnapshot {
    let node = process::node();
    let runtimes = sources::all();
    let runtimes = runtimes.iter().map(|runtime| {
        let snapshot = runtime.snapshot();
        let under_way = sources::messages_under_way(snapshot.number);
        snapshot.with_messages(under_way)
    });
    ProcessSnapshot {
        process: std::process::id(),
        command: process::command(),
        node: node.map_or(0, |node| node.node),
        node_count: node.map_or(1, |node| node.node_count),
        age_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        runtimes: runtimes.collect(),
    }
}

/// The socket of a process of this user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Socket {
    /// The number of the process, as it sees it itself.
    pub process: u32,
    /// The socket.
    pub path: PathBuf,
}

/// Returns the open sockets of this user, by process. Removes those of processes that have ended.
///
/// # Errors
/// If the folder cannot be read, or other users can enter it. No folder is no error.
pub fn sockets() -> Result<Vec<Socket>, MonitorError> {
    let folder = folder();
    let failure = |source: io::Error| MonitorError::File {
        path: folder.clone(),
        source,
    };
    let files = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files.map_err(failure)?,
    };
    expect_private(&folder)?;
    let mut sockets = Vec::new();
    for file in files {
        let path = file.map_err(failure)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let process = name.and_then(|name| name.strip_suffix(".sock")?.parse().ok());
        let Some(process) = process else { continue };
        match UnixStream::connect(&path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // Another client may be faster.
                let _gone = fs::remove_file(&path);
            }
            _ => sockets.push(Socket { process, path }),
        }
    }
    sockets.sort();
    Ok(sockets)
}

impl Socket {
    /// Asks the process for a snapshot, and returns the JSON of a [`ProcessSnapshot`].
    ///
    /// # Errors
    /// Those of the socket, of kind [`TimedOut`](io::ErrorKind::TimedOut) if the process does not
    /// answer: it may be stopped.
    pub fn ask(&self) -> io::Result<String> {
        use std::io::Read;
        let mut stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(ANSWER_TIME))?;
        let mut text = String::new();
        match stream.read_to_string(&mut text) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::ErrorKind::TimedOut.into())
            }
            Err(error) => Err(error),
            Ok(_) => Ok(text),
        }
    }
}
