//! Control frames: what nodes report to each other besides messages, such as that a connection was
//! opened or that a node leaves.
//!
//! Each pair of nodes on one machine shares an unnamed socket, which no other process can reach.
//! The end of the socket reveals the death of a node, whatever its cause, because the system closes
//! all files of a process. Nodes on different machines have no such socket. Their transport
//! provides a [`Relay`], which carries the frames.

use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, IoSlice, IoSliceMut, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType,
    recvmsg, sendmsg, shutdown, socketpair,
};

use crate::address::NodeId;

/// The largest number of file descriptors in one frame. The system allows 253.
pub(crate) const FILES_MAX: usize = 128;
/// The number of words of a frame.
pub(crate) const WORDS: usize = 6;
/// The number of bytes of a frame.
pub(crate) const FRAME_BYTES: usize = 8 * WORDS;

/// A report of one node to another, and the file descriptors that go with it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The kind of report: one of the constants below.
    pub(crate) kind: u64,
    pub(crate) words: [u64; WORDS - 1],
    pub(crate) files: Vec<OwnedFd>,
    /// True if more descriptors were sent than this process may have open.
    pub(crate) lacks_files: bool,
}

/// Tells a node that the first node has started which node it is.
pub(crate) const WELCOME: u64 = 1;
/// Carries some of the files of a node.
pub(crate) const FILES: u64 = 2;
/// Reports that a connection was opened for the receiver of this frame. Carries its number, its
/// key, and the position of the window in the file.
pub(crate) const OFFER: u64 = 3;
/// Reports that the sender leaves, so that its end is not a death. Carries the number of packets
/// that it has sent to the receiver, if the transport counts them.
pub(crate) const LEAVE: u64 = 4;
/// Reports that a connection for the receiver of this frame is closed. Carries its number and its
/// key. The answer is [`CLOSED`].
pub(crate) const CLOSE: u64 = 5;
/// Reports that the sender of this frame puts nothing more by the closed connection.
pub(crate) const CLOSED: u64 = 6;
/// Asks for an [`ALIVE`] frame.
pub(crate) const ASK: u64 = 7;
/// Reports that the sender runs.
pub(crate) const ALIVE: u64 = 8;

impl Frame {
    /// Returns the bytes of a frame.
    pub(crate) fn write(kind: u64, words: [u64; WORDS - 1]) -> [u8; FRAME_BYTES] {
        let mut bytes = [0; FRAME_BYTES];
        let places = bytes.as_chunks_mut().0.iter_mut();
        for (place, word) in places.zip([kind].into_iter().chain(words)) {
            *place = word.to_ne_bytes();
        }
        bytes
    }

    /// Reads a frame from its bytes.
    pub(crate) fn read(bytes: &[u8; FRAME_BYTES], files: Vec<OwnedFd>) -> Self {
        let word =
            |index: usize| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * index + byte]));
        Self {
            kind: word(0),
            words: std::array::from_fn(|index| word(index + 1)),
            files,
            lacks_files: false,
        }
    }
}

/// Carries control frames between nodes that share no socket.
pub(crate) trait Relay: fmt::Debug + Send + Sync {
    /// Sends the bytes of a frame to `node`. Never waits.
    fn send(&self, node: NodeId, frame: [u8; FRAME_BYTES]);

    /// Receives a frame, if one has arrived.
    fn receive(&self) -> Option<(NodeId, Frame)>;
}

/// The paths by which a node sends control frames to the others.
#[derive(Debug)]
pub(crate) struct Controls {
    /// The socket to each node, by node number; `None` for this node, and for nodes on other
    /// machines.
    sockets: Vec<Option<OwnedFd>>,
    /// The transport of frames to the nodes without a socket, if there are any.
    relay: Option<Arc<dyn Relay>>,
}

impl Controls {
    /// Creates the paths: by a socket where there is one, and by the relay to the other nodes.
    pub(crate) const fn new(sockets: Vec<Option<OwnedFd>>, relay: Option<Arc<dyn Relay>>) -> Self {
        Self { sockets, relay }
    }

