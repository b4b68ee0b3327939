//! The processes on one machine, among those that MPI has started: how they come to share memory, so that MPI has to bring only what goes to other machines.
//!
//! Each opens a door: a socket in the abstract namespace, under a name that nobody guesses and that the others have from MPI. Everyone knocks at the doors of those before him, and
//! gives his region, and gets that of the other. Who may come in is who MPI has told of: the system says which process has knocked. The doors are closed as soon as all
//! have knocked; what stays is a socket between each two, as between nodes that the first one has started.
//!
//! On another machine there is no such door, and where the system refuses something, or a program says that it wants it so, there is none either: between these two MPI brings the messages.
//! Whether two share memory both know, since each tells all whose it has. Nobody waits for anybody but in the exchanges of MPI, which all processes come to, whatever they were refused.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};
use rustix::process::{Pid, geteuid, getpid};

use super::Ranks;
use crate::address::{NodeId, PORTS_MAX, Shape};
use crate::control::{self, Frame};
use crate::error::NetError;
use crate::mapped::Region;
use crate::share::random;

/// Words of a name, of which zeros are none.
const NAME_WORDS: usize = 2;
/// What a process tells the others: who it is, and the name of its door.
const WORDS: usize = 1 + NAME_WORDS;

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
    let name = door.as_ref().map_or([0; NAME_WORDS], |door| door.name);
    // Positive, as the system's numbers of processes are.
    let own = getpid().as_raw_nonzero().get().cast_unsigned();
    let told = ranks.gather(&[own.into(), name[0], name[1]]);
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
}

impl Door {
    fn open() -> Result<Self, NetError> {
        let name = [random()?, random()?];
        let open = || {
            let socket = endpoint()?;
            bind(&socket, &address(&name)?)?;
            // As many as there are nodes, at most.
            listen(&socket, PORTS_MAX as i32)?;
            Ok(socket)
        };
        let socket = open().map_err(NetError::system("a socket"))?;
        Ok(Self { socket, name })
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
            let name = &self.words(node)[1..];
            if name.iter().all(|&word| word == 0) {
                return None;
            }
            let socket = endpoint().ok()?;
            connect(&socket, &address(name).ok()?).ok()?;
            // Who tells something by it later waits for room.
            ioctl_fionbio(&socket, false).ok()?;
            self.is_of(node, &socket).then_some(())?;
            self.give(&socket, region)?;
            Some((node, socket))
        };
        before.filter_map(knock).collect()
    }

    /// Lets in all who have knocked, and gives them `region`.
    fn let_in(&self, door: &Door, region: &OwnedFd) -> Neighbours {
        let mut neighbours: Neighbours = self.shape.node_ids().map(|_| None).collect();
        loop {
            let control = match accept_with(&door.socket, SocketFlags::CLOEXEC) {
                Ok(control) => control,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(_) => return neighbours,
            };
            let let_in = || {
                let frame = heard(&control)?;
                let after = self.shape.node_ids().skip_while(|&node| node <= self.me);
                let mut after = after.filter(|node| u64::from(node.0) == frame.words[0]);
                let node = after.next().filter(|&node| self.is_of(node, &control))?;
                let region_of_it = self.region_in(frame)?;
                self.give(&control, region)?;
                Some((node, region_of_it))
            };
            if let Some((node, region)) = let_in() {
                neighbours[usize::from(node.0)] = Some(Neighbour { control, region });
            }
        }
    }

    fn give(&self, to: &OwnedFd, region: &OwnedFd) -> Option<()> {
        let words = [self.me.0.into(), 0, 0, 0, 0];
        control::send(to, control::FILES, words, &[region.as_fd()]).ok()
    }

    fn region_in(&self, frame: Frame) -> Option<Arc<Region>> {
        let file = frame.files.into_iter().next()?;
        let region = Region::open(file, self.shape).ok()?;
        Some(Arc::new(region))
    }

    fn words(&self, node: NodeId) -> &[u64] {
        let at = usize::from(node.0) * WORDS;
        &self.told[at..at + WORDS]
    }

    /// Whether the other end of a socket is that process, of the same user.
    fn is_of(&self, node: NodeId, socket: &OwnedFd) -> bool {
        let number = i32::try_from(self.words(node)[0]).ok();
        let process = number.and_then(Pid::from_raw);
        let found = socket_peercred(socket);
        found.is_ok_and(|found| Some(found.pid) == process && found.uid == geteuid())
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

    /// What three nodes have told, all of this process but for the number that one has said.
    fn told(doors: [&Door; 2], numbers: [u64; 3]) -> Vec<u64> {
        let names = [doors[0].name, doors[1].name, [0; NAME_WORDS]];
        let words = numbers.into_iter().zip(names);
        words
            .flat_map(|(number, name)| [number, name[0], name[1]])
            .collect()
    }

    fn own() -> u64 {
        getpid().as_raw_nonzero().get() as u64
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
        let doors = [Door::open(), Door::open()].map(|door| door.expect("a socket"));
        let told = told([&doors[0], &doors[1]], [own(); 3]);
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
    fn who_is_not_of_the_program_is_not_let_in() {
        let doors = [Door::open(), Door::open()].map(|door| door.expect("a socket"));
        // By their numbers the second node and the first are other processes than who knocks, and whose door it is.
        let told_first = told([&doors[0], &doors[1]], [own(), 1, own()]);
        let told_second = told([&doors[0], &doors[1]], [1, own(), own()]);
        let region = region();
        assert!(others(&told_second, 1).knock(&region).is_empty());
        let all = told([&doors[0], &doors[1]], [own(); 3]);
        let _call = others(&all, 1).knock(&region);
        let inside = others(&told_first, 0).let_in(&doors[0], &region);
        assert!(inside.iter().all(Option::is_none));
    }

    #[test]
    fn who_says_nothing_or_what_makes_no_sense_holds_nobody_up() {
        let doors = [Door::open(), Door::open()].map(|door| door.expect("a socket"));
        let told = told([&doors[0], &doors[1]], [own(); 3]);
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
            let words = [word, 0, 0, 0, 0];
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
