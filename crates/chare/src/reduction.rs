//! Reductions over the elements of an array, in two levels: the contributions of a worker's
//! elements are merged there, then sent up a tree of workers.
//!
//! Elements number their reductions. A worker sends its share of a reduction up the tree when all
//! elements on that worker have contributed. Shares from below that arrive before then are added to
//! it; later ones are passed up at once. The root counts contributions and knows the expected
//! number. Only that count decides whether a reduction is complete, so elements may move, be
//! inserted and end meanwhile.
//!
//! All reductions of an array have one root worker. Each section has a root of its own: the worker
//! of its first member when the section was created. The same code, here and in [`crate::scan`],
//! serves arrays and sections: positions, counts and roots are those of the
//! [group](crate::state::rounds::Group).
//!
//! The root determines the first reduction in which an inserted element takes part
//! ([`crate::insertion`]). An element that ends takes no part in reductions to which it has not
//! contributed.
//!
//! # Source
//! Jetley, Kalé, sect. 5.C: merging per processor first, then over a tree of processors.

mod gathered;
mod insertions;
mod rounds;
mod share;

use std::any::Any;

pub(crate) use gathered::{AllGathered, Gathered, lose_gathered, put_gathered, take_gathered};
pub(crate) use insertions::{Insertion, Insertions, Make};
pub(crate) use rounds::AllRounds;
use rounds::{Claim, Outcome};
pub(crate) use share::{Goes, Share, Target};

use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local::any_thread;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::system::System;
use crate::failure::{Failure, contain, said};
use crate::recorded;
use crate::remote::{self, WireMessage, out};
use crate::reply::{Reply, What, reply};
use crate::state::members::Members;
use crate::state::merged::{Output, downcast};
use crate::state::rounds::{Group, NextRounds};
use raddle_collections::reduce::Reducer;

/// The number of children of a worker in the tree.
const BRANCHES: usize = 4;

impl<T: Chare> Cx<T> {
    /// Contributes to the array's next reduction. [`Array::reduction`](crate::Array::reduction)
    /// returns its result.
    ///
    /// Each element contributes once to each of the array's reductions; all contribute the same
    /// kind of reducer.
    ///
    /// # Panics
    /// If the chare is in no array.
    pub fn contribute<R: Reducer>(&mut self, reducer: R) {
        self.contribute_for(reducer, Goes::Claim, || Target::Claim);
    }

    /// Contributes to the array's next reduction, and passes its result to `then`, which is called
    /// once, on some worker.
    ///
    /// All contributors should pass equivalent functions, since it is unspecified which one is
    /// called.
    ///
    /// # Panics
    /// If the chare is in no array.
    pub fn contribute_then<R: Reducer>(
        &mut self,
        reducer: R,
        then: impl FnOnce(R::Output) + Send + 'static,
    ) {
        self.contribute_for(reducer, Goes::Call, || Target::call::<R>(then));
    }

    /// Contributes to the array's next reduction, and returns a reply with its result.
    ///
    /// # Panics
    /// If the chare is in no array.
    pub fn reduce<R>(&mut self, reducer: R) -> Reply<R::Output>
    where
        R: Reducer<Output: Clone + Sync>,
    {
        let what = What {
            chare: T::NAME,
            entry: "reduce",
        };
        let (replier, reply) = reply(self.one().system, None, what);
        self.await_round(move |output: &R::Output| replier.give(Ok(output.clone())));
        self.contribute_for(reducer, Goes::All, || {
            Target::All(deliver_to_all::<T, R::Output>)
        });
        reply
    }

    /// Calls `take` with the result of the reduction to which the element contributes next.
    pub(crate) fn await_round<O: 'static>(&mut self, take: impl FnOnce(&O) + Send + 'static) {
        let round = self.rounds().array();
        self.on_own_worker(move |_, part| {
            let mut all = part.state::<AllRounds>().borrow_mut();
            let contributors = all.of(None).contributors.entry(round).or_default();
            contributors.push(Box::new(|output| take(result_of(output))));
        });
    }

    pub(crate) fn contribute_for<R: Reducer>(
        &mut self,
        reducer: R,
        goes: Goes,
        target: impl FnOnce() -> Target + Send + 'static,
    ) {
        assert!(
            self.has_index(),
            "this {} is in no array, and has no elements to reduce with",
            T::NAME
        );
        let round = self.next_round(None);
        let reducer = reducer.placed(u64::from(self.one().number.index()));
        self.on_own_worker(move |local, part| {
            contribute(local, part, None, round, reducer, goes, target);
        });
    }
}

