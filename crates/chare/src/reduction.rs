//! Reductions over the elements of an array, in two levels: what the elements of a worker contribute is merged there, then sent up a tree of
//! workers.
//!
//! Elements number their reductions. A worker's share of one goes up when all elements that are there have contributed; what
//! comes in from below before that goes with it, what comes later goes on at once. The root counts contributions, and knows how many
//! there are to be: that alone says when a reduction is complete, so that elements may move, come and go meanwhile.
//!
//! An element that is inserted takes part from the first reduction of which the root has seen nothing: the message that makes it goes
//! by the root, which says which that is. One that ends takes no part in those to which it has not contributed.
//!
//! # Source
//! Jetley, Kalé, sect. 5.C: merging per processor first, then over a tree of processors.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use crate::cx::Cx;
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local::Local;
use crate::number::Number;
use crate::part::Part;
use crate::reduce::{Mismatch, Name, Reducer};

/// Children of a worker in the tree.
const BRANCHES: usize = 4;

/// What some elements have contributed.
pub(crate) trait Merged: Send {
    fn merge(&mut self, other: Box<dyn Merged>) -> Result<(), Misfit>;
    fn finish(self: Box<Self>) -> Box<dyn Any + Send>;
    fn name(&self) -> Name;
    fn as_any(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Contributions that cannot be merged.
pub(crate) enum Misfit {
    Kinds(Name, Name),
    Values(Mismatch),
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kinds(one, other) => {
                write!(formatter, "some elements contribute {one}, others {other}")
            }
            Self::Values(mismatch) => mismatch.fmt(formatter),
        }
    }
}

