//! A node's region: the memory by which others reach it. It contains the node's wait cells, and a
//! lane from each port of the program to each of its ports.
//!
//! | bytes | contents |
//! |---|---|
//! | 0..4096 | head: [`Head`] |
//! | one page or more | the sync table: a wait cell for each port |
//! | one page or more | the idle set: the node's idle workers, and their wait cells |
//! | one page or more | for each port, a bit for each port that has begun to send to it |
//! | the rest | lanes, by receiving port, then by sending port |
//!
//! A lane that has not been used occupies no physical memory.

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
/// The first word of each region: "raddle 2", little-endian.
const MAGIC: u64 = u64::from_le_bytes(*b"raddle 2");
/// The number of words that have one bit for each port of the program.
pub(crate) const WORDS: usize = PORTS_MAX / 64;

/// The bits of the ports that have begun to send to one port.
pub(crate) type Openings = CachePadded<[AtomicU64; WORDS]>;

/// The region of one node, as seen by itself or by another.
#[derive(Debug)]
pub(crate) struct Region {
    memory: Arc<Memory>,
    shape: Shape,
    layout: Layout,
    table: SyncTable,
    idle: IdleSet,
    /// The ends of lanes that this process has taken. Each can be taken once.
    taken: Mutex<HashSet<(End, usize)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    Sends,
    Receives,
}

/// The words by which a region of this program is recognised.
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