/// Returns the result of the next unclaimed reduction of a collection or a section.
pub(crate) fn claim<T: Chare, O: Send + 'static>(
    system: u32,
    collection: u32,
    group: Group,
) -> Reply<O> {
    let what = What {
        chare: T::NAME,
        entry: "reduction",
    };
    let (replier, reply) = reply(system, None, what);
    let claim: Claim = Box::new(move |outcome: Outcome| {
        let asked = std::any::type_name::<O>();
        let wrong = |is: &str| {
            let text = format!("a reduction of {} results in {is}, not in {asked}", T::NAME);
            Failure::new(text)
        };
        let of_kind = |output| downcast::<O>(output).map_err(wrong);
        replier.give(outcome.and_then(of_kind).map(|output| *output));
    });
    if let Some(system) = System::find(system) {
        let root = local::with(system.id(), |local| match local {
            Some(local) => Part::<T>::of(local, collection).root_of(group),
            None => Collection::<T>::of(&system, collection).root_of(group),
        });
        match root {
            Ok(root) => any_thread::post(&system, root, move |local| {
                take_claim::<T>(local, &Part::of(local, collection), group, claim);
            }),
            Err(failure) => claim(Err(failure)),
        }
    }
    reply
}

fn result_of<O: 'static>(output: &dyn Any) -> &O {
    output
        .downcast_ref()
        .expect("all elements contribute values of one type")
}

/// Sends the result of a reduction to all workers, for their elements that wait for it.
pub(crate) fn deliver_to_all<T: Chare, O: Clone + Send + Sync + 'static>(
    local: &Local,
    collection: u32,
    round: u64,
    output: Box<dyn Output>,
) {
    let output = *downcast::<O>(output).expect("all elements contribute values of one type");
    for worker in 0..local.system().worker_count() {
        local.guard(|| {
            let output = output.clone();
            local.post(worker, move |local| {
                let part = Part::<T>::of(local, collection);
                let contributors = part
                    .state::<AllRounds>()
                    .borrow_mut()
                    .of(None)
                    .contributors
                    .remove(&round);
                for contributor in contributors.into_iter().flatten() {
                    local.guard(|| contributor(&output));
                }
            });
        });
    }
}

/// Adds the contribution of a local element to a reduction over the array or a section.
pub(crate) fn contribute<T: Chare, R: Reducer>(
    local: &Local,
    part: &Part<T>,
    group: Group,
    round: u64,
    reducer: R,
    goes: Goes,
    target: impl FnOnce() -> Target,
) {
    recorded::note("contribute to reduction", round);
    let mut all = part.state::<AllRounds>().borrow_mut();
    let rounds = all.of(group);
    rounds.untouched_here = rounds.untouched_here.max(round + 1);
    if group.is_none() {
        part.with_marks(|marks| marks.note(round));
    }
    // Add the contribution to this worker's share. If the share has been sent up already, the
    // contribution follows by itself.
    if let Some(open) = rounds.round(round) {
        open.share.contribute(reducer, goes, target);
        open.done_here += 1;
        drop(all);
        send_done(local, part, group);
    } else {
        drop(all);
        send_up(
            local,
            part,
            group,
            round,
            Share::of(reducer, goes, target()),
        );
    }
}

/// Sends up this worker's shares of the reductions to which all of its elements have contributed.
fn send_done<T: Chare>(local: &Local, part: &Part<T>, group: Group) {
    loop {
        let live = part.live_in(local.worker(), group);
        let done = part
            .state::<AllRounds>()
            .borrow_mut()
            .of(group)
            .take_done(live);
        match done {
            Some((round, share)) if share.count > 0 => send_up(local, part, group, round, share),
            Some(_) => {}
            None => return,
        }
    }
}

