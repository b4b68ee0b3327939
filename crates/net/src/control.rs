//! What nodes tell each other besides messages: who has opened a connection, who leaves; and the thread that hears it, or that a node has died.
//!
//! Each two nodes share a socket without a name, which nobody else can reach. Its end is how a node's death is noticed, whatever it died of: the system
//! closes what a process had open. Nodes that MPI has started on several machines have none from one to the next: what they tell each other are messages of MPI.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(feature = "mpi")]
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
#[cfg(feature = "mpi")]
use crate::transport::Ranks;

/// Descriptors that one frame can carry: the system allows 253.
pub(crate) const FILES_MAX: usize = 128;
/// Words of a frame.
pub(crate) const WORDS: usize = 6;
/// Its bytes.
pub(crate) const FRAME_BYTES: usize = 8 * WORDS;

/// One thing that a node tells another, and descriptors that go with it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// What it is about: one of the constants below.
    pub(crate) kind: u64,
    pub(crate) words: [u64; WORDS - 1],
    pub(crate) files: Vec<OwnedFd>,
    /// More descriptors were sent than this process may have open.
    pub(crate) lacks_files: bool,
}

/// The first node to one that it has started: who it is.
pub(crate) const WELCOME: u64 = 1;
/// Some of the files that it needs follow.
pub(crate) const FILES: u64 = 2;
/// A connection was opened for whom this is sent to: its number, its key, and where the window lies in the file.
pub(crate) const OFFER: u64 = 3;
/// The node leaves, and its end is no death: how many packets the other was sent, where no end of a socket says that these were all.
pub(crate) const LEAVE: u64 = 4;
/// A connection is closed for the node that this is sent to: its number and its key. The answer is [`CLOSED`].
pub(crate) const CLOSE: u64 = 5;
/// Nothing is put by that connection any more.
pub(crate) const CLOSED: u64 = 6;
/// Asks for an [`ALIVE`].
pub(crate) const ASK: u64 = 7;
/// The node runs.
pub(crate) const ALIVE: u64 = 8;

impl Frame {
    /// The bytes of a frame.
    pub(crate) fn write(kind: u64, words: [u64; WORDS - 1]) -> [u8; FRAME_BYTES] {
        let mut bytes = [0; FRAME_BYTES];
        let places = bytes.as_chunks_mut().0.iter_mut();
        for (place, word) in places.zip([kind].into_iter().chain(words)) {
            *place = word.to_ne_bytes();
        }
        bytes
    }

    /// The frame that `bytes` are.
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

/// The ways by which a node tells others what is no message.
#[derive(Debug)]
pub(crate) struct Controls {
    /// By node; none to itself, and to those on other machines.
    sockets: Vec<Option<OwnedFd>>,
    /// The processes that MPI has started, if it has.
    #[cfg(feature = "mpi")]
    ranks: Option<Arc<Ranks>>,
}

impl Controls {
    pub(crate) const fn by_sockets(sockets: Vec<Option<OwnedFd>>) -> Self {
        Self {
            sockets,
            #[cfg(feature = "mpi")]
            ranks: None,
        }
    }

    /// By sockets where there are any, to others by MPI.
    #[cfg(feature = "mpi")]
    pub(crate) const fn by_mpi(sockets: Vec<Option<OwnedFd>>, ranks: Arc<Ranks>) -> Self {
        Self {
            sockets,
            ranks: Some(ranks),
        }
    }

    /// The sockets, each with whom it is to.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = (NodeId, &OwnedFd)> {
        let nodes = (0..).map(NodeId);
        nodes
            .zip(&self.sockets)
            .filter_map(|(node, socket)| Some((node, socket.as_ref()?)))
    }

    /// Tells no more by sockets, whose ends are that of this node for the others.
    pub(crate) fn close(&self) {
        for (_, socket) in self.sockets() {
            // Of one that is gone nobody need know.
            let _ = shutdown(socket, Shutdown::Both);
        }
    }

    /// What one has told that has no socket to this node, if there is something.
    pub(crate) fn hear(&self) -> Option<(NodeId, Frame)> {
        #[cfg(feature = "mpi")]
        return self.ranks.as_ref()?.hear();
        #[cfg(not(feature = "mpi"))]
        None
    }

    /// Tells `node` no more, and does not hear it any more; whoever waits for room to tell it something has an error.
    pub(crate) fn close_to(&self, node: NodeId) {
        if let Some(Some(socket)) = self.sockets.get(usize::from(node.0)) {
            // As above.
            let _ = shutdown(socket, Shutdown::Both);
        }
    }

    /// Tells `node` something; waits for room.
    ///
    /// # Panics
    /// When there is no way to it.
    pub(crate) fn send(
        &self,
        node: NodeId,
        kind: u64,
        words: [u64; WORDS - 1],
        files: &[BorrowedFd<'_>],
    ) -> Result<(), Errno> {
        self.send_with(node, kind, words, files, SendFlags::empty())
    }

    /// The same, but where there is no room `EAGAIN` is returned.
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
        #[cfg(feature = "mpi")]
        if let Some(ranks) = &self.ranks {
            ranks.tell(node, Frame::write(kind, words));
            return Ok(());
        }
        panic!("there is no way to {node}");
    }
}

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
    // A peer that is gone is an error here, and no signal.
    let flags = flags | SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(&bytes)], &mut ancillary, flags))?;
    Ok(())
}

/// Receives a frame; none at the end of the socket, which is that of the peer.
///
/// # Errors
/// `EBADMSG` for bytes that are no frame.
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

/// Receives a frame if there is one, or that there will be none.
#[cfg(feature = "mpi")]
pub(crate) fn try_receive(socket: impl AsFd) -> Option<Result<Option<Frame>, Errno>> {
    let ready = wait(&[socket.as_fd()], Some(Duration::ZERO));
    let is_ready = ready.is_ok_and(|ready| !ready.is_empty());
    is_ready.then(|| receive(socket))
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
