//! What all workers share of sections: who their members are, and on which workers; and of which sections an element is a member.
//!
//! Whoever sends to a section asks how many members a worker has, without a lock: one that moves counts on both workers, from before the first
//! sender goes over until after the last has. So each sender finds the worker that it counts for in his epoch ([`crate::migration`]), and
//! perhaps another one for which he has nothing.
//!
//! # Memory ordering
//! All relaxed. Who sends to a section has its proxy from who made it; who is in the epoch of a move was told so by who
//! counted it; and a count falls when nobody is in an earlier epoch. A loss that a sender has not heard of may be later than his message.
//!
//! An element that ends asks which sections lose it, and chares come and go in great numbers where nobody makes sections: they ask under
//! the lock only once there has been one ([`Ever`]: who makes sections looks for the members, who ends has given up its number). Those
//! who make sections later have the lock after the first, and so see who had ended when he looked.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use raddle_runtime::choice;
use raddle_sync::ever::Ever;
use raddle_sync::prim::{AtomicU32, AtomicU64, Mutex, Relaxed};

use crate::address::directory::Directory;
use crate::address::number::Number;
use crate::failure::Failure;

/// How messages to a section, and reductions over it, travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionForm {
    /// Two-level from two members a worker on. Below, point-to-point up to four members; above these, multicasts are two-level and reductions
    /// binomial.
    ///
    /// Of chares that are in no array: point-to-point up to four members, binomial above.
    #[default]
    Auto,
    /// By workers, then by a tree of workers. Of chares that are in no array nobody knows on which workers they are: the same as `Auto`.
    TwoLevel,
    /// Each member by itself.
    PointToPoint,
    /// By a binomial tree of members. A multicast can then be overtaken by what its sender sends to a member alone after it.
    Binomial,
}

choice! {
    SectionForm is "section form", named by "`--form`":
    Auto "auto", TwoLevel "two-level", PointToPoint "point-to-point", Binomial "binomial";
    expected "auto, two-level, point-to-point or binomial", else UnknownSectionForm
}

/// Sections up to this size are sent to one by one, unless a message to a worker is for several of them.
const FEW: usize = 4;

impl SectionForm {
    /// How messages to elements of an array travel, and their reductions.
    pub(crate) fn in_array(self, members: usize, workers: usize) -> (Self, Self) {
        let is_dense = members >= 2 * workers;
        match self {
            Self::Auto if is_dense => (Self::TwoLevel, Self::TwoLevel),
            Self::Auto if members <= FEW => (Self::PointToPoint, Self::PointToPoint),
            Self::Auto => (Self::TwoLevel, Self::Binomial),
            form => (form, form),
        }
    }

    /// The same of chares that are in no array.
    pub(crate) fn of_singles(self, members: usize) -> (Self, Self) {
        let form = match self {
            Self::Auto | Self::TwoLevel if members <= FEW => Self::PointToPoint,
            Self::Auto | Self::TwoLevel => Self::Binomial,
            form => form,
        };
        (form, form)
    }
}

/// What all workers share of a section.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) numbers: Vec<Number>,
    /// The worker where reductions and scans end: that of the first member when the section was made.
    pub(crate) root: usize,
    positions: HashMap<Number, usize>,
    pub(crate) multicast: SectionForm,
    pub(crate) reduction: SectionForm,
    /// How many are on each worker, or on their way to it or from it; nothing where messages go to them by their numbers.
    counts: Box<[AtomicU32]>,
    /// Which reductions have no result.
    pub(crate) loss: Loss,
    pub(crate) scan_loss: Loss,
}

impl Members {
    /// A section of the elements at these positions, before anything is known of where they are. One without members has its `root`.
    pub(crate) fn new(
        positions: HashMap<Number, usize>,
        numbers: Vec<Number>,
        (multicast, reduction): (SectionForm, SectionForm),
        worker_count: usize,
        root: usize,
    ) -> Self {
        let counts = match multicast {
            SectionForm::TwoLevel => worker_count,
            _ => 0,
        };
        Self {
            multicast,
            reduction,
            root,
            numbers,
            positions,
            counts: (0..counts).map(|_| AtomicU32::new(0)).collect(),
            loss: Loss::default(),
            scan_loss: Loss::default(),
        }
    }

    pub(crate) fn position(&self, number: Number) -> Option<usize> {
        self.positions.get(&number).copied()
    }

    /// True when some member may be on `worker`, for whatever sender.
    pub(crate) fn may_be_on(&self, worker: usize) -> bool {
        // Relaxed: see the header.
        self.counts[worker].load(Relaxed) > 0
    }

    fn count_up(&self, worker: usize) {
        if let Some(count) = self.counts.get(worker) {
            // Relaxed: see the header.
            count.fetch_add(1, Relaxed);
        }
    }

    fn count_down(&self, worker: usize) {
        if let Some(count) = self.counts.get(worker) {
            // Relaxed: see the header.
            count.fetch_sub(1, Relaxed);
        }
    }
}