impl<R: Reducer> Merged for R {
    fn merge(&mut self, other: Box<dyn Merged>) -> Result<(), Misfit> {
        let name = other.name();
        match other.into_any().downcast::<R>() {
            Ok(other) => Reducer::merge(self, *other).map_err(Misfit::Values),
            Err(_) => Err(Misfit::Kinds(R::name(), name)),
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn Any + Send> {
        Box::new(Reducer::finish(*self))
    }

    fn name(&self) -> Name {
        R::name()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Who reduces: all elements of the array, or a section.
pub(crate) type Group = Option<u32>;

/// Where the result of a reduction goes.
pub(crate) enum Target {
    /// To whoever asks the array for it.
    Claim,
    /// To a call.
    Call(Box<dyn FnOnce(Box<dyn Any + Send>) + Send>),
    /// To all who have contributed: the call takes it to all workers.
    All(fn(&Local, u32, u64, Box<dyn Any + Send>)),
}

/// Waits for the result of a reduction; the next in the order of results.
pub(crate) type Claim = Box<dyn FnOnce(Box<dyn Any + Send>) + Send>;

/// Waits for the result of a reduction to which it has contributed.
type Contributor = Box<dyn FnOnce(&dyn Any)>;

/// A worker's share of an array's reductions, or of several.
#[derive(Default)]
pub(crate) struct Rounds {
    /// The number of the first open one.
    first: u64,
    open: VecDeque<Round>,
    contributors: HashMap<u64, Vec<Contributor>>,
    /// Elements that came with some of the coming reductions behind them, and what they contribute to next.
    ahead: HashMap<Number, u64>,
    /// Of a section: how many members are here, where that is known.
    members_here: Option<u64>,
    root: Root,
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
struct Round {
    share: Share,
    /// Elements that are here and have contributed, or never will.
    done_here: u64,
}

/// Contributions, and how many.
#[derive(Default)]
pub(crate) struct Share {
    count: u64,
    merged: Option<Box<dyn Merged>>,
    target: Option<Target>,
}

/// What the root of an array's reductions knows.
#[derive(Default)]
struct Root {
    /// The first that is not complete.
    next: u64,
    shares: VecDeque<Share>,
    /// By how much the number of contributions has changed since the array was made.
    changed: i64,
    /// By how much it changes, from which reduction on.
    changes: BTreeMap<u64, i64>,
    results: VecDeque<Box<dyn Any + Send>>,
    claims: VecDeque<Claim>,
}

impl Target {
    /// Calls `then` with the result of reducers `R`.
    pub(crate) fn call<R: Reducer>(then: impl FnOnce(R::Output) + Send + 'static) -> Self {
        Self::Call(Box::new(|output| {
            let output = output.downcast().expect("all contribute the same");
            then(*output);
        }))
    }
}

impl Share {
    /// One contribution.
    pub(crate) fn of<R: Reducer>(reducer: R, target: Target) -> Self {
        Self {
            count: 1,
            merged: Some(Box::new(reducer)),
            target: Some(target),
        }
    }

    pub(crate) fn add(&mut self, other: Self) -> Result<(), Misfit> {
        self.count += other.count;
        if let Some(target) = other.target {
            self.target.get_or_insert(target);
        }
        match (&mut self.merged, other.merged) {
            (Some(merged), Some(other)) => merged.merge(other),
            (merged, other) => {
                *merged = merged.take().or(other);
                Ok(())
            }
        }
    }

    fn contribute<R: Reducer>(
        &mut self,
        reducer: R,
        target: impl FnOnce() -> Target,
    ) -> Result<(), Misfit> {
        self.count += 1;
        self.target.get_or_insert_with(target);
        match &mut self.merged {
            None => {
                self.merged = Some(Box::new(reducer));
                Ok(())
            }
            Some(merged) => {
                let name = merged.name();
                match merged.as_any().downcast_mut::<R>() {
                    Some(merged) => Reducer::merge(merged, reducer).map_err(Misfit::Values),
                    None => Err(Misfit::Kinds(name, R::name())),
                }
            }
        }
    }
}

impl Rounds {
    /// The share of a reduction; none when this worker's has gone up already.
    fn round(&mut self, round: u64) -> Option<&mut Round> {
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
    fn take_done(&mut self, live: u64) -> Option<(u64, Share)> {
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
    fn behind(&mut self, next: u64) -> impl Iterator<Item = &mut Round> {
        let behind = next.saturating_sub(self.first);
        self.open
            .iter_mut()
            .take(usize::try_from(behind).unwrap_or(usize::MAX))
    }
}

impl<T: Chare> Cx<T> {
    /// Contributes to the array's next reduction; its result goes to who asks for it, with [`Array::reduction`](crate::Array::reduction).
    ///
    /// Each element contributes once to each of the array's reductions; all contribute the same kind of reducer.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn contribute<R: Reducer>(&mut self, reducer: R) {
        self.contribute_for(reducer, || Target::Claim);
    }

    /// Contributes to the array's next reduction; its result goes to `then`, which is called once, on some worker.
    ///
    /// The calls of all contributors should do the same, since whose is called is left open.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn contribute_then<R: Reducer>(
        &mut self,
        reducer: R,
        then: impl FnOnce(R::Output) + Send + 'static,
    ) {
        self.contribute_for(reducer, || Target::call::<R>(then));
    }

    /// Contributes to the array's next reduction, and waits for its result.
    ///
    /// # Panics
    /// When the chare is in no array.
    pub fn reduce<R>(&mut self, reducer: R) -> crate::Reply<R::Output>
    where
        R: Reducer<Output: Clone + Sync>,
    {
        let what = crate::reply::What {
            chare: T::NAME,
            entry: "reduce",
        };
        let (replier, reply) = crate::reply::reply(self.one().system, None, what);
        self.await_round(move |output: &R::Output| replier.give(Ok(output.clone())));
        self.contribute_for(reducer, || Target::All(tell_all::<T, R::Output>));
        reply
    }

    /// Calls `tell` with the result of the reduction to which the element contributes next.
    pub(crate) fn await_round<O: 'static>(&self, tell: impl FnOnce(&O) + Send + 'static) {
        let round = self.rounds().array();
        self.with_part(|_, part| {
            let mut all = part.rounds.borrow_mut();
            let contributors = all.of(None).contributors.entry(round).or_default();
            contributors.push(Box::new(|output| tell(result_of(output))));
        });
    }

    pub(crate) fn contribute_for<R: Reducer>(
        &mut self,
        reducer: R,
        target: impl FnOnce() -> Target,
    ) {
        assert!(
            self.has_index(),
            "this {} is in no array, and has nobody to reduce with",
            T::NAME
        );
        let round = self.next_round(None);
        let reducer = reducer.placed(u64::from(self.one().number.index()));
        self.with_part(|local, part| local.contribute(part, None, round, reducer, target));
    }
}

fn result_of<O: 'static>(output: &dyn Any) -> &O {
    output.downcast_ref().expect("all contribute the same")
}

/// Takes the result of a reduction to all workers, for those of their elements that wait for it.
pub(crate) fn tell_all<T: Chare, O: Clone + Send + Sync + 'static>(
    local: &Local,
    collection: u32,
    round: u64,
    output: Box<dyn Any + Send>,
) {
    let output = *output.downcast::<O>().expect("all contribute the same");
    for worker in 0..local.system.worker_count() {
        let output = output.clone();
        local.post(worker, move |local| {
            let part = local.part::<T>(collection);
            let contributors = part
                .rounds
                .borrow_mut()
                .of(None)
                .contributors
                .remove(&round);
            for contributor in contributors.into_iter().flatten() {
                contributor(&output);
            }
        });
    }
}

impl Local {
    /// Takes in the contribution of an element that is here to a reduction over the array, or over a section.
    pub(crate) fn contribute<T: Chare, R: Reducer>(
        &self,
        part: &Part<T>,
        group: Group,
        round: u64,
        reducer: R,
        target: impl FnOnce() -> Target,
    ) {
        let mut all = part.rounds.borrow_mut();
        if let Some(open) = all.of(group).round(round) {
            let result = open.share.contribute(reducer, target);
            open.done_here += 1;
            drop(all);
            if let Err(misfit) = result {
                self.fail_reduction(part, round, &misfit);
            }
            self.send_done(part, group);
        } else {
            drop(all);
            self.send_up(part, group, round, Share::of(reducer, target()));
        }
    }

    /// Sends up what all elements that are here have contributed to.
    fn send_done<T: Chare>(&self, part: &Part<T>, group: Group) {
        loop {
            let live = part.live_in(group);
            let done = part.rounds.borrow_mut().of(group).take_done(live);
            match done {
                Some((round, share)) if share.count > 0 => self.send_up(part, group, round, share),
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Sends a share to the worker above, or takes it in at the root.
    fn send_up<T: Chare>(&self, part: &Part<T>, group: Group, round: u64, share: Share) {
        let (root, count) = (part.collection.root, self.system.worker_count());
        let below = (self.worker + count - root) % count;
        if below == 0 {
            return self.take_in(part, group, round, share);
        }
        let above = ((below - 1) / BRANCHES + root) % count;
        let collection = part.collection.id;
        self.post(above, move |local| {
            local.take_up::<T>(&local.part(collection), group, round, share);
        });
    }

    /// Takes in the share of a worker below.
    fn take_up<T: Chare>(&self, part: &Part<T>, group: Group, round: u64, share: Share) {
        if part.live_in(group) > 0 {
            let mut all = part.rounds.borrow_mut();
            if let Some(open) = all.of(group).round(round) {
                let result = open.share.add(share);
                drop(all);
                if let Err(misfit) = result {
                    self.fail_reduction(part, round, &misfit);
                }
                return self.send_done(part, group);
            }
        }
        self.send_up(part, group, round, share);
    }

    /// Sends a share straight to the root.
    pub(crate) fn send_to_root<T: Chare>(
        &self,
        part: &Part<T>,
        group: Group,
        round: u64,
        share: Share,
    ) {
        let (root, collection) = (part.collection.root, part.collection.id);
        if root == self.worker {
            return self.take_in(part, group, round, share);
        }
        self.post(root, move |local| {
            local.take_in::<T>(&local.part(collection), group, round, share);
        });
    }

    /// Takes in a share at the root, and ends the reductions that are complete.
    fn take_in<T: Chare>(&self, part: &Part<T>, group: Group, round: u64, share: Share) {
        let result = part.rounds.borrow_mut().of(group).root.add(round, share);
        if let Err(misfit) = result {
            self.fail_reduction(part, round, &misfit);
        }
        self.end_rounds(part, group);
    }

    fn end_rounds<T: Chare>(&self, part: &Part<T>, group: Group) {
        let population = match group {
            None => part.collection.population,
            Some(section) => part.section(section).numbers.len() as u64,
        };
        loop {
            let mut all = part.rounds.borrow_mut();
            let root = &mut all.of(group).root;
            let Some((round, share)) = root.take_complete(population) else {
                return;
            };
            let Some(merged) = share.merged else { continue };
            let output = merged.finish();
            match share.target {
                Some(Target::Call(then)) => {
                    drop(all);
                    self.post(self.worker, move |_| then(output));
                }
                Some(Target::All(tell)) => {
                    drop(all);
                    tell(self, part.collection.id, round, output);
                }
                Some(Target::Claim) | None => match root.claims.pop_front() {
                    Some(claim) => {
                        drop(all);
                        claim(output);
                    }
                    None => root.results.push_back(output),
                },
            }
        }
    }

    #[cold]
    pub(crate) fn fail_reduction<T: Chare>(&self, _part: &Part<T>, round: u64, misfit: &Misfit) {
        let text = format!("reduction {round} of {}: {misfit}", T::NAME);
        self.system.fail(Failure::new(text));
    }

    /// Gives the next result that nobody has asked for to `claim`. For the root.
    pub(crate) fn claim<T: Chare>(&self, part: &Part<T>, group: Group, claim: Claim) {
        let mut all = part.rounds.borrow_mut();
        let root = &mut all.of(group).root;
        match root.results.pop_front() {
            Some(output) => {
                drop(all);
                claim(output);
            }
            None => root.claims.push_back(claim),
        }
    }

    /// Element `number` goes.
    pub(crate) fn leaves<T: Chare>(&self, part: &Part<T>, number: Number, rounds: &NextRounds) {
        for (group, next) in rounds.iter() {
            let mut all = part.rounds.borrow_mut();
            let rounds = all.of(group);
            rounds.behind(next).for_each(|round| round.done_here -= 1);
            rounds.ahead.remove(&number);
        }
        let groups = part.rounds.borrow().groups();
        groups.for_each(|group| self.send_done(part, group));
    }

    /// Element `number` comes.
    pub(crate) fn comes<T: Chare>(&self, part: &Part<T>, number: Number, rounds: &NextRounds) {
        for (group, next) in rounds.iter() {
            let mut all = part.rounds.borrow_mut();
            let rounds = all.of(group);
            rounds.behind(next).for_each(|round| round.done_here += 1);
            if next > rounds.first {
                rounds.ahead.insert(number, next);
            }
        }
    }

    /// From reduction `from` on there is one contribution more, or less; says so to the root.
    pub(crate) fn tell_root<T: Chare>(&self, part: &Part<T>, from: u64, by: i64) {
        let collection = part.collection.id;
        self.post(part.collection.root, move |local| {
            local.change_population::<T>(&local.part(collection), from, by);
        });
    }

    /// From reduction `from` on there is one contribution more, or less. For the root.
    pub(crate) fn change_population<T: Chare>(&self, part: &Part<T>, from: u64, by: i64) {
        let mut all = part.rounds.borrow_mut();
        *all.of(None).root.changes.entry(from).or_default() += by;
        drop(all);
        self.end_rounds(part, None);
    }
}

/// The reductions of an array and of its sections, as one worker has them.
#[derive(Debug, Default)]
pub(crate) struct AllRounds(Vec<Rounds>);

impl AllRounds {
    fn of(&mut self, group: Group) -> &mut Rounds {
        let at = group.map_or(0, |section| section as usize + 1);
        if self.0.len() <= at {
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

    fn iter(&self) -> impl Iterator<Item = (Group, u64)> {
        let sections = self
            .sections
            .iter()
            .map(|&(section, next)| (Some(section), next));
        std::iter::once((None, self.array)).chain(sections)
    }
}

impl Root {
    fn add(&mut self, round: u64, share: Share) -> Result<(), Misfit> {
        let at = round
            .checked_sub(self.next)
            .expect("a reduction gets no more contributions than there are");
        let at = usize::try_from(at).expect("a few at a time");
        if self.shares.len() <= at {
            self.shares.resize_with(at + 1, Share::default);
        }
        self.shares[at].add(share)
    }

    /// Takes out the oldest if it is complete.
    fn take_complete(&mut self, population: u64) -> Option<(u64, Share)> {
        while let Some(change) = self
            .changes
            .first_entry()
            .filter(|change| *change.key() <= self.next)
        {
            self.changed += change.remove();
        }
        let expected = population
            .checked_add_signed(self.changed)
            .expect("no more go than came");
        if self.shares.front()?.count < expected {
            return None;
        }
        self.next += 1;
        Some((self.next - 1, self.shares.pop_front()?))
    }
}
