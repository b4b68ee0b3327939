//! The last word of a node that the first one has started: why it fails.
//!
//! The first node says it, and the node itself is silent: a program on several nodes has one error
//! line. The word goes by the socket that is the node's standard input at its start. The first node
//! reads it when the process has ended.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::io::{Errno, fcntl_dupfd_cloexec, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// A longer word is cut.
const BYTES_MAX: usize = 4096;

/// The socket to the first node, kept when standard input becomes empty.
static FIRST: OnceLock<OwnedFd> = OnceLock::new();

/// Keeps the way to the first node, which `socket` is.
pub(super) fn keep(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let socket = fcntl_dupfd_cloexec(socket, 0)?;
    // A process is started as one node, so there is one way.
    let _ = FIRST.set(socket);
    Ok(())
}

/// Tells the first node why this one fails. Returns false if it does not hear that.
pub(super) fn tell(why: &str) -> bool {
    let bytes = &why.as_bytes()[..why.floor_char_boundary(BYTES_MAX)];
    let socket = match FIRST.get() {
        Some(socket) => socket.as_fd(),
        None => rustix::stdio::stdin(),
    };
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    !bytes.is_empty() && retry_on_intr(|| send(socket, bytes, flags)).is_ok()
}

/// Reads what the node at the other end of `socket` has told, if it has told something.
pub(super) fn hear(socket: &OwnedFd) -> Option<String> {
    let mut bytes = [0; BYTES_MAX];
    let heard = retry_on_intr(|| recv(socket, &mut bytes[..], RecvFlags::DONTWAIT));
    let (byte_count, _) = heard.ok()?;
    let why = String::from_utf8_lossy(&bytes[..byte_count]);
    (!why.is_empty()).then(|| why.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control;

    /// The only test that tells: the way to the first node is one of the whole process.
    #[test]
    fn words_are_cut_read_once_and_refused_after_the_end() {
        let (first, own) = control::pair().expect("two sockets");
        assert_eq!(hear(&first), None, "nothing was told");
        keep(own.as_fd()).expect("another descriptor");
        drop(own);
        assert!(!tell(""));
        // Two bytes each, and one before them: a limit lies within a character.
        let long = format!("a{}", "ä".repeat(BYTES_MAX));
        assert!(tell(&long));
        let heard = hear(&first).expect("it was told");
        assert_eq!(heard, long[..BYTES_MAX - 1]);
        assert_eq!(hear(&first), None, "it was read");
        drop(first);
        assert!(!tell("nobody listens"));
    }
}
