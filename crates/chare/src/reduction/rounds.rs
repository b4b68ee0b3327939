//! The open reductions: at each worker for its own elements, and at the root for all.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use super::share::Share;
use crate::address::number::Number;
use crate::failure::Failure;
use crate::state::merged::Output;
use crate::state::rounds::Group;
use crate::state::{Feature, LocalState};

/// A waiter for the result of a reduction. Results go to claims in order.
pub(crate) type Claim = Box<dyn FnOnce(Outcome) + Send>;

/// The result of a reduction, or the reason why there is none.
pub(crate) type Outcome = Result<Box<dyn Output>, Failure>;

/// A waiter for the result of the reduction to which its element has contributed.
pub(super) type Contributor = Box<dyn FnOnce(&dyn Any)>;

/// A worker's state of the reductions of an array or a section.
#[derive(Default)]
pub(crate) struct Rounds {
    /// The number of the first open reduction.
    pub(super) first: u64,
    open: VecDeque<Round>,
    pub(super) contributors: HashMap<u64, Vec<Contributor>>,
    /// The first reduction to which no element has contributed here.
    pub(super) untouched_here: u64,
    /// The elements that contributed to the oldest open reductions before they moved here, and the
    /// reduction to which each contributes next.
    pub(super) ahead: HashMap<Number, u64>,
    pub(super) root: Root,
}

impl fmt::Debug for Rounds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Rounds")
            .field("first", &self.first)
            .field("open", &self.open.len())
            .finish_non_exhaustive()
    }
}

/// A worker's share of one reduction.
#[derive(Default)]
pub(super) struct Round {
    pub(super) share: Share,
    /// The number of elements that are here and have contributed, or will never contribute.
    pub(super) done_here: u64,
}

/// The state of the root of the reductions of an array or a section.
#[derive(Default)]
pub(super) struct Root {
    /// The first reduction that is not complete.
    next: u64,
    shares: VecDeque<Share>,
    /// The change in the number of contributions since the array was created.
    changed: i64,
    /// Changes of that number, by the reduction from which on they apply.
    pub(super) changes: BTreeMap<u64, i64>,
    pub(super) results: VecDeque<Outcome>,
    pub(super) claims: VecDeque<Claim>,
}

impl Rounds {
    /// Returns this worker's state of a reduction; `None` if this worker's share has been sent up
    /// already.
    pub(super) fn round(&mut self, round: u64) -> Option<&mut Round> {
        if self.open.is_empty() {
            self.first = self.first.max(round);
        }
        let at = usize::try_from(round.checked_sub(self.first)?).ok()?;
        reserve_first(&mut self.open);
        // Open the reductions up to this one. Elements that have contributed to one of them before
        // they moved here count as done.
        while self.open.len() <= at {
            let opened = self.first + self.open.len() as u64;
            let ahead = self.ahead.values().filter(|&&next| next > opened).count();
            self.open.push_back(Round {
                done_here: ahead as u64,
                ..Round::default()
            });
        }
        self.open.get_mut(at)
    }

    /// Takes the first open reduction if all `live` elements here have contributed to it.
    pub(super) fn take_done(&mut self, live: u64) -> Option<(u64, Share)> {
        if self.open.front()?.done_here < live {
            return None;
        }
        let round = self.open.pop_front()?;
        self.first += 1;
        if !self.ahead.is_empty() {
            self.ahead.retain(|_, next| *next > self.first);
        }
        Some((self.first - 1, round.share))
    }

    /// Drops the contributions to reductions from `from` on. Returns true if there were any.
    pub(super) fn lose(&mut self, from: u64) -> bool {
        let open = self.open.iter_mut().zip(self.first..);
        let here = open.map(|(round, number)| (&mut round.share, number));
        let root = self.root.shares.iter_mut().zip(self.root.next..);
        let lost = here.chain(root).filter(|&(_, number)| number >= from);
        let counts = lost.map(|(share, _)| std::mem::take(share).count);
        counts.sum::<u64>() > 0
    }

    /// Returns the open reductions to which an element has contributed that contributes to `next`
    /// next.
    pub(super) fn behind(&mut self, next: u64) -> impl Iterator<Item = &mut Round> {
        let behind = next.saturating_sub(self.first);
        self.open
            .iter_mut()
            .take(usize::try_from(behind).unwrap_or(usize::MAX))
    }
}

/// The state of the reductions of an array and of its sections, on one worker.
#[derive(Debug, Default)]
pub(crate) struct AllRounds {
    array: Rounds,
    /// The rounds of sections that this worker has used.
    sections: HashMap<u32, Rounds>,
}

impl LocalState for AllRounds {
    const FEATURE: Feature = Feature::Reduction;
}

impl AllRounds {
    pub(super) fn of(&mut self, group: Group) -> &mut Rounds {
        match group {
            None => &mut self.array,
            Some(section) => self.sections.entry(section).or_default(),
        }
    }

