//! The ends of elements: requested, by a panic, or because they were never constructed.

use std::any::Any;

use crate::address::number::Number;
use crate::codec::Packed;
use crate::engine::elements::parcel::Parcel;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::losses::lose_member;
use crate::reduction::{self, take_gathered};
use crate::scan::break_scans;
use crate::state::rounds::NextRounds;

/// A message that ends its element.
pub(crate) struct End;

impl<T: Chare> Parcel<T> for End {
    fn entry(&self) -> &'static str {
        "end"
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        let rounds = part.ready(number).map(|body| body.cx.rounds().clone());
        match rounds {
            Some(rounds) => end(local, part, number, &rounds),
            None => part.keep(local, number, Box::new(self)),
        }
    }

    /// Does nothing: the element has ended already.
    fn fail(self, _system: &System, _failure: Failure) {}

    fn cross(self, _system: &System, _node: u16) -> Option<Packed> {
        Some(Packed::END)
    }
}

/// Ends an element that contributes to `rounds` next. Fails the messages that wait for it and those
/// that it has not received.
#[cold]
pub(crate) fn end<T: Chare>(local: &Local, part: &Part<T>, number: Number, rounds: &NextRounds) {
    end_and(local, part, number, rounds, &|kind| {
        local.system().fail(part.collection().gone(number, kind));
    });
}

/// Ends an element, and fails the messages that wait for it. Calls `report` with the kind of each
/// unreceived message.
fn end_and<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    rounds: &NextRounds,
    report: &dyn Fn(&'static str),
) {
    let Some(mut slot) = part.take(number) else {
        return;
    };
    let index = slot.index();
    let state = slot.take_async_state();
    stop_contributing(local, part, number, index, rounds);
    part.drop_slot(local, slot);
    // The waiting messages are failed only now that the element can no longer be found.
    let Some(mut state) = state else { return };
    for parcel in state.take_backlog() {
        part.fail(local, number, parcel);
    }
    state.drop_all(local, report);
}

/// Stops waiting for contributions of an element that contributes to `rounds` next.
pub(crate) fn stop_contributing<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    index: Option<T::Index>,
    rounds: &NextRounds,
) {
    let is_array = part.collection().is_array();
    if is_array || rounds.has_sections() {
        // A reduction may be complete without the element now. Merging its contributions calls code
        // of the program, which may panic.
        local.guard(|| reduction::leaves(local, part, number, rounds));
    }
    // The index must be free before the root can complete a reduction that does not count the
    // element: a program may insert another element with this index when it has that result.
    part.remove(local, number, index);
    if is_array {
        reduction::report_to_root(local, part, rounds.array(), -1);
    }
    // Sections that are created from now on find that the element does not exist.
    break_sections(local, part, number, index, rounds);
    if is_array {
        lose_contributions(local, part, index, rounds.scan_of(None));
    }
}

/// Breaks the sections of an ended element: only those reductions and scans have results to which
/// the element has contributed.
fn break_sections<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    index: Option<T::Index>,
    rounds: &NextRounds,
) {
    let sections = part.collection().sections().lose(number);
    let gathered = take_gathered(part, number);
    for (section, members) in sections {
        let member = part.collection().name(index);
        let of = T::NAME;
        let text = format!("a section of {of} has lost {member}, which has ended");
        let loss = members
            .loss
            .note(rounds.of_section(section), &Failure::new(text));
        let scan = rounds.scan_of(Some(section));
        let scan_loss = members.scan_loss.note(scan, &lacks(&member));
        if !(loss || scan_loss) {
            continue;
        }
        let collection = part.collection().id();
        for worker in 0..local.system().worker_count() {
            local.post_seldom(worker, move |local| {
                lose_member::<T>(local, &Part::of(local, collection), section);
            });
        }
    }
    // Shares that the element has gathered for the members below it in the tree go to the root,
    // which knows whether there will be a result.
    for ((section, round), (_, share)) in gathered.into_iter().flatten() {
        local.guard(|| reduction::send_to_root(local, part, Some(section), round, share));
    }
}

/// Marks all scans over all elements from number `from` on as never complete: an ended element does
/// not contribute to them.
fn lose_contributions<T: Chare>(local: &Local, part: &Part<T>, index: Option<T::Index>, from: u64) {
    if part.collection().has_first_elements() {
        let member = part.collection().name(index);
        break_scans(local, part, None, from, &lacks(&member));
    }
}

/// Drops an element after an entry has panicked, since its state may be inconsistent. First calls
/// `report` with the panic.
#[cold]
pub(crate) fn panicked<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    entry: &str,
    rounds: &NextRounds,
    panic: &(dyn Any + Send),
    report: impl FnOnce(Failure),
) {
    let index = part.index_of(number);
    let failure = Failure::panicked(&part.collection().name(index), entry, panic);
    part.collection().note_death(number, index, &failure);
    report(failure);
    // The failures of unreceived messages are not reported: the panic has been.
    end_and(local, part, number, rounds, &|_| {});
}
/// Fails the messages that wait for an element that will not be constructed or will not arrive
/// here.
#[cold]
pub(crate) fn fail_early<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    for parcel in part.presence().give_up_on(number) {
        part.fail(local, number, parcel);
    }
}

/// Returns the failure of scans that lack the contribution of an ended element.
fn lacks(member: &str) -> Failure {
    Failure::new(format!(
        "a scan lacks the contribution of {member}, which has ended"
    ))
}