/// Sends a share to the worker above in the tree. The root processes it, or sends it to the node of
/// the array's root.
fn send_up<T: Chare>(local: &Local, part: &Part<T>, group: Group, round: u64, share: Share) {
    let root = match part.root_of(group) {
        Ok(root) => root,
        Err(failure) => return local.system().fail(failure),
    };
    let count = local.system().worker_count();
    // The position of this worker in the tree, in which the root is number 0.
    let below = (local.worker() + count - root) % count;
    if below == 0 {
        if let Some((number, node)) = part.root_elsewhere(local, group) {
            let sent = share.send_away(local.system(), node, (number, round));
            return sent.unwrap_or_else(|failure| local.system().fail(failure));
        }
        return take_in(local, part, group, round, share);
    }
    let above = ((below - 1) / BRANCHES + root) % count;
    let collection = part.collection().id();
    local.post(above, move |local| {
        take_up::<T>(local, &Part::of(local, collection), group, round, share);
    });
}

/// Processes the share of a worker below: adds it to this worker's share, or passes it up.
fn take_up<T: Chare>(local: &Local, part: &Part<T>, group: Group, round: u64, share: Share) {
    if let Some(failure) = lost(part, group, round) {
        return local.system().fail(failure);
    }
    if part.live_in(local.worker(), group) > 0 {
        let mut all = part.state::<AllRounds>().borrow_mut();
        if let Some(open) = all.of(group).round(round) {
            open.share.add(share);
            drop(all);
            return send_done(local, part, group);
        }
    }
    send_up(local, part, group, round, share);
}

/// Sends a share straight to the root.
pub(crate) fn send_to_root<T: Chare>(
    local: &Local,
    part: &Part<T>,
    group: Group,
    round: u64,
    share: Share,
) {
    let root = match part.root_of(group) {
        Ok(root) => root,
        Err(failure) => return local.system().fail(failure),
    };
    let collection = part.collection().id();
    if root == local.worker() {
        return take_in(local, part, group, round, share);
    }
    local.post(root, move |local| {
        take_in::<T>(local, &Part::of(local, collection), group, round, share);
    });
}

/// Adds a share at the root, and ends the reductions that are complete.
pub(crate) fn take_in<T: Chare>(
    local: &Local,
    part: &Part<T>,
    group: Group,
    round: u64,
    share: Share,
) {
    if let Some(failure) = lost(part, group, round) {
        return local.system().fail(failure);
    }
    part.state::<AllRounds>()
        .borrow_mut()
        .of(group)
        .root
        .add(round, share);
    end_rounds(local, part, group);
}

fn end_rounds<T: Chare>(local: &Local, part: &Part<T>, group: Group) {
    let is_settled = |round| group.is_some() || is_settled(local, part, round);
    loop {
        // The handling of the previous result may have destroyed the array or section.
        let Ok(population) = part.population_of(group) else {
            return;
        };
        let mut all = part.state::<AllRounds>().borrow_mut();
        let complete = all.of(group).root.take_complete(population, is_settled);
        drop(all);
        let Some((round, mut share)) = complete else {
            break;
        };
        // The result goes to a waiter or a call here, or to other nodes; or the contributions did
        // not fit together.
        match share.finish() {
            Some(Ok(_)) if share.lacks_its_call() => {
                let text = format!(
                    "reduction {round} of {} ends on a node without contributors, which does not \
                     have the function for the result: the elements that have contributed are on \
                     other nodes",
                    T::NAME
                );
                local.system().fail(Failure::new(text));
            }
            Some(Ok(output)) if share.is_for_others() => {
                report_to_other_nodes(local, part, round, &*output);
            }
            Some(Ok(output)) => end_round(local, part, group, round, share.target, output),
            Some(Err(misfit)) => {
                let text = format!("reduction {round} of {}: {misfit}", T::NAME);
                let failure = Failure::new(text);
                settle_claim(part, group, Err(failure.clone()));
                local.system().fail(failure);
            }
            None => {}
        }
    }
    // The reductions that are complete in spite of a lost member have their results now. The others
    // fail.
    if let Some(section) = group
        && let Ok(members) = part.section(section)
        && members.loss.any().is_some()
    {
        fail_lost_claims(part, section, &members);
    }
}