/// The offsets at which the parts of a region begin.
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
    /// Creates the region of a node, for all nodes to open.
    pub(crate) fn create(shape: Shape) -> Result<OwnedFd, Errno> {
        let (memory, file) = Memory::create("raddle-node", Layout::of(shape).len)?;
        let Head(words) = Head::of(shape);
        for (index, word) in words.into_iter().enumerate() {
            memory.write(8 * index, &word.to_ne_bytes());
        }
        let memory = Arc::new(memory);
        // SAFETY: by the layout, the offset lies within the region.
        let address = unsafe { memory.address().add(Layout::TABLE) };
        let keep = Arc::clone(&memory);
        // SAFETY: the address is that of a page, and nothing else uses the memory yet.
        let table = unsafe { SyncTable::create(address, shape.ports.into(), keep) };
        drop(table);
        // SAFETY: by the layout, the offset lies within the region.
        let address = unsafe { memory.address().add(Layout::of(shape).idle) };
        // SAFETY: as for the table. New memory is zero.
        let idle = unsafe { IdleSet::create(address, shape.idlers(), memory) };
        drop(idle);
        Ok(file)
    }

    /// Maps a region that [`create`](Self::create) has created.
    ///
    /// # Errors
    /// `EINVAL` for memory that is not a region of a program of this shape.
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
        // SAFETY: by the layout, the offset lies within the region. The head has been checked.
        let address = unsafe { memory.address().add(Layout::TABLE) };
        let keep = Arc::clone(&memory);
        // SAFETY: `create` has created a table of this many cells there, and all nodes use it as
        // such.
        let table = unsafe { SyncTable::attach(address, shape.ports.into(), keep) };
        // SAFETY: by the layout, the offset lies within the region.
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

    /// Returns the wait cells of the node's ports.
    pub(crate) const fn table(&self) -> &SyncTable {
        &self.table
    }

    /// Wakes the thread that waits for a message at port `index`. For the first port, this also
    /// wakes a sleeping worker, unless a worker is searching for work.
    #[inline]
    pub(crate) fn ring(&self, index: usize) {
        if index > 0 {
            let _ = self.table.ring(index);
            return;
        }
        // This begins with the fence that the ring needs.
        self.idle.work_came(0);
        let _ = self.table.cell(0).ring_after_fence();
    }

    /// Wakes all waiting threads because a node has ended. That node may have ended while it was
    /// waking one of them.
    pub(crate) fn notify_all(&self) {
        for index in self.table.indices() {
            let _ = self.table.ring(index);
        }
        self.idle.notify_all();
        self.idle.work_came(0);
    }

    /// Returns the set of the node's idle workers.
    pub(crate) const fn idle(&self) -> &IdleSet {
        &self.idle
    }

    /// Returns the bits of the ports that have begun to send to port `index` of the node.
    #[inline]
    pub(crate) fn openings(&self, index: u16) -> &Openings {
        assert!(index < self.shape.ports, "port {index} of {:?}", self.shape);
        let at = self.layout.openings + usize::from(index) * size_of::<Openings>();
        // SAFETY: by the layout, the offset lies within the region.
        let address = unsafe { self.memory.address().add(at) };
        // SAFETY: the address is aligned, zeros are valid atomics, and nothing uses these words as
        // anything else.
        unsafe { address.cast::<Openings>().as_ref() }
    }

    /// Returns the sending end of the lane from `from` to port `index` of the node, or `None` if it
    /// was taken before.
    pub(crate) fn sender(&self, from: PortId, index: u16) -> Option<LaneSender> {
        let address = self.take(End::Sends, from, index)?;
        // SAFETY: `take` returns the address of a lane. Its sending end belongs to the node of
        // `from`, and was taken just now for the first time.
        Some(unsafe { LaneSender::attach(address, Arc::clone(&self.memory) as _) })
    }

    /// Returns the receiving end of the lane from `from` to port `index` of the node, or `None` if
    /// it was taken before.
    pub(crate) fn receiver(&self, from: PortId, index: u16) -> Option<LaneReceiver> {
        let address = self.take(End::Receives, from, index)?;
        // SAFETY: `take` returns the address of a lane. Its receiving end belongs to the node that
        // has the region, and was taken just now for the first time.
        Some(unsafe { LaneReceiver::attach(address, Arc::clone(&self.memory) as _) })
    }

    /// Takes an end of a lane, and returns the address of the lane, or `None` if this process has
    /// taken that end before. The lane begins at a page boundary, and is zero at first.
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
        // SAFETY: by the layout, the offset lies within the region.
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
    fn only_a_region_of_the_same_shape_is_opened() {
        let file = Region::create(SHAPE).expect("memory");
        assert!(Region::open(&file, SHAPE).is_ok());
        let other = Shape { nodes: 2, ports: 3 };
        assert_eq!(Region::open(&file, other).map(|_| ()), Err(Errno::INVAL));
        let (_memory, zeros) = Memory::create("zeros", Layout::of(SHAPE).len).expect("memory");
        assert_eq!(Region::open(&zeros, SHAPE).map(|_| ()), Err(Errno::INVAL));
        let (_memory, short) = Memory::create("short", 64).expect("memory");
        assert_eq!(Region::open(&short, SHAPE).map(|_| ()), Err(Errno::INVAL));
    }

    #[test]
    fn memory_that_can_shrink_is_not_mapped() {
        let file =
            rustix::fs::memfd_create("loose", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        rustix::fs::ftruncate(&file, 4096).expect("memory");
        assert!(Memory::open(&file, 0..4096).is_err());
    }

    #[test]
    fn two_mappings_provide_the_two_ends_of_a_lane() {
        let file = Region::create(SHAPE).expect("memory");
        let (here, there) = (Region::open(&file, SHAPE), Region::open(&file, SHAPE));
        let (here, there) = (here.expect("a region"), there.expect("a region"));
        let from = SHAPE.port(3);
        let mut sender = there.sender(from, 1).expect("not taken before");
        assert!(there.sender(from, 1).is_none());
        let mut receiver = here.receiver(from, 1).expect("not taken before");
        sender
            .send(&[b"short"], b"long")
            .expect("space in the lane");
        let found = receiver.receive(|found| (found.short.to_vec(), found.long.to_vec()));
        assert_eq!(found, Ok(Some((b"short".to_vec(), b"long".to_vec()))));
        let _ = there.table().cell(1).notify();
        assert!(here.table().cell(1).try_take());
    }

    #[test]
    fn a_ring_of_the_first_port_wakes_a_sleeping_worker_unless_one_searches() {
        let file = Region::create(SHAPE).expect("memory");
        let (here, there) = (Region::open(&file, SHAPE), Region::open(&file, SHAPE));
        let (here, there) = (here.expect("a region"), there.expect("a region"));
        let (idle, arrived) = (here.idle(), AtomicU64::new(0));
        assert_eq!(idle.len(), SHAPE.idlers());
        let last = SHAPE.idlers() - 1;
        thread::scope(|scope| {
            // Relaxed, here and below: the fences of the set order the accesses.
            let has_work = || arrived.load(Relaxed) > 0;
            scope.spawn(move || {
                idle.start_search();
                while !has_work() {
                    let _ = idle.sleep(last, Duration::ZERO, None, || None, has_work, || ());
                }
                idle.found(last, false, || false);
            });
            arrived.store(1, Relaxed);
            there.ring(0);
        });
        assert_eq!(idle.searching(), 0);
        assert!(!idle.anyone_sleeps());
    }
}
