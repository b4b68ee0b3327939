//! Finds the socket names that processes of one user have bound.
//!
//! The kernel lets every process bind every abstract name, and does not report which process has
//! bound the name of a datagram socket. But `/proc/net/unix` lists the inode of the socket, and the
//! open files of a process are visible to its user (and to root). So a name belongs to this user if
//! its socket is open in a process of this user. All user ids of the process must match. A program
//! that runs as this user on behalf of another one, by its set-user-ID bit, has the id of that
//! other user as well, and may have received the socket from it.
//!
//! Processes in other namespaces, and their claims, are not visible.
//!
//! # Source
//! `unix(7)`, section "Abstract sockets"; `proc_pid_net(5)`; `proc_pid_fd(5)`;
//! `proc_pid_status(5)`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::cpu_set::{CpuId, CpuSet};

/// Returns the CPUs of the names that processes of `user` have bound.
///
/// `root` is the folder that contains `/proc`: `/`, or a synthetic tree in a test. A process that
/// ends in the meantime, or does not show its files, counts as having none.
///
/// # Errors
/// Returns an error if the bound names or the processes cannot be listed at all.
pub(super) fn bound_by(root: &Path, user: u32, names: &[(CpuId, String)]) -> io::Result<CpuSet> {
    // Look up the socket of each name, in the form in which a process shows an open file.
    let process_root = root.join("proc");
    let table = fs::read(process_root.join("net/unix"))?;
    let mut wanted: Vec<(CpuId, String)> = names
        .iter()
        .filter_map(|(cpu, name)| Some((*cpu, format!("socket:[{}]", inode_of(&table, name)?))))
        .collect();
    // Search the open files of all processes of the user for these sockets.
    let mut bound = CpuSet::new();
    for process in fs::read_dir(process_root)? {
        if wanted.is_empty() {
            break;
        }
        let folder = process?.path();
        let is_number = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if !folder.file_name().is_some_and(is_number) || !is_of(&folder, user) {
            continue;
        }
        let Ok(files) = fs::read_dir(folder.join("fd")) else {
            continue;
        };
        let targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        for target in targets {
            wanted.retain(|(cpu, socket)| {
                let is_it = target.as_os_str() == socket.as_str();
                if is_it {
                    bound.insert(*cpu);
                }
                !is_it
            });
        }
    }
    Ok(bound)
}

/// Returns the inode of the socket that is bound to an abstract name.
///
/// `table` is the content of `/proc/net/unix`.
fn inode_of(table: &[u8], name: &str) -> Option<u64> {
    let lines = table.split(|&byte| byte == b'\n');
    lines.into_iter().find_map(|line| {
        let text = String::from_utf8_lossy(line);
        let mut rest = text.as_ref();
        let mut inode = None;
        // There are seven columns, some of them padded, then one blank and the name.
        for column in 0..7 {
            let word;
            (word, rest) = rest.trim_start().split_once(' ')?;
            inode = (column == 6).then(|| word.parse().ok()).flatten();
        }
        // The kernel writes '@' for the zero byte at the start of an abstract name.
        inode.filter(|_| rest.strip_prefix('@') == Some(name))
    })
}

/// Returns true if all user ids of a process are `user`.
fn is_of(process: &Path, user: u32) -> bool {
    // The owner of the folder is quicker to read, and rules out most processes.
    if fs::metadata(process).map(|folder| folder.uid()).ok() != Some(user) {
        return false;
    }
    let Ok(status) = fs::read_to_string(process.join("status")) else {
        return false;
    };
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    users.is_some_and(|users| {
        let mut users = users.split_ascii_whitespace();
        users.all(|number| number.parse() == Ok(user))
    })
}