    /// Drops the contributions to the reductions of a section from `from` on. Returns true if there
    /// were any.
    pub(crate) fn lose(&mut self, section: u32, from: u64) -> bool {
        self.of(Some(section)).lose(from)
    }

    /// Forgets the reductions of a section. Returns true if anything was contributed to them, and
    /// the claims that wait for their results.
    pub(crate) fn forget(
        &mut self,
        section: u32,
    ) -> (bool, impl IntoIterator<Item = Claim> + use<>) {
        let mut rounds = self.sections.remove(&section).unwrap_or_default();
        (rounds.lose(0), rounds.root.claims)
    }

    /// Returns the first reduction of a group that lacks contributions, and the last to which
    /// anything has contributed, as far as this worker knows.
    pub(crate) fn incomplete(&mut self, group: Group, is_root: bool) -> Option<(u64, u64)> {
        let rounds = self.of(group);
        let open = rounds.open.iter().zip(rounds.first..);
        let open = open.filter(|(round, _)| round.share.count > 0);
        let mut known: Vec<u64> = open.map(|(_, number)| number).collect();
        let root = &rounds.root;
        if is_root && !(root.shares.is_empty() && root.claims.is_empty()) {
            known.push(root.next);
            known.push(root.next + (root.shares.len() as u64).saturating_sub(1));
        }
        Some((*known.iter().min()?, *known.iter().max()?))
    }

    /// Returns the number of contributions to a reduction that have arrived at this worker and have
    /// not been sent up.
    pub(crate) fn count_of(&mut self, group: Group, round: u64) -> u64 {
        let rounds = self.of(group);
        let at = |first: u64| usize::try_from(round.checked_sub(first)?).ok();
        let open = at(rounds.first).and_then(|at| rounds.open.get(at));
        let root = at(rounds.root.next).and_then(|at| rounds.root.shares.get(at));
        open.map_or(0, |round| round.share.count) + root.map_or(0, |share| share.count)
    }

    /// Returns the number of contributions that complete a reduction, of a group that was created
    /// with `population` elements. Runs on the root.
    pub(crate) fn expected(&mut self, group: Group, round: u64, population: u64) -> u64 {
        let root = &self.of(group).root;
        let coming: i64 = root.changes.range(..=round).map(|change| change.1).sum();
        population.saturating_add_signed(root.changed + coming)
    }

    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut sections: Vec<_> = self.sections.keys().copied().collect();
        sections.sort_unstable();
        let sections = sections.into_iter().map(Some);
        std::iter::once(None).chain(sections).collect()
    }

    /// Returns the first reduction over the array without any contribution at the root.
    pub(crate) fn untouched(&mut self) -> u64 {
        let root = &self.of(None).root;
        root.next + root.shares.len() as u64
    }

    /// Returns the first reduction over the array that the root has not completed.
    pub(crate) fn first_incomplete(&mut self) -> u64 {
        self.of(None).root.next
    }

    /// Returns the first reduction over the array to which no element has contributed here.
    pub(crate) fn first_untouched_here(&mut self) -> u64 {
        self.of(None).untouched_here
    }
}

/// Reserves space for one item. A program may have many sections, most of them with one reduction
/// at a time.
fn reserve_first<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() == 0 {
        queue.reserve_exact(1);
    }
}

impl Root {
    pub(super) fn add(&mut self, round: u64, share: Share) {
        let at = round
            .checked_sub(self.next)
            .expect("no contribution arrives after the last expected one");
        let at = usize::try_from(at).expect("few reductions are open at a time");
        reserve_first(&mut self.shares);
        if self.shares.len() <= at {
            self.shares.resize_with(at + 1, Share::default);
        }
        self.shares[at].add(share);
    }

    /// Takes the oldest reduction if it is complete. `is_settled` returns true if its participants
    /// are known.
    pub(super) fn take_complete(
        &mut self,
        population: u64,
        is_settled: impl FnOnce(u64) -> bool,
    ) -> Option<(u64, Share)> {
        while let Some(change) = self
            .changes
            .first_entry()
            .filter(|change| *change.key() <= self.next)
        {
            self.changed += change.remove();
        }
        let is_full = self.shares.front()?.count >= self.expected(population);
        if !is_full || !is_settled(self.next) {
            return None;
        }
        self.next += 1;
        Some((self.next - 1, self.shares.pop_front()?))
    }

    /// Returns the number of contributions that completes the oldest reduction.
    fn expected(&self, population: u64) -> u64 {
        let expected = population.checked_add_signed(self.changed);
        expected.expect("no more elements end than exist")
    }

    /// Returns the first reduction that is not complete.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns true if no element is left to contribute.
    pub(super) fn is_deserted(&self, population: u64) -> bool {
        let coming: i64 = self.changes.values().sum();
        self.shares.is_empty() && self.expected(population).saturating_add_signed(coming) == 0
    }
}
