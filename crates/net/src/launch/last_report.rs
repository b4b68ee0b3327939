//! The last report of a node that the first one has started: why it fails.
//!
//! The first node prints the reason, and the failed node prints nothing, so that a program on
//! several nodes has one error line. The report uses the socket that is the node's standard input
//! at its start. The first node reads it when the process has ended.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, recv, send as send_bytes};

/// The largest number of bytes of a report. A longer one is cut off.
const BYTES_MAX: usize = 4096;

/// The socket to the first node, kept when standard input becomes empty.
static FIRST: OnceLock<OwnedFd> = OnceLock::new();

/// Keeps `socket`, which leads to the first node.
pub(super) fn keep(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let socket = fcntl_dupfd_cloexec(socket, 0)?;
    // A process is one node, so this is set once.
    let _ = FIRST.set(socket);
    Ok(())
}

/// Reports to the first node why this one fails. Returns false if the report cannot be sent.
pub(super) fn send(why: &str) -> bool {
    let bytes = &why.as_bytes()[..why.floor_char_boundary(BYTES_MAX)];
    let socket = match FIRST.get() {
        Some(socket) => socket.as_fd(),
        None => rustix::stdio::stdin(),
    };
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    !bytes.is_empty() && retry_on_intr(|| send_bytes(socket, bytes, flags)).is_ok()
}

/// Receives the report of the node at the other end of `socket`, if it has sent one.
pub(super) fn receive(socket: &OwnedFd) -> Option<String> {
    let mut bytes = [0; BYTES_MAX];
    let received = retry_on_intr(|| recv(socket, &mut bytes[..], RecvFlags::DONTWAIT));
    let (byte_count, _) = received.ok()?;
    let why = String::from_utf8_lossy(&bytes[..byte_count]);
    (!why.is_empty()).then(|| why.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control;

    // This is the only test that sends, because the socket to the first node belongs to the whole
    // process.
    #[test]
    fn reports_are_cut_read_once_and_refused_after_the_end() {
        let (first, own) = control::pair().expect("two sockets");
        assert_eq!(receive(&first), None, "nothing was sent");
        keep(own.as_fd()).expect("another descriptor");
        drop(own);
        assert!(!send(""));
        // Two bytes for each character, after a first byte, so that the limit lies in a character.
        let long = format!("a{}", "ä".repeat(BYTES_MAX));
        assert!(send(&long));
        let received = receive(&first).expect("it was sent");
        assert_eq!(received, long[..BYTES_MAX - 1]);
        assert_eq!(receive(&first), None, "it was read before");
        drop(first);
        assert!(!send("the other end is closed"));
    }
}
