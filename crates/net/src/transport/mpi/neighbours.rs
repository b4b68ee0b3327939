//! The processes on one machine, among those that MPI has started: how they come to share memory,
//! so that MPI transports only the messages to other machines.
//!
//! Each process listens at a socket in the abstract namespace. The others receive its name from
//! MPI. The name is not secret, because the system lists it. Each process connects to the processes
//! with lower node numbers, sends its region, and receives the other region. Each end sends the
//! other's secret, which only MPI has transported. A process that does not know the secret receives
//! nothing. The listening sockets are closed as soon as all have connected. What remains is a
//! socket between each pair, as between nodes that the first node has started.
//!
//! MPI transports the messages between two processes that do not connect: if they are on different
//! machines, if the system refuses something, or if the program asks for it. Both processes know
//! whether they share memory, because each tells all others which regions it has. A process waits
//! for others only in the exchanges of MPI, in which all processes take part, whatever they were
//! refused.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};

use super::ranks::Ranks;
use crate::address::{NodeId, PORTS_MAX, Shape};
use crate::control::{self, Frame};
use crate::error::NetError;
use crate::mapped::Region;
use crate::random::random;

/// The number of words of a name. All zeros mean that there is no name.
const NAME_WORDS: usize = 2;
/// The number of words of a secret.
const SECRET_WORDS: usize = 2;
/// The number of words that a process sends to all: its secret, and the name of its socket.
const WORDS: usize = SECRET_WORDS + NAME_WORDS;

/// The largest number of connections that wait to be accepted: the largest number of nodes.
const BACKLOG: i32 = PORTS_MAX as i32;

/// The things that this process shares with another one.
#[derive(Debug)]
pub(super) struct Neighbour {
    /// The socket to the other process, for control frames.
    pub(super) control: OwnedFd,
    pub(super) region: Arc<Region>,
}

/// The neighbours, by node.
type Neighbours = Vec<Option<Neighbour>>;

/// Shares memory with all processes with which that is possible. `region` is the region of this
/// process. If `is_apart` is true, it shares memory with no other. All processes have to call this.
pub(super) fn meet(ranks: &Ranks, shape: Shape, region: &OwnedFd, is_apart: bool) -> Neighbours {
    let listener = (!is_apart).then(|| Listener::open().ok()).flatten();
    let words = ranks.gather(&listener.as_ref().map_or([0; WORDS], Listener::words));
    let others = Others {
        shape,
        me: ranks.me(),
        words: &words,
    };
    let outgoing = match &listener {
        Some(_) => others.connect(region),
        None => Vec::new(),
    };
    // After this exchange, every process has connected.
    ranks.gather(&[0]);
    let mut neighbours = match &listener {
        Some(listener) => others.accept(listener, region),
        None => shape.node_ids().map(|_| None).collect(),
    };
    drop(listener);
    // After this exchange, every process that was accepted has been sent a region.
    ranks.gather(&[0]);
    for (node, control) in outgoing {
        let received = receive_files(&control).and_then(|frame| others.region_in(frame));
        let neighbour = received.map(|region| Neighbour { control, region });
        neighbours[usize::from(node.0)] = neighbour;
    }
    agree(ranks, &mut neighbours);
    neighbours
}

/// Keeps only the neighbours that also have this process as a neighbour.
fn agree(ranks: &Ranks, neighbours: &mut Neighbours) {
    let word_count = neighbours.len().div_ceil(64);
    let mut own = vec![0; word_count];
    for (node, _) in neighbours
        .iter()
        .enumerate()
        .filter(|(_, one)| one.is_some())
    {
        own[node / 64] |= 1_u64 << (node % 64);
    }
    let all = ranks.gather(&own);
    let me = usize::from(ranks.me().0);
    for (neighbour, theirs) in neighbours.iter_mut().zip(all.chunks_exact(word_count)) {
        if theirs[me / 64] >> (me % 64) & 1 == 0 {
            *neighbour = None;
        }
    }
}

/// A socket to which other processes of this machine connect.
struct Listener {
    socket: OwnedFd,
    name: [u64; NAME_WORDS],
    secret: [u64; SECRET_WORDS],
}

