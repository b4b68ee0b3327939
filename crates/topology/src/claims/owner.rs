//! Which names of sockets the processes of a user have bound.
//!
//! The kernel lets every process bind every abstract name, and does not tell for a datagram socket
//! who did. But a process is of its user, and only the user itself (and root) sees the files that
//! it has open. So a name is ours if its socket, which `/proc/net/unix` has the number of, is open
//! in a process whose user numbers all are ours: a program that runs as us for another user, by its
//! set-user-ID bit, has that user's number as well, and may have been lent the socket.
//!
//! Processes of other namespaces are not seen, and neither are their claims.
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

/// Returns the CPUs whose names are bound by processes of `user`.
///
/// `root` is where `/proc` is looked for: `/`, or a made-up tree in a test. A process that ends
/// meanwhile, or does not show its files, has none.
///
/// # Errors
/// Where the names in use or the processes cannot be listed at all.
pub(super) fn bound_by(root: &Path, user: u32, names: &[(CpuId, String)]) -> io::Result<CpuSet> {
    let process_root = root.join("proc");
    let table = fs::read(process_root.join("net/unix"))?;
    let mut wanted: Vec<(CpuId, String)> = names
        .iter()
        .filter_map(|(cpu, name)| Some((*cpu, format!("socket:[{}]", inode_of(&table, name)?))))
        .collect();
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

/// Finds the number of the socket that is bound to an abstract name.
fn inode_of(table: &[u8], name: &str) -> Option<u64> {
    let lines = table.split(|&byte| byte == b'\n');
    lines.into_iter().find_map(|line| {
        let text = String::from_utf8_lossy(line);
        let mut rest = text.as_ref();
        let mut inode = None;
        // Seven columns, some of them padded, then the name behind one blank.
        for column in 0..7 {
            let word;
            (word, rest) = rest.trim_start().split_once(' ')?;
            inode = (column == 6).then(|| word.parse().ok()).flatten();
        }
        // The kernel writes '@' for the zero that an abstract name begins with.
        inode.filter(|_| rest.strip_prefix('@') == Some(name))
    })
}

/// Tells whether a process is one of the user alone.
fn is_of(process: &Path, user: u32) -> bool {
    // Most processes are ruled out by this, which is quicker.
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