/// Returns true if it is known which elements take part in a reduction over the array. Runs on the
/// root.
fn is_settled<T: Chare>(local: &Local, part: &Part<T>, round: u64) -> bool {
    let insertions = part.state::<Insertions>().borrow();
    // With one queue per sender, contributions triggered by an insertion can arrive before the
    // notice that the insertion has begun.
    let has_seen_all = local.system().post().is_one_queue()
        || part.collection().insertions_begun() == insertions.begun();
    has_seen_all && insertions.are_clear_of(round)
}

fn end_round<T: Chare>(
    local: &Local,
    part: &Part<T>,
    group: Group,
    round: u64,
    target: Option<Target>,
    output: Box<dyn Output>,
) {
    match target {
        Some(Target::Call(then)) => local.post(local.worker(), move |local| {
            contain(
                || then(output),
                |panic| {
                    let what = format!("the call after reduction {round} of {}", T::NAME);
                    let text = format!("{what} panicked: {}", said(panic));
                    local.system().fail(Failure::of_panic(text));
                },
            );
        }),
        Some(Target::All(take)) => {
            report_to_other_nodes(local, part, round, &*output);
            take(local, part.collection().id(), round, output);
        }
        Some(Target::Claim) | None => settle_claim(part, group, Ok(output)),
    }
}

/// Sends the result of a reduction to all other nodes.
fn report_to_other_nodes<T: Chare>(local: &Local, part: &Part<T>, round: u64, output: &dyn Output) {
    let (Some(collection), Some(away)) = (part.collection().wide(), remote::away(local.system()))
    else {
        return;
    };
    match away.reducers.write_output(output) {
        Ok((of, output)) => {
            let wire_message = WireMessage::Result {
                collection,
                round,
                of,
            };
            out::send_to_others_with(local.system(), &wire_message, output);
        }
        Err(failure) => local.system().fail(failure),
    }
}

/// Delivers the result of a reduction that has ended on another node to the contributors here.
pub(crate) fn receive_result<T: Chare>(
    local: &Local,
    part: &Part<T>,
    round: u64,
    of: u64,
    bytes: &[u8],
) {
    let mut all = part.state::<AllRounds>().borrow_mut();
    let contributors = all.of(None).contributors.remove(&round);
    drop(all);
    let (Some(contributors), Some(away)) = (contributors, remote::away(local.system())) else {
        return;
    };
    match away.reducers.read_output(local.system().id(), of, bytes) {
        Ok(output) => {
            for contributor in contributors {
                local.guard(|| contributor(&*output));
            }
        }
        Err(failure) => local.system().fail(failure),
    }
}

/// Gives a result to the first waiter, or keeps it for the next one.
fn settle_claim<T: Chare>(part: &Part<T>, group: Group, outcome: Outcome) {
    let mut all = part.state::<AllRounds>().borrow_mut();
    let root = &mut all.of(group).root;
    match root.claims.pop_front() {
        Some(claim) => {
            drop(all);
            claim(outcome);
        }
        None => root.results.push_back(outcome),
    }
}

/// Gives the next unclaimed result to `claim`, now or later. Runs on the root.
fn take_claim<T: Chare>(local: &Local, part: &Part<T>, group: Group, claim: Claim) {
    if let Some((_, node)) = part.root_elsewhere(local, group) {
        let text = format!(
            "the results of reductions of {} arrive at node {node}: wait for them there",
            T::NAME
        );
        return claim(Err(Failure::new(text)));
    }
    let population = match part.population_of(group) {
        Ok(population) => population,
        Err(failure) => return claim(Err(failure)),
    };
    let mut all = part.state::<AllRounds>().borrow_mut();
    let root = &mut all.of(group).root;
    // Without a result, the claim waits, unless the reduction can never have one.
    let outcome = root.results.pop_front().or_else(|| {
        let lost = lost(part, group, root.next());
        let deserted = || {
            let is_deserted =
                part.state::<Insertions>().borrow().is_empty() && root.is_deserted(population);
            is_deserted.then(|| deserted::<T>(local, group))
        };
        lost.or_else(deserted).map(Err)
    });
    match outcome {
        Some(outcome) => {
            drop(all);
            claim(outcome);
        }
        None => root.claims.push_back(claim),
    }
}