impl Listener {
    fn open() -> Result<Self, NetError> {
        let name = [random()?, random()?];
        let secret = [random()?, random()?];
        let open = || {
            let socket = endpoint()?;
            bind(&socket, &address(&name)?)?;
            listen(&socket, BACKLOG)?;
            Ok(socket)
        };
        let socket = open().map_err(NetError::system("a socket"))?;
        Ok(Self {
            socket,
            name,
            secret,
        })
    }

    /// Returns the words that the other processes receive.
    fn words(&self) -> [u64; WORDS] {
        let ([secret, rest], [name, last]) = (self.secret, self.name);
        [secret, rest, name, last]
    }
}

/// Creates a non-blocking socket.
fn endpoint() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

fn address(name: &[u64]) -> Result<SocketAddrUnix, Errno> {
    let words = name.iter().map(|word| format!("{word:016x}"));
    SocketAddrUnix::new_abstract_name(format!("raddle-{}", words.collect::<String>()).as_bytes())
}

/// All processes, by the words that they have sent.
struct Others<'a> {
    shape: Shape,
    me: NodeId,
    words: &'a [u64],
}

impl Others<'_> {
    /// Connects to the processes of all nodes before this one, and sends them `region`.
    fn connect(&self, region: &OwnedFd) -> Vec<(NodeId, OwnedFd)> {
        let before = self.shape.node_ids().take_while(|&node| node < self.me);
        let connect_to = |node: NodeId| {
            let (_, name) = self.secret_and_name(node);
            if name.iter().all(|&word| word == 0) {
                return None;
            }
            let socket = endpoint().ok()?;
            connect(&socket, &address(name).ok()?).ok()?;
            // Later sends by this socket wait for space.
            ioctl_fionbio(&socket, false).ok()?;
            self.send_region(node, &socket, region)?;
            Some((node, socket))
        };
        before.filter_map(connect_to).collect()
    }

    /// Accepts all processes that have connected, and sends them `region`.
    fn accept(&self, listener: &Listener, region: &OwnedFd) -> Neighbours {
        let mut neighbours: Neighbours = self.shape.node_ids().map(|_| None).collect();
        // All other nodes have connected, and no more connections than these can be waiting. So
        // this ends, however many other processes connect in the meantime.
        for _ in 0..=BACKLOG {
            let control = match accept_with(&listener.socket, SocketFlags::CLOEXEC) {
                Ok(control) => control,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(_) => break,
            };
            let exchange = || {
                let frame = receive_files(&control)?;
                let mut after = self.shape.node_ids().skip_while(|&node| node <= self.me);
                let node = after.find(|node| u64::from(node.0) == frame.words[0])?;
                let theirs = self.region_in(frame)?;
                self.send_region(node, &control, region)?;
                Some((node, theirs))
            };
            if let Some((node, region)) = exchange() {
                neighbours[usize::from(node.0)] = Some(Neighbour { control, region });
            }
        }
        neighbours
    }

    /// Sends this process's region to `node`, along with that node's secret.
    fn send_region(&self, node: NodeId, to: &OwnedFd, region: &OwnedFd) -> Option<()> {
        let (secret, _) = self.secret_and_name(node);
        let words = [self.me.0.into(), secret[0], secret[1], 0, 0];
        control::send(to, control::FILES, words, &[region.as_fd()]).ok()
    }

    /// Maps the region in a frame, if its sender knows this process's secret.
    fn region_in(&self, frame: Frame) -> Option<Arc<Region>> {
        let (secret, _) = self.secret_and_name(self.me);
        if frame.words[1..=SECRET_WORDS] != *secret {
            return None;
        }
        let file = frame.files.into_iter().next()?;
        let region = Region::open(file, self.shape).ok()?;
        Some(Arc::new(region))
    }

    /// Returns the secret of a node, and the name of its socket.
    fn secret_and_name(&self, node: NodeId) -> (&[u64], &[u64]) {
        let at = usize::from(node.0) * WORDS;
        self.words[at..at + WORDS].split_at(SECRET_WORDS)
    }
}

/// Receives a frame if one has arrived, or `Ok(None)` if the other end is closed.
pub(super) fn try_receive(socket: &OwnedFd) -> Option<Result<Option<Frame>, Errno>> {
    let ready = control::wait(&[socket.as_fd()], Some(Duration::ZERO));
    let is_ready = ready.is_ok_and(|ready| !ready.is_empty());
    is_ready.then(|| control::receive(socket))
}

