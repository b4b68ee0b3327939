//! A node's region: what others reach it by. Its wait cells, and a lane from each port of the program to each of its ports.
//!
//! | bytes | what |
//! |---|---|
//! | 0..4096 | head: [`Head`] |
//! | one page or more | the sync table: a wait cell for each port |
//! | one page or more | the idle set: who of the node's workers sleep, and their wait cells |
//! | one page or more | for each port, a bit for each port of the program that has begun to send to it |
//! | the rest | lanes, by receiving port, then by sending port |
//!
//! A lane that nobody has used is a hole: the system gives it no memory.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::idle::IdleSet;
use raddle_sync::lane::{Lane, LaneReceiver, LaneSender};
use raddle_sync::prim::{AtomicU64, Mutex};
use raddle_sync::table::SyncTable;
use rustix::io::Errno;

use super::Memory;
use crate::address::{PORTS_MAX, PortId, Shape};

const PAGE: usize = 4096;
/// "raddle 2", little-endian.
const MAGIC: u64 = u64::from_le_bytes(*b"raddle 2");
/// Words of bits of a port.
pub(crate) const WORDS: usize = PORTS_MAX / 64;

/// Which ports have begun to send to a port.
pub(crate) type Openings = CachePadded<[AtomicU64; WORDS]>;

/// The region of one node, as seen by itself or by another.
#[derive(Debug)]
pub(crate) struct Region {
    memory: Arc<Memory>,
    shape: Shape,
    layout: Layout,
    table: SyncTable,
    idle: IdleSet,
    /// Ends of lanes that this process has taken: there is one of each.
    taken: Mutex<HashSet<(End, usize)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    Sends,
    Receives,
}

/// What tells that memory is a region of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head([u64; 3]);

impl Head {
    fn of(shape: Shape) -> Self {
        Self([
            MAGIC,
            u64::from(shape.nodes) << 16 | u64::from(shape.ports),
            Lane::BYTES as u64,
        ])
    }
}

/// Where in a region its parts begin.
#[derive(Clone, Copy, Debug)]
struct Layout {
    idle: usize,
    openings: usize,
    lanes: usize,
    len: usize,
}

impl Layout {
    const TABLE: usize = PAGE;
    const LANE: usize = Lane::BYTES.next_multiple_of(PAGE);

    fn of(shape: Shape) -> Self {
        let ports = usize::from(shape.ports);
        let idle = Self::TABLE + SyncTable::bytes(ports).next_multiple_of(PAGE);
        let openings = idle + IdleSet::bytes(shape.idlers()).next_multiple_of(PAGE);
        let lanes = openings + (ports * size_of::<Openings>()).next_multiple_of(PAGE);
        Self {
            idle,
            openings,
            lanes,
            len: lanes + ports * shape.port_count() * Self::LANE,
        }
    }
}

impl Region {
    /// Makes the region of a node, for all nodes to open.
    pub(crate) fn create(shape: Shape) -> Result<OwnedFd, Errno> {
        let (memory, file) = Memory::create("raddle-node", Layout::of(shape).len)?;
        let Head(words) = Head::of(shape);
        for (index, word) in words.into_iter().enumerate() {
            memory.write(8 * index, &word.to_ne_bytes());
        }
        let memory = Arc::new(memory);
        // SAFETY: within the region by the layout.
        let address = unsafe { memory.address().add(Layout::TABLE) };
        let keep = Arc::clone(&memory);
        // SAFETY: at the beginning of a page, and nobody else has the memory yet.
        let table = unsafe { SyncTable::create(address, shape.ports.into(), keep) };
        drop(table);
        // SAFETY: within the region by the layout.
        let address = unsafe { memory.address().add(Layout::of(shape).idle) };
        // SAFETY: as for the table; new memory is zeros.
        let idle = unsafe { IdleSet::create(address, shape.idlers(), memory) };
        drop(idle);
        Ok(file)
    }

    /// The region in memory that [`create`](Self::create) has made.
    ///
    /// # Errors
    /// `EINVAL` for memory that is none of a program of this shape.
    pub(crate) fn open(file: impl AsFd, shape: Shape) -> Result<Self, Errno> {
        let layout = Layout::of(shape);
        let memory = Memory::open(file, 0..layout.len)?;
        let word = |index: usize| {
            let mut bytes = [0; 8];
            memory.read(8 * index, &mut bytes);
            u64::from_ne_bytes(bytes)
        };
        if Head(std::array::from_fn(word)) != Head::of(shape) {
            return Err(Errno::INVAL);
        }
        let memory = Arc::new(memory);
        // SAFETY: within the region, which the head says is one.
        let address = unsafe { memory.address().add(Layout::TABLE) };
        let keep = Arc::clone(&memory);
        // SAFETY: `create` has made a table of so many cells there; the program uses them as such.
        let table = unsafe { SyncTable::attach(address, shape.ports.into(), keep) };
        // SAFETY: within the region by the layout.
        let address = unsafe { memory.address().add(layout.idle) };
        let keep = Arc::clone(&memory);
        // SAFETY: as for the table.
        let idle = unsafe { IdleSet::attach(address, shape.idlers(), keep) };
        Ok(Self {
            memory,
            shape,
            layout,
            table,
            idle,
            taken: Mutex::default(),
        })
    }

    /// The wait cells of the node's ports.
    pub(crate) const fn table(&self) -> &SyncTable {
        &self.table
    }

    /// Tells of a message for port `index` the thread that waits there; of one for the first port also a worker that sleeps, if none looks for work.
    #[inline]
    pub(crate) fn ring(&self, index: usize) {
        if index > 0 {
            let _ = self.table.ring(index);
            return;
        }
        // It begins with the fence that the ring needs.
        self.idle.work_came(0);
        let _ = self.table.cell(0).ring_after_fence();
    }