/// Fails the waits for the reductions of a section that have no result. Runs on the root.
pub(crate) fn fail_lost_claims<T: Chare>(part: &Part<T>, section: u32, members: &Members) {
    let mut all = part.state::<AllRounds>().borrow_mut();
    let root = &mut all.of(Some(section)).root;
    let Some(failure) = members.loss.of(root.next()) else {
        return;
    };
    let claims = std::mem::take(&mut root.claims);
    drop(all);
    for claim in claims {
        claim(Err(failure.clone()));
    }
}

/// Removes element `number` from this worker's reductions, because it has ended or moves away.
pub(crate) fn leaves<T: Chare>(local: &Local, part: &Part<T>, number: Number, rounds: &NextRounds) {
    for (group, next) in rounds.iter().filter(|entry| part.has_group(entry.0)) {
        let mut all = part.state::<AllRounds>().borrow_mut();
        let rounds = all.of(group);
        rounds.behind(next).for_each(|round| round.done_here -= 1);
        rounds.ahead.remove(&number);
    }
    // Reductions may be complete here without the element.
    send_done(local, part, None);
    for section in part.mapped_sections_of(number) {
        send_done(local, part, Some(section));
    }
}

/// Adds element `number`, which is new here, to this worker's reductions.
pub(crate) fn comes<T: Chare>(part: &Part<T>, number: Number, rounds: &NextRounds) {
    for (group, next) in rounds.iter().filter(|entry| part.has_group(entry.0)) {
        let mut all = part.state::<AllRounds>().borrow_mut();
        let rounds = all.of(group);
        rounds.behind(next).for_each(|round| round.done_here += 1);
        if next > rounds.first {
            rounds.ahead.insert(number, next);
        }
    }
}

/// Reports to the root that reductions from `from` on have `by` more contributions.
pub(crate) fn report_to_root<T: Chare>(local: &Local, part: &Part<T>, from: u64, by: i64) {
    if let Some((collection, node)) = part.root_elsewhere(local, None) {
        let wire_message = WireMessage::Population {
            collection,
            from,
            by,
        };
        return out::send_away(local.system(), node, &wire_message);
    }
    let collection = part.collection().id();
    local.post(part.collection().root(), move |local| {
        change_population::<T>(local, &Part::of(local, collection), from, by);
    });
}

/// Records that reductions from `from` on have `by` more contributions. Runs on the root.
pub(crate) fn change_population<T: Chare>(local: &Local, part: &Part<T>, from: u64, by: i64) {
    let mut all = part.state::<AllRounds>().borrow_mut();
    *all.of(None).root.changes.entry(from).or_default() += by;
    drop(all);
    end_rounds(local, part, None);
    fail_deserted(local, part);
}

/// Fails the waits for reductions of an array without elements. Runs on the root.
fn fail_deserted<T: Chare>(local: &Local, part: &Part<T>) {
    let mut all = part.state::<AllRounds>().borrow_mut();
    let root = &mut all.of(None).root;
    let is_deserted = part.state::<Insertions>().borrow().is_empty()
        && root.is_deserted(part.collection().population());
    if !is_deserted {
        return;
    }
    let claims = std::mem::take(&mut root.claims);
    drop(all);
    for claim in claims {
        claim(Err(deserted::<T>(local, None)));
    }
}

/// Returns the reason why a reduction without contributors has no result: the failure of the
/// system, if elements may have panicked.
fn deserted<T: Chare>(local: &Local, group: Group) -> Failure {
    let name = T::NAME;
    let of = group.map_or("array has no elements", |_| "section has no members");
    local.system().failure().unwrap_or_else(|| {
        Failure::new(format!(
            "a reduction of {name} has no element to contribute: the {of}"
        ))
    })
}

/// Returns the failure of a reduction over a section that no longer exists or has lost a member;
/// `None` for other reductions.
fn lost<T: Chare>(part: &Part<T>, group: Group, round: u64) -> Option<Failure> {
    match part.section(group?) {
        Ok(members) => members.loss.of(round),
        Err(failure) => Some(failure),
    }
}