/// Receives a frame of files, if one has arrived.
fn receive_files(socket: &OwnedFd) -> Option<Frame> {
    let frame = try_receive(socket)?.ok()??;
    (frame.kind == control::FILES).then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { nodes: 3, ports: 1 };

    /// Returns the sockets of two nodes, and the words of three.
    fn listeners() -> ([Listener; 2], Vec<u64>) {
        let listeners = [Listener::open(), Listener::open()];
        let listeners = listeners.map(|listener| listener.expect("a socket"));
        let words = [listeners[0].words(), listeners[1].words(), [0; WORDS]].concat();
        (listeners, words)
    }

    fn others(words: &[u64], me: u16) -> Others<'_> {
        Others {
            shape: SHAPE,
            me: NodeId(me),
            words,
        }
    }

    fn region() -> OwnedFd {
        Region::create(SHAPE).expect("memory")
    }

    #[test]
    fn two_connected_processes_have_each_others_memory() {
        let (listeners, words) = listeners();
        let regions = [region(), region()];
        let (first, second) = (others(&words, 0), others(&words, 1));
        let mut outgoing = second.connect(&regions[1]);
        let (to, socket) = outgoing.pop().expect("node 0 listens");
        assert_eq!((to, outgoing.len()), (NodeId(0), 0));
        assert!(receive_files(&socket).is_none(), "not accepted yet");
        let mut accepted = first.accept(&listeners[0], &regions[0]);
        let neighbour = accepted[1].take().expect("node 1 has connected");
        assert!(accepted.iter().all(Option::is_none));
        // The region that each has received is the other's own region.
        let of_first = receive_files(&socket).and_then(|frame| second.region_in(frame));
        let of_first = of_first.expect("the region was sent");
        let open = |region| Region::open(region, SHAPE).expect("a valid region");
        for (there, here) in [(&*of_first, &regions[0]), (&*neighbour.region, &regions[1])] {
            let _ = there.table().cell(0).notify();
            assert!(open(here).table().cell(0).try_take());
        }
    }

    #[test]
    fn a_process_without_the_secret_receives_nothing() {
        let (listeners, words) = listeners();
        let region = region();
        // It knows the name of the socket, as every process can.
        let mut guessed = words.clone();
        guessed[SECRET_WORDS - 1] ^= 1;
        let mut outgoing = others(&guessed, 1).connect(&region);
        let (_, socket) = outgoing.pop().expect("node 0 listens");
        let accepted = others(&words, 0).accept(&listeners[0], &region);
        assert!(accepted.iter().all(Option::is_none));
        let answer = control::receive(&socket).expect("the other end is closed");
        assert!(answer.is_none(), "{answer:?}");
        // A process that accepts, but does not know the secret of the one that connects, is
        // refused.
        let outgoing = others(&words, 1).connect(&region);
        let mut guessed = words.clone();
        guessed[WORDS] ^= 1;
        let _accepted = others(&guessed, 0).accept(&listeners[0], &region);
        let frame = receive_files(&outgoing[0].1).expect("a frame was sent");
        assert!(others(&words, 1).region_in(frame).is_none());
    }

    #[test]
    fn silent_and_invalid_connections_delay_no_other() {
        let (listeners, words) = listeners();
        let region = region();
        let call_listener = || {
            let socket = endpoint().expect("a socket");
            let to = address(&listeners[0].name).expect("a name");
            connect(&socket, &to).expect("node 0 listens");
            socket
        };
        let _silent = call_listener();
        // A node that does not exist, the listening node itself, and a file that is not a region.
        let file = rustix::fs::memfd_create("zeros", rustix::fs::MemfdFlags::CLOEXEC);
        let file = file.expect("memory");
        let invalid = [(7, &region), (0, &region), (1, &file)].map(|(word, file)| {
            let socket = call_listener();
            let [secret, rest] = listeners[0].secret;
            let words = [word, secret, rest, 0, 0];
            control::send(&socket, control::FILES, words, &[file.as_fd()])
                .expect("space in the socket");
            socket
        });
        let valid = others(&words, 2).connect(&region);
        assert_eq!(valid.len(), 2);
        let accepted = others(&words, 0).accept(&listeners[0], &region);
        assert!(accepted[0].is_none() && accepted[1].is_none() && accepted[2].is_some());
        drop(invalid);
    }
}