/// From which round on the reductions of a section, or scans, have no results any more, and why: an element has ended that was to contribute,
/// or elements have contributed what does not go together.
pub(crate) struct Loss {
    from: AtomicU64,
    why: OnceLock<Failure>,
}

impl Default for Loss {
    fn default() -> Self {
        Self {
            from: AtomicU64::new(u64::MAX),
            why: OnceLock::new(),
        }
    }
}

impl fmt::Debug for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Loss({:?})", self.why.get())
    }
}

impl Loss {
    /// There are no results from round `from` on, and there may be fewer; true when there were more until now.
    pub(crate) fn note(&self, from: u64, why: &Failure) -> bool {
        self.why.get_or_init(|| why.clone());
        // Relaxed: see the header.
        self.from.fetch_min(from, Relaxed) > from
    }

    /// The first round without a result.
    pub(crate) fn from(&self) -> Option<u64> {
        // Relaxed: see the header.
        let from = self.from.load(Relaxed);
        (from < u64::MAX).then_some(from)
    }

    /// The first round without a result, and why.
    pub(crate) fn first(&self) -> Option<(u64, Failure)> {
        self.from().zip(self.any())
    }

    /// Why a round has no result.
    pub(crate) fn of(&self, round: u64) -> Option<Failure> {
        // Relaxed: see the header.
        let is_lost = self.from.load(Relaxed) <= round;
        is_lost.then(|| self.why.get().cloned())?
    }

    /// Why some rounds have none.
    pub(crate) fn any(&self) -> Option<Failure> {
        self.of(u64::MAX - 1)
    }
}

/// The sections of a collection.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    /// There has been one. Written under the lock.
    has_any: Ever,
    table: Mutex<Table>,
}

/// The same, as nobody changes it: neither elements nor sections come and go meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The number of the next section; none is given twice.
    next: u32,
    by_id: HashMap<u32, Arc<Members>>,
    /// The sections of which an element is a member.
    of: HashMap<Number, Vec<u32>>,
}

impl Sections {
    pub(crate) fn lock(&self) -> impl std::ops::DerefMut<Target = Table> {
        self.table.lock().expect("nothing panics under this lock")
    }

    pub(crate) fn find(&self, id: u32) -> Option<Arc<Members>> {
        self.lock().by_id.get(&id).cloned()
    }

    /// The sections of which an element is a member.
    pub(crate) fn of(&self, number: Number) -> Vec<u32> {
        self.lock().of.get(&number).cloned().unwrap_or_default()
    }

    /// The same for an element that has ended and given up its number: it is no member any more.
    pub(crate) fn lose(&self, number: Number) -> Vec<(u32, Arc<Members>)> {
        if !self.has_any.was_noted() {
            return Vec::new();
        }
        let mut table = self.lock();
        let ids = table.of.remove(&number).unwrap_or_default();
        ids.into_iter()
            .filter_map(|id| Some((id, Arc::clone(table.by_id.get(&id)?))))
            .collect()
    }

    /// Keeps a section; returns its number, or a member that has ended meanwhile.
    pub(crate) fn add(&self, mut members: Members, directory: &Directory) -> Result<u32, Number> {
        let mut table = self.lock();
        self.has_any.note();
        for (position, &number) in members.numbers.iter().enumerate() {
            let at = directory.worker_or_home(number).ok_or(number)?;
            if position == 0 {
                members.root = at;
            }
            if let Some((old, new)) = directory.place(number).workers_of(number) {
                members.count_up(old);
                if new != old {
                    members.count_up(new);
                }
            }
        }
        let id = table.next;
        table.next += 1;
        for &number in &members.numbers {
            table.of.entry(number).or_default().push(id);
        }
        table.by_id.insert(id, Arc::new(members));
        Ok(id)
    }

    /// Forgets a section, unless that has been done.
    pub(crate) fn remove(&self, id: u32) -> Option<Arc<Members>> {
        let mut table = self.lock();
        let members = table.by_id.remove(&id)?;
        for number in &members.numbers {
            let Some(ids) = table.of.get_mut(number) else {
                continue;
            };
            ids.retain(|&other| other != id);
            if ids.is_empty() {
                table.of.remove(number);
            }
        }
        Some(members)
    }
}

impl Table {
    /// An element is on its way to a worker.
    pub(crate) fn will_come(&self, number: Number, to: usize) {
        self.sections_of(number)
            .for_each(|members| members.count_up(to));
    }

    /// All know that an element has left a worker.
    pub(crate) fn has_left(&self, number: Number, from: usize) {
        self.sections_of(number)
            .for_each(|members| members.count_down(from));
    }

    fn sections_of(&self, number: Number) -> impl Iterator<Item = &Arc<Members>> {
        let ids = self.of.get(&number).into_iter().flatten();
        ids.filter_map(|id| self.by_id.get(id))
    }
}
