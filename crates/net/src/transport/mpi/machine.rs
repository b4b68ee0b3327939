//! The processes on one machine, among those that MPI has started: how they come to share memory, so that MPI has to bring only what goes to other machines.
//!
//! Each opens a door: a socket in the abstract namespace, under a name that the others have from MPI, and that is no secret: the system lists it. Everyone knocks at the doors of those before him, and
//! gives his region, and gets that of the other. Each says a secret of the other's, which only MPI has told; whoever does not is given nothing.
//! The doors are closed as soon as all have knocked; what stays is a socket between each two, as between nodes that the first one has started.
//!
//! On another machine there is no such door, and where the system refuses something, or a program says that it wants it so, there is none either: between these two MPI brings the messages.
//! Whether two share memory both know, since each tells all whose it has. Nobody waits for anybody but in the exchanges of MPI, which all processes come to, whatever they were refused.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};

use super::Ranks;
use crate::address::{NodeId, PORTS_MAX, Shape};
use crate::control::{self, Frame};
use crate::error::NetError;
use crate::mapped::Region;
use crate::share::random;

/// Words of a name, of which zeros are none.
const NAME_WORDS: usize = 2;
/// Words of a secret.
const SECRET_WORDS: usize = 2;
/// What a process tells the others: its secret, and the name of its door.
const WORDS: usize = SECRET_WORDS + NAME_WORDS;

/// Who has knocked and has not been let in, at most: as many as there can be nodes.
const KNOCKS_MAX: i32 = PORTS_MAX as i32;

/// What this process shares with another one.
#[derive(Debug)]
pub(crate) struct Neighbour {
    /// To it, for what is no message.
    pub(crate) control: OwnedFd,
    pub(crate) region: Arc<Region>,
}

/// By node.
type Neighbours = Vec<Option<Neighbour>>;

/// Shares memory with those processes with which that is possible; `region` is this one's. Who is `apart` shares with none. All processes have to come here.
pub(crate) fn meet(ranks: &Ranks, shape: Shape, region: &OwnedFd, is_apart: bool) -> Neighbours {
    let door = (!is_apart).then(|| Door::open().ok()).flatten();
    let told = ranks.gather(&door.as_ref().map_or([0; WORDS], Door::words));
    let others = Others {
        shape,
        me: ranks.me(),
        told: &told,
    };
    let calls = match &door {
        Some(_) => others.knock(region),
        None => Vec::new(),
    };
    // Whoever knocks has done so.
    ranks.gather(&[0]);
    let mut neighbours = match &door {
        Some(door) => others.let_in(door, region),
        None => shape.node_ids().map(|_| None).collect(),
    };
    drop(door);
    // Who was let in has been given what he has come for.
    ranks.gather(&[0]);
    for (node, control) in calls {
        let taken = heard(&control).and_then(|frame| others.region_in(frame));
        let neighbour = taken.map(|region| Neighbour { control, region });
        neighbours[usize::from(node.0)] = neighbour;
    }
    agree(ranks, &mut neighbours);
    neighbours
}

/// Leaves of the neighbours those who have this process, too.
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

/// Where others of this machine knock.
struct Door {
    socket: OwnedFd,
    name: [u64; NAME_WORDS],
    secret: [u64; SECRET_WORDS],
}

impl Door {
    fn open() -> Result<Self, NetError> {
        let name = [random()?, random()?];
        let secret = [random()?, random()?];
        let open = || {
            let socket = endpoint()?;
            bind(&socket, &address(&name)?)?;
            listen(&socket, KNOCKS_MAX)?;
            Ok(socket)
        };
        let socket = open().map_err(NetError::system("a socket"))?;
        Ok(Self {
            socket,
            name,
            secret,
        })
    }

    /// What the others are told of it.
    fn words(&self) -> [u64; WORDS] {
        let ([secret, rest], [name, last]) = (self.secret, self.name);
        [secret, rest, name, last]
    }
}

/// A socket that does not make its owner wait.
fn endpoint() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

fn address(name: &[u64]) -> Result<SocketAddrUnix, Errno> {
    let words = name.iter().map(|word| format!("{word:016x}"));
    SocketAddrUnix::new_abstract_name(format!("raddle-{}", words.collect::<String>()).as_bytes())
}

/// All processes, as they have told of themselves.
struct Others<'a> {
    shape: Shape,
    me: NodeId,
    told: &'a [u64],
}