    /// Returns the sockets, each with the node at its other end.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = (NodeId, &OwnedFd)> {
        let nodes = (0..).map(NodeId);
        nodes
            .zip(&self.sockets)
            .filter_map(|(node, socket)| Some((node, socket.as_ref()?)))
    }

    /// Shuts all sockets down, so that this node has ended for the others.
    pub(crate) fn close(&self) {
        for (_, socket) in self.sockets() {
            // An error means that the other node is gone, which does not matter.
            let _ = shutdown(socket, Shutdown::Both);
        }
    }

    /// Receives a frame from a node without a socket, if one has arrived.
    pub(crate) fn receive_relayed(&self) -> Option<(NodeId, Frame)> {
        self.relay.as_ref()?.receive()
    }

    /// Shuts the socket to `node` down. A thread that waits for space to send to it gets an error.
    pub(crate) fn close_to(&self, node: NodeId) {
        if let Some(Some(socket)) = self.sockets.get(usize::from(node.0)) {
            // As in `close`.
            let _ = shutdown(socket, Shutdown::Both);
        }
    }

    /// Sends a frame to `node`, and waits until there is space for it.
    ///
    /// # Panics
    /// If there is neither a socket to it nor a relay.
    pub(crate) fn send(
        &self,
        node: NodeId,
        kind: u64,
        words: [u64; WORDS - 1],
        files: &[BorrowedFd<'_>],
    ) -> Result<(), Errno> {
        self.send_with(node, kind, words, files, SendFlags::empty())
    }

    /// Sends a frame to `node`, or returns `EAGAIN` if there is no space for it.
    pub(crate) fn try_send(
        &self,
        node: NodeId,
        kind: u64,
        words: [u64; WORDS - 1],
    ) -> Result<(), Errno> {
        self.send_with(node, kind, words, &[], SendFlags::DONTWAIT)
    }

    fn send_with(
        &self,
        node: NodeId,
        kind: u64,
        words: [u64; WORDS - 1],
        files: &[BorrowedFd<'_>],
        flags: SendFlags,
    ) -> Result<(), Errno> {
        if let Some(Some(socket)) = self.sockets.get(usize::from(node.0)) {
            return send_with(socket, kind, words, files, flags);
        }
        if let Some(relay) = &self.relay {
            relay.send(node, Frame::write(kind, words));
            return Ok(());
        }
        panic!("there is neither a socket nor a relay to {node}");
    }
}

/// Creates a control socket, and returns its two ends.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = SocketFlags::CLOEXEC;
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// Sends a frame as a whole.
pub(crate) fn send(
    socket: impl AsFd,
    kind: u64,
    words: [u64; WORDS - 1],
    files: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    send_with(socket, kind, words, files, SendFlags::empty())
}

fn send_with(
    socket: impl AsFd,
    kind: u64,
    words: [u64; WORDS - 1],
    files: &[BorrowedFd<'_>],
    flags: SendFlags,
) -> Result<(), Errno> {
    let bytes = Frame::write(kind, words);
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
    // A peer that is gone causes an error here, not a signal.
    let flags = flags | SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(&bytes)], &mut ancillary, flags))?;
    Ok(())
}

/// Receives a frame. Returns `None` at the end of the socket, which means that the peer has ended.
///
/// # Errors
/// `EBADMSG` for bytes that are not a frame.
pub(crate) fn receive(socket: impl AsFd) -> Result<Option<Frame>, Errno> {
    let mut bytes = [0; FRAME_BYTES];
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
        FRAME_BYTES => Ok(Some(Frame {
            lacks_files: received.flags.contains(ReturnFlags::CTRUNC),
            ..Frame::read(&bytes, files)
        })),
        _ => Err(Errno::BADMSG),
    }
}

/// Waits until one of `sockets` is readable or has ended, but no longer than `limit`. Returns the
/// indices of those sockets.
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
