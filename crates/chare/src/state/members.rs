//! The state of sections that all workers share: the members of each section, their workers, and
//! the sections of each element.
//!
//! A sender to a section reads the number of members on each worker without a lock. A moving member
//! counts on both workers, from before the first sender enters the new epoch until after the last
//! has. So each sender finds the worker that is right for its epoch ([`crate::migration`]), and
//! perhaps another one that has no members for it.
//!
//! # Memory ordering
//! All relaxed. A sender got the section's proxy, directly or indirectly, from the code that
//! created the section. A sender in the epoch of a move was notified of the move by the worker that
//! counted it. A count falls only when no sender is in an earlier epoch. A loss that a sender does
//! not know of may be later than its message.
//!
//! An element that ends looks up which sections lose it. Programs without sections may create and
//! end very many chares, so the lookup takes the lock only after the first section was created.
//! ([`Ever`]: the code that creates a section first notes that, then looks for the members. An
//! element that ended without seeing the note has given up its number before, so it is not found.)
//! Later creators of sections take the lock after the first, and so see all elements that had ended
//! when the first one looked.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use raddle_runtime::choice;
use raddle_sync::ever::Ever;
use raddle_sync::prim::{AtomicU32, AtomicU64, Mutex, Relaxed};

use crate::address::directory::Directory;
use crate::address::number::Number;
use crate::failure::Failure;

/// The way in which messages to a section, and reductions over it, travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionForm {
    /// Chooses the form by size. With at least two members per worker: two-level. Otherwise, up to
    /// four members: point-to-point; above four, multicasts are two-level and reductions binomial.
    ///
    /// For chares in no array: point-to-point up to four members, binomial above.
    #[default]
    Auto,
    /// Messages go to workers, and reductions up a tree of workers. The workers of chares in no
    /// array are not known: for them this is the same as `Auto`.
    TwoLevel,
    /// Messages go to each member separately, and its contributions straight to the root.
    PointToPoint,
    /// Messages go down and reductions up a binomial tree of members. A later message from the same
    /// sender to a single member can overtake a multicast.
    Binomial,
}

choice! {
    SectionForm is "section form", named by "`--form`":
    Auto "auto", TwoLevel "two-level", PointToPoint "point-to-point", Binomial "binomial";
    expected "auto, two-level, point-to-point or binomial", else UnknownSectionForm
}

/// The largest section to which messages are sent member by member, unless one message to a worker
/// serves several members.
const FEW: usize = 4;

impl SectionForm {
    /// Returns the forms of multicasts and of reductions for a section of array elements.
    pub(crate) fn in_array(self, members: usize, workers: usize) -> (Self, Self) {
        let is_dense = members >= 2 * workers;
        match self {
            Self::Auto if is_dense => (Self::TwoLevel, Self::TwoLevel),
            Self::Auto if members <= FEW => (Self::PointToPoint, Self::PointToPoint),
            Self::Auto => (Self::TwoLevel, Self::Binomial),
            form => (form, form),
        }
    }

    /// Returns the forms of multicasts and of reductions for chares that are in no array.
    pub(crate) fn of_singles(self, members: usize) -> (Self, Self) {
        let form = match self {
            Self::Auto | Self::TwoLevel if members <= FEW => Self::PointToPoint,
            Self::Auto | Self::TwoLevel => Self::Binomial,
            form => form,
        };
        (form, form)
    }
}

/// The state of a section that all workers share.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) numbers: Vec<Number>,
    /// The worker where reductions and scans end: the worker of the first member when the section
    /// was created.
    pub(crate) root: usize,
    positions: HashMap<Number, usize>,
    pub(crate) multicast: SectionForm,
    pub(crate) reduction: SectionForm,
    /// The number of members on each worker, including those that are moving to or from it; empty
    /// if messages go to members by number.
    counts: Box<[AtomicU32]>,
    /// The reductions without a result.
    pub(crate) loss: Loss,
    pub(crate) scan_loss: Loss,
}

impl Members {
    /// Creates a section of the elements at these positions, before their workers are known. `root`
    /// is used only for a section without members.
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

    /// Returns true if some member may be on `worker` for some sender.
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

/// The first round of reductions or scans without a result, and the reason: an element has ended
/// without contributing, or contributions do not fit together.
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
    /// Records that rounds from `from` on have no result. Returns true if round `from` could have
    /// one until now.
    pub(crate) fn note(&self, from: u64, why: &Failure) -> bool {
        self.why.get_or_init(|| why.clone());
        // Relaxed: see the header.
        self.from.fetch_min(from, Relaxed) > from
    }

    /// Returns the first round without a result.
    pub(crate) fn from(&self) -> Option<u64> {
        // Relaxed: see the header.
        let from = self.from.load(Relaxed);
        (from < u64::MAX).then_some(from)
    }

    /// Returns the first round without a result, and the reason.
    pub(crate) fn first(&self) -> Option<(u64, Failure)> {
        self.from().zip(self.any())
    }

    /// Returns the reason why a round has no result; `None` if it can have one.
    pub(crate) fn of(&self, round: u64) -> Option<Failure> {
        // Relaxed: see the header.
        let is_lost = self.from.load(Relaxed) <= round;
        is_lost.then(|| self.why.get().cloned())?
    }

    /// Returns the reason why some rounds have no result.
    pub(crate) fn any(&self) -> Option<Failure> {
        self.of(u64::MAX - 1)
    }
}

/// The sections of a collection.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    /// Notes that there has been a section. Written under the lock.
    has_any: Ever,
    table: Mutex<Table>,
}

/// The sections behind the lock. While it is held, no section is created or removed, and no member
/// leaves its sections.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The number of the next section; numbers are not reused.
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

    /// Returns the sections of which an element is a member.
    pub(crate) fn of(&self, number: Number) -> Vec<u32> {
        self.lock().of.get(&number).cloned().unwrap_or_default()
    }

    /// Removes an element that has ended and given up its number from its sections.
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

    /// Adds a section. Returns its number, or a member that has ended meanwhile.
    pub(crate) fn add(&self, mut members: Members, directory: &Directory) -> Result<u32, Number> {
        let mut table = self.lock();
        self.has_any.note();
        for (position, &number) in members.numbers.iter().enumerate() {
            // A member that ends after this check waits for the lock, and then finds the section.
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

    /// Removes and returns a section, unless it has been removed.
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
    /// Records that an element is moving to a worker.
    pub(crate) fn will_come(&self, number: Number, to: usize) {
        self.sections_of(number)
            .for_each(|members| members.count_up(to));
    }

    /// Records that an element has left a worker, and that all senders know it.
    pub(crate) fn has_left(&self, number: Number, from: usize) {
        self.sections_of(number)
            .for_each(|members| members.count_down(from));
    }

    fn sections_of(&self, number: Number) -> impl Iterator<Item = &Arc<Members>> {
        let ids = self.of.get(&number).into_iter().flatten();
        ids.filter_map(|id| self.by_id.get(id))
    }
}