impl Others<'_> {
    /// Knocks at all doors of nodes before this one, and gives `region` there.
    fn knock(&self, region: &OwnedFd) -> Vec<(NodeId, OwnedFd)> {
        let before = self.shape.node_ids().take_while(|&node| node < self.me);
        let knock = |node: NodeId| {
            let (_, name) = self.words(node);
            if name.iter().all(|&word| word == 0) {
                return None;
            }
            let socket = endpoint().ok()?;
            connect(&socket, &address(name).ok()?).ok()?;
            // Who tells something by it later waits for room.
            ioctl_fionbio(&socket, false).ok()?;
            self.give(node, &socket, region)?;
            Some((node, socket))
        };
        before.filter_map(knock).collect()
    }

    /// Lets in all who have knocked, and gives them `region`.
    fn let_in(&self, door: &Door, region: &OwnedFd) -> Neighbours {
        let mut neighbours: Neighbours = self.shape.node_ids().map(|_| None).collect();
        // Who is to come in has knocked, and no more can be waiting: however many strangers knock meanwhile.
        for _ in 0..=KNOCKS_MAX {
            let control = match accept_with(&door.socket, SocketFlags::CLOEXEC) {
                Ok(control) => control,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(_) => break,
            };
            let let_in = || {
                let frame = heard(&control)?;
                let mut after = self.shape.node_ids().skip_while(|&node| node <= self.me);
                let node = after.find(|node| u64::from(node.0) == frame.words[0])?;
                let region_of_it = self.region_in(frame)?;
                self.give(node, &control, region)?;
                Some((node, region_of_it))
            };
            if let Some((node, region)) = let_in() {
                neighbours[usize::from(node.0)] = Some(Neighbour { control, region });
            }
        }
        neighbours
    }

    /// Gives `node`, whose secret is said, this one's region.
    fn give(&self, node: NodeId, to: &OwnedFd, region: &OwnedFd) -> Option<()> {
        let (secret, _) = self.words(node);
        let words = [self.me.0.into(), secret[0], secret[1], 0, 0];
        control::send(to, control::FILES, words, &[region.as_fd()]).ok()
    }

    /// The region that one has given who knows this one's secret.
    fn region_in(&self, frame: Frame) -> Option<Arc<Region>> {
        let (secret, _) = self.words(self.me);
        if frame.words[1..=SECRET_WORDS] != *secret {
            return None;
        }
        let file = frame.files.into_iter().next()?;
        let region = Region::open(file, self.shape).ok()?;
        Some(Arc::new(region))
    }

    /// The secret of a node, and the name of its door.
    fn words(&self, node: NodeId) -> (&[u64], &[u64]) {
        let at = usize::from(node.0) * WORDS;
        self.told[at..at + WORDS].split_at(SECRET_WORDS)
    }
}

/// What has been told by a socket, if that is files.
fn heard(socket: &OwnedFd) -> Option<Frame> {
    let frame = control::try_receive(socket)?.ok()??;
    (frame.kind == control::FILES).then_some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { nodes: 3, ports: 1 };

    /// The doors of two nodes, and what three have told.
    fn doors() -> ([Door; 2], Vec<u64>) {
        let doors = [Door::open(), Door::open()].map(|door| door.expect("a socket"));
        let told = [doors[0].words(), doors[1].words(), [0; WORDS]].concat();
        (doors, told)
    }

    fn others(told: &[u64], me: u16) -> Others<'_> {
        Others {
            shape: SHAPE,
            me: NodeId(me),
            told,
        }
    }

    fn region() -> OwnedFd {
        Region::create(SHAPE).expect("memory")
    }

    #[test]
    fn who_knocks_and_who_lets_him_in_have_each_others_memory() {
        let (doors, told) = doors();
        let regions = [region(), region()];
        let (first, second) = (others(&told, 0), others(&told, 1));
        let mut calls = second.knock(&regions[1]);
        let (to, call) = calls.pop().expect("there is a door");
        assert_eq!((to, calls.len()), (NodeId(0), 0));
        assert!(heard(&call).is_none(), "nobody has let it in yet");
        let mut inside = first.let_in(&doors[0], &regions[0]);
        let neighbour = inside[1].take().expect("it has knocked");
        assert!(inside.iter().all(Option::is_none));
        // What each has of the other is what the other has of itself.
        let of_first = heard(&call).and_then(|frame| second.region_in(frame));
        let of_first = of_first.expect("it was given");
        let open = |region| Region::open(region, SHAPE).expect("it is a region");
        for (there, here) in [(&*of_first, &regions[0]), (&*neighbour.region, &regions[1])] {
            let _ = there.table().cell(0).notify();
            assert!(open(here).table().cell(0).try_take());
        }
    }

    #[test]
    fn who_does_not_know_the_secret_is_given_nothing() {
        let (doors, told) = doors();
        let region = region();
        // It knows where the door is, as everybody can.
        let mut guessed = told.clone();
        guessed[SECRET_WORDS - 1] ^= 1;
        let mut calls = others(&guessed, 1).knock(&region);
        let (_, call) = calls.pop().expect("there is a door");
        let inside = others(&told, 0).let_in(&doors[0], &region);
        assert!(inside.iter().all(Option::is_none));
        let answer = control::receive(&call).expect("it was turned away");
        assert!(answer.is_none(), "{answer:?}");
        // Nor is somebody taken for the owner of a door who does not know that of who knocks.
        let calls = others(&told, 1).knock(&region);
        let mut guessed = told.clone();
        guessed[WORDS] ^= 1;
        let _inside = others(&guessed, 0).let_in(&doors[0], &region);
        let frame = heard(&calls[0].1).expect("it was given something");
        assert!(others(&told, 1).region_in(frame).is_none());
    }

    #[test]
    fn who_says_nothing_or_what_makes_no_sense_holds_nobody_up() {
        let (doors, told) = doors();
        let region = region();
        let call = || {
            let socket = endpoint().expect("a socket");
            let to = address(&doors[0].name).expect("a name");
            connect(&socket, &to).expect("there is a door");
            socket
        };
        let _silent = call();
        // No such node, this one, and one that gives no region.
        let file = rustix::fs::memfd_create("nothing", rustix::fs::MemfdFlags::CLOEXEC);
        let file = file.expect("memory");
        let senseless = [(7, &region), (0, &region), (1, &file)].map(|(word, file)| {
            let socket = call();
            let [secret, rest] = doors[0].secret;
            let words = [word, secret, rest, 0, 0];
            control::send(&socket, control::FILES, words, &[file.as_fd()]).expect("room");
            socket
        });
        let good = others(&told, 2).knock(&region);
        assert_eq!(good.len(), 2);
        let inside = others(&told, 0).let_in(&doors[0], &region);
        assert!(inside[0].is_none() && inside[1].is_none() && inside[2].is_some());
        drop(senseless);
    }
}
