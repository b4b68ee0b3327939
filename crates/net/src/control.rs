//! What nodes tell each other besides messages: who has opened a connection, who leaves; and the thread that hears it, or that a node has died.
//!
//! Each two nodes share a socket without a name, which nobody else can reach. Its end is how a node's death is noticed, whatever it died of: the system
//! closes what a process had open.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSlice, IoSliceMut, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// Descriptors that one frame can carry: the system allows 253.
pub(crate) const FILES_MAX: usize = 128;
/// Words of a frame.
const WORDS: usize = 6;

/// One thing that a node tells another, and descriptors that go with it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// What it is about: one of the constants below.
    pub(crate) kind: u64,
    pub(crate) words: [u64; WORDS - 1],
    pub(crate) files: Vec<OwnedFd>,
}

/// The first node to one that it has started: who it is.
pub(crate) const WELCOME: u64 = 1;
/// Some of the files that it needs follow.
pub(crate) const FILES: u64 = 2;
/// A connection was opened for whom this is sent to: its number, its key, and where the window lies in the file.
pub(crate) const OFFER: u64 = 3;
/// The node leaves, and its end is no death.
pub(crate) const LEAVE: u64 = 4;

/// The two ends of a control socket.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = SocketFlags::CLOEXEC;
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// Sends a frame, whole.
pub(crate) fn send(
    socket: impl AsFd,
    kind: u64,
    words: [u64; WORDS - 1],
    files: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    let mut bytes = kind.to_ne_bytes().to_vec();
    bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(files));
        assert!(
            fits,
            "{} files at once; expected at most {FILES_MAX}",
            files.len()
        );
    }
    // A peer that is gone is an error here, and no signal.
    let flags = SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(&bytes)], &mut ancillary, flags))?;
    Ok(())
}

/// Receives a frame; none at the end of the socket, which is that of the peer.
///
/// # Errors
/// `EBADMSG` for bytes that are no frame.
pub(crate) fn receive(socket: impl AsFd) -> Result<Option<Frame>, Errno> {
    let mut bytes = [0; 8 * WORDS];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = retry_on_intr(|| {
        let mut into = [IoSliceMut::new(&mut bytes)];
        recvmsg(&socket, &mut into, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut files = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(found) = message {
            files.extend(found);
        }
    }
    match received.bytes {
        0 => Ok(None),
        found if found == bytes.len() => {
            let word = |index: usize| {
                u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * index + byte]))
            };
            Ok(Some(Frame {
                kind: word(0),
                words: std::array::from_fn(|index| word(index + 1)),
                files,
            }))
        }
        _ => Err(Errno::BADMSG),
    }
}

/// Waits until one of `sockets` has something to say or has ended, or for `limit`; returns which.
pub(crate) fn wait(
    sockets: &[BorrowedFd<'_>],
    limit: Option<Duration>,
) -> Result<Vec<usize>, Errno> {
    let limit = limit.map(|limit| Timespec {
        tv_sec: limit.as_secs().cast_signed(),
        tv_nsec: limit.subsec_nanos().into(),
    });
    let mut polled: Vec<_> = sockets
        .iter()
        .map(|socket| PollFd::from_borrowed_fd(*socket, PollFlags::IN))
        .collect();
    retry_on_intr(|| poll(&mut polled, limit.as_ref()))?;
    let has_news = |&(_, polled): &(usize, &PollFd<'_>)| !polled.revents().is_empty();
    Ok(polled
        .iter()
        .enumerate()
        .filter(has_news)
        .map(|(index, _)| index)
        .collect())
}
