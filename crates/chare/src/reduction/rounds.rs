//! Which reductions are open: at each worker for those that are there, and at the root for all.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use super::Group;
use super::share::Share;
use crate::failure::Failure;
use crate::number::Number;

/// Waits for the result of a reduction; the next in the order of results.
pub(crate) type Claim = Box<dyn FnOnce(Outcome) + Send>;

/// The result of a reduction, or why there is none.
pub(crate) type Outcome = Result<Box<dyn Any + Send>, Failure>;

/// Waits for the result of a reduction to which it has contributed.
pub(super) type Contributor = Box<dyn FnOnce(&dyn Any)>;

/// A worker's share of an array's reductions, or of several.
#[derive(Default)]
pub(crate) struct Rounds {
    /// The number of the first open one.
    pub(super) first: u64,
    open: VecDeque<Round>,
    pub(super) contributors: HashMap<u64, Vec<Contributor>>,
    /// The first to which no element has contributed here.
    pub(super) untouched_here: u64,
    /// Elements that came with some of the coming reductions behind them, and what they contribute to next.
    pub(super) ahead: HashMap<Number, u64>,
    /// Of a section: how many members are here, where that is known.
    members_here: Option<u64>,
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
    /// Elements that are here and have contributed, or never will.
    pub(super) done_here: u64,
}

/// What the root of an array's reductions knows.
#[derive(Default)]
pub(super) struct Root {
    /// The first that is not complete.
    next: u64,
    shares: VecDeque<Share>,
    /// By how much the number of contributions has changed since the array was made.
    changed: i64,
    /// By how much it changes, from which reduction on.
    pub(super) changes: BTreeMap<u64, i64>,
    pub(super) results: VecDeque<Outcome>,
    pub(super) claims: VecDeque<Claim>,
    /// Why a section has no result any more.
    pub(super) broken: Option<Failure>,
}

impl Rounds {
    /// The share of a reduction; none when this worker's has gone up already.
    pub(super) fn round(&mut self, round: u64) -> Option<&mut Round> {
        if self.open.is_empty() {
            self.first = self.first.max(round);
        }
        let at = usize::try_from(round.checked_sub(self.first)?).ok()?;
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

    /// Takes the first open one out if all that are here have contributed to it.
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

    /// Those to which an element that contributes to `next` next has contributed.
    pub(super) fn behind(&mut self, next: u64) -> impl Iterator<Item = &mut Round> {
        let behind = next.saturating_sub(self.first);
        self.open
            .iter_mut()
            .take(usize::try_from(behind).unwrap_or(usize::MAX))
    }
}

/// The reductions of an array and of its sections, as one worker has them.
#[derive(Debug, Default)]
pub(crate) struct AllRounds(Vec<Rounds>);

impl AllRounds {
    pub(super) fn of(&mut self, group: Group) -> &mut Rounds {
        let at = group.map_or(0, |section| section as usize + 1);
        if self.0.len() <= at {
            if at == 0 {
                // Most arrays have no section.
                self.0.reserve_exact(1);
            }
            self.0.resize_with(at + 1, Rounds::default);
        }
        &mut self.0[at]
    }

    /// Says which reductions are not complete at this root.
    pub(crate) fn explain(
        &mut self,
        group: Group,
        name: &str,
        population: u64,
        lines: &mut Vec<String>,
    ) {
        let root = &mut self.of(group).root;
        let what = group.map_or(String::new(), |section| format!("section {section} of "));
        for (share, round) in root.shares.iter().zip(root.next..) {
            let expected = population.saturating_add_signed(root.changed);
            let count = share.count;
            lines.push(format!(
                "reduction {round} of {what}{name} has {count} of {expected} contributions"
            ));
        }
        if root.shares.is_empty() && !root.claims.is_empty() {
            let round = root.next;
            lines.push(format!("somebody waits for reduction {round} of {what}{name}, to which nobody has contributed"));
        }
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = Group> + use<> {
        (0..self.0.len()).map(|at| at.checked_sub(1).map(|section| section as u32))
    }

    /// The first reduction over the array of which the root has seen nothing.
    pub(crate) fn untouched(&mut self) -> u64 {
        let root = &self.of(None).root;
        root.next + root.shares.len() as u64
    }

    /// The first reduction over the array that the root has not completed.
    pub(crate) fn incomplete(&mut self) -> u64 {
        self.of(None).root.next
    }

    /// The first reduction over the array to which no element has contributed here.
    pub(crate) fn first_untouched_here(&mut self) -> u64 {
        self.of(None).untouched_here
    }

    /// How many members of a section are here, as long as none comes or goes.
    pub(crate) fn members_here(&mut self, section: u32) -> &mut Option<u64> {
        &mut self.of(Some(section)).members_here
    }

    /// An element comes or goes.
    pub(crate) fn forget_members(&mut self) {
        for rounds in self.0.iter_mut().skip(1) {
            rounds.members_here = None;
        }
    }
}

/// The reductions to which an element contributes next: over its array, and over sections.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextRounds {
    array: u64,
    sections: Vec<(u32, u64)>,
}

impl NextRounds {
    pub(crate) fn from_array(array: u64) -> Self {
        Self {
            array,
            sections: Vec::new(),
        }
    }

    pub(crate) fn array(&self) -> u64 {
        self.array
    }

    /// The reduction to which the element contributes now.
    pub(crate) fn take(&mut self, group: Group) -> u64 {
        let next = match group {
            None => &mut self.array,
            Some(section) => {
                let known = self.sections.iter().position(|entry| entry.0 == section);
                let at = known.unwrap_or_else(|| {
                    self.sections.push((section, 0));
                    self.sections.len() - 1
                });
                &mut self.sections[at].1
            }
        };
        *next += 1;
        *next - 1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Group, u64)> {
        let sections = self
            .sections
            .iter()
            .map(|&(section, next)| (Some(section), next));
        std::iter::once((None, self.array)).chain(sections)
    }
}

impl Root {
    pub(super) fn add(&mut self, round: u64, share: Share) {
        let at = round
            .checked_sub(self.next)
            .expect("a reduction gets no more contributions than there are");
        let at = usize::try_from(at).expect("a few at a time");
        if self.shares.len() <= at {
            self.shares.resize_with(at + 1, Share::default);
        }
        self.shares[at].add(share);
    }

    /// Takes out the oldest if it is complete; `is_settled` says whether it is known who takes part in it.
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

    /// How many contributions make the oldest reduction complete.
    fn expected(&self, population: u64) -> u64 {
        let expected = population.checked_add_signed(self.changed);
        expected.expect("no more go than came")
    }

    /// True when something has been contributed to what is not complete.
    pub(super) fn has_begun(&self) -> bool {
        self.shares.iter().any(|share| share.count > 0)
    }

    /// True when nobody is left to contribute.
    pub(super) fn is_deserted(&self, population: u64) -> bool {
        let coming: i64 = self.changes.values().sum();
        self.shares.is_empty() && self.expected(population).saturating_add_signed(coming) == 0
    }
}