    /// The end of a node: all look, since it may have ended while it was waking one of them.
    pub(crate) fn notify_all(&self) {
        for index in self.table.indices() {
            let _ = self.table.ring(index);
        }
        self.idle.notify_all();
        self.idle.work_came(0);
    }

    /// Who of the node's workers sleep.
    pub(crate) const fn idle(&self) -> &IdleSet {
        &self.idle
    }

    /// Who has begun to send to port `index` of the node.
    #[inline]
    pub(crate) fn openings(&self, index: u16) -> &Openings {
        assert!(index < self.shape.ports, "port {index} of {:?}", self.shape);
        let at = self.layout.openings + usize::from(index) * size_of::<Openings>();
        // SAFETY: within the region by the layout.
        let address = unsafe { self.memory.address().add(at) };
        // SAFETY: aligned; zeros are words of atomics, and nobody uses them as anything else.
        unsafe { address.cast::<Openings>().as_ref() }
    }

    /// The sending end of the lane from `from` to port `index` of the node; none when it was taken before.
    pub(crate) fn sender(&self, from: PortId, index: u16) -> Option<LaneSender> {
        let address = self.take(End::Sends, from, index)?;
        // SAFETY: a lane by `take`; its sending end is that of the node of `from`, and just taken for the first time.
        Some(unsafe { LaneSender::attach(address, Arc::clone(&self.memory) as _) })
    }

    /// The receiving end of that lane; none when it was taken before.
    pub(crate) fn receiver(&self, from: PortId, index: u16) -> Option<LaneReceiver> {
        let address = self.take(End::Receives, from, index)?;
        // SAFETY: a lane by `take`; its receiving end is that of the node whose region it is, and just taken for the first time.
        Some(unsafe { LaneReceiver::attach(address, Arc::clone(&self.memory) as _) })
    }

    /// The address of a lane of which this process has not taken that end before: zeros at first, at the beginning of a page.
    fn take(&self, end: End, from: PortId, index: u16) -> Option<NonNull<u8>> {
        assert!(
            index < self.shape.ports && self.shape.contains(from),
            "a lane from {from} to port {index} of {:?}",
            self.shape
        );
        let lane = usize::from(index) * self.shape.port_count() + self.shape.number_of(from);
        let mut taken = self.taken.lock().expect("nothing panics under this lock");
        if !taken.insert((end, lane)) {
            return None;
        }
        let at = self.layout.lanes + lane * Layout::LANE;
        // SAFETY: within the region by the layout.
        Some(unsafe { self.memory.address().add(at) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use raddle_sync::prim::{Relaxed, thread};

    use super::*;

    const SHAPE: Shape = Shape { nodes: 3, ports: 2 };

    #[test]
    fn a_region_is_opened_as_what_it_is_and_as_nothing_else() {
        let file = Region::create(SHAPE).expect("memory");
        assert!(Region::open(&file, SHAPE).is_ok());
        let other = Shape { nodes: 2, ports: 3 };
        assert_eq!(Region::open(&file, other).map(|_| ()), Err(Errno::INVAL));
        let (_memory, nothing) = Memory::create("nothing", Layout::of(SHAPE).len).expect("memory");
        assert_eq!(Region::open(&nothing, SHAPE).map(|_| ()), Err(Errno::INVAL));
        let (_memory, short) = Memory::create("short", 64).expect("memory");
        assert_eq!(Region::open(&short, SHAPE).map(|_| ()), Err(Errno::INVAL));
    }

    #[test]
    fn what_can_be_made_smaller_is_not_mapped() {
        let file =
            rustix::fs::memfd_create("loose", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        rustix::fs::ftruncate(&file, 4096).expect("memory");
        assert!(Memory::open(&file, 0..4096).is_err());
    }

    #[test]
    fn two_mappings_are_the_two_ends_of_a_lane() {
        let file = Region::create(SHAPE).expect("memory");
        let (here, there) = (Region::open(&file, SHAPE), Region::open(&file, SHAPE));
        let (here, there) = (here.expect("a region"), there.expect("a region"));
        let from = SHAPE.port(3);
        let mut sender = there.sender(from, 1).expect("the first");
        assert!(there.sender(from, 1).is_none());
        let mut receiver = here.receiver(from, 1).expect("the first");
        sender.send(&[b"short"], b"long").expect("room");
        let found = receiver.receive(|found| (found.short.to_vec(), found.long.to_vec()));
        assert_eq!(found, Ok(Some((b"short".to_vec(), b"long".to_vec()))));
        let _ = there.table().cell(1).notify();
        assert!(here.table().cell(1).try_take());
    }

    #[test]
    fn a_ring_of_the_first_port_wakes_one_who_sleeps_unless_somebody_searches() {
        let file = Region::create(SHAPE).expect("memory");
        let (here, there) = (Region::open(&file, SHAPE), Region::open(&file, SHAPE));
        let (here, there) = (here.expect("a region"), there.expect("a region"));
        let (idle, came) = (here.idle(), AtomicU64::new(0));
        assert_eq!(idle.len(), SHAPE.idlers());
        let last = SHAPE.idlers() - 1;
        thread::scope(|scope| {
            // Relaxed, here and below: the fences of the set order it.
            let has_work = || came.load(Relaxed) > 0;
            scope.spawn(move || {
                idle.start_search();
                while !has_work() {
                    let _ = idle.sleep(last, Duration::ZERO, None, || None, has_work, || ());
                }
                idle.found(last, false, || false);
            });
            came.store(1, Relaxed);
            there.ring(0);
        });
        assert_eq!(idle.searching(), 0);
        assert!(!idle.anyone_sleeps());
    }
}
