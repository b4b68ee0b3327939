//! Messages to many: one to each worker, which delivers it to its elements.
//!
//! Each element receives the message once, even if it moves meanwhile: it is delivered at the
//! worker where the element is in the sender's epoch ([`crate::migration`]).

use std::sync::Arc;

use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::Parcel;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::local::sender::Sender;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::failure::Failure;
use crate::migration;
use crate::recorded;
use crate::remote::out;
use crate::section::PassOn;
use crate::spread::Spread;
use crate::state::members::{Members, SectionForm};

/// The receivers to which a message to many is still to be sent.
pub(crate) enum Unreached {
    /// None: the message has been sent to the members of the section.
    None,
    /// All workers, or those that have members of the section.
    Workers(Option<Arc<Members>>),
}

/// Sends a message to the members of a section if the section's form says so. Returns the receivers
/// to which it is still to be sent.
///
/// # Errors
/// If the section no longer exists, or has lost a member.
pub(crate) fn send_to_members<T: Chare>(
    collection: &Collection<T>,
    all: All<T>,
    find: impl FnOnce(u32) -> Result<Arc<Members>, Failure>,
    spread: &impl Spread<T>,
) -> Result<Unreached, Failure> {
    let Some(section) = all.section else {
        return Ok(Unreached::Workers(None));
    };
    let members = find(section)?;
    if let Some(failure) = members.loss.any() {
        return Err(failure);
    }
    if spread_by_members(collection, (section, all.priority), &members, spread) {
        return Ok(Unreached::None);
    }
    Ok(Unreached::Workers(Some(members)))
}

/// Sends a message to all elements of a collection, or of a section.
pub(crate) fn spread_from_worker<T: Chare>(local: &Local, all: All<T>, spread: impl Spread<T>) {
    let part = Part::<T>::of(local, all.collection);
    let find = |section| part.section(section);
    let members = match send_to_members(part.collection(), all, find, &spread) {
        Ok(Unreached::None) => return,
        Ok(Unreached::Workers(members)) => members,
        Err(failure) => return local.system().fail(failure),
    };
    // Send the message to the other nodes, then to the workers of this node.
    let crossed = out::cross_spread(local.system(), part.collection(), all, || spread.cross());
    out::spread_away(local.system(), crossed, local.epoch());
    let workers = workers_with(members.as_deref(), local.system().worker_count());
    send_to_workers(&local, all, workers, || spread.clone());
}

/// Sends a message to some workers, which deliver it to their elements. `spread` is called for each
/// worker.
pub(crate) fn send_to_workers<T: Chare, S: Spread<T>>(
    sender: &impl Sender,
    all: All<T>,
    workers: impl Iterator<Item = usize>,
    mut spread: impl FnMut() -> S,
) {
    let All {
        collection,
        section,
        priority,
        ..
    } = all;
    let epoch = sender.epoch();
    for worker in workers {
        let spread = spread();
        if sender.crossing().is_none() {
            let entry = (T::NAME, spread.name());
            recorded::sent_to_all(entry, collection, worker, size_of_val(&spread));
        }
        sender.post_in_turn(priority, None, worker, move |local| {
            deliver_spread(local, &Part::of(local, collection), section, epoch, spread);
        });
    }
}

/// Delivers a message to the elements that this worker has for senders in `epoch`. A clone or
/// result that panics does not affect other elements.
pub(crate) fn deliver_spread<T: Chare>(
    local: &Local,
    part: &Part<T>,
    section: Option<u32>,
    epoch: u32,
    spread: impl Spread<T>,
) {
    if part.is_under_construction() {
        return part.after_construction(move |local, part| {
            deliver_spread(local, part, section, epoch, spread);
        });
    }
    recorded::entry_of_all(
        (T::NAME, spread.name()),
        part.collection().id(),
        local.worker(),
    );
    // The sender has entered this epoch. This worker enters it before it looks up its elements.
    migration::enter_epoch(local, epoch);
    if let Some(section) = section {
        return deliver_to_members(local, part, section, epoch, spread);
    }
    // For elements that belong here in this epoch but have not arrived, keep the message.
    for number in part.to_come(epoch) {
        local.guard(|| part.keep_early(number, Box::new(spread.parcel())));
    }
    let mut at = 0;
    while let Some(number) = part.next_number(&mut at, epoch) {
        local.guard(|| spread.parcel().deliver(local, part, number));
    }
}

/// Delivers a message to the local members of a section. The last member gets the message itself,
/// the others clones. So after the last member has run, nothing of the message remains, except
/// where a member has kept it.
fn deliver_to_members<T: Chare>(
    local: &Local,
    part: &Part<T>,
    section: u32,
    epoch: u32,
    spread: impl Spread<T>,
) {
    let mut last = None;
    let give = |number| {
        if let Some(before) = last.replace(number) {
            local.guard(|| spread.parcel().deliver(local, part, before));
        }
    };
    let given = part.for_members(local.worker(), section, epoch, give);
    given.unwrap_or_else(|failure| local.system().fail(failure));
    if let Some(last) = last {
        local.guard(|| spread.into_parcel().deliver(local, part, last));
    }
}

/// Returns the workers that have elements of a collection, or may have members of a section.
pub(crate) fn workers_with(
    members: Option<&Members>,
    worker_count: usize,
) -> impl Iterator<Item = usize> {
    let has_any = move |&worker: &usize| members.is_none_or(|members| members.may_be_on(worker));
    (0..worker_count).filter(has_any)
}

/// Sends a message to the members one by one, or down the tree. Returns false, without sending, if
/// the form of the section is to send to workers.
fn spread_by_members<T: Chare>(
    collection: &Collection<T>,
    (section, priority): (u32, i32),
    members: &Members,
    spread: &impl Spread<T>,
) -> bool {
    let one = |position: usize| {
        One::new(
            collection.system_id(),
            collection.id(),
            members.numbers[position],
        )
        .with_priority(priority)
    };
    match members.multicast {
        SectionForm::PointToPoint => {
            for position in 0..members.numbers.len() {
                one(position).send_parcel(spread.parcel());
            }
        }
        SectionForm::Binomial if members.numbers.is_empty() => {}
        SectionForm::Binomial => one(0).send_parcel(PassOn {
            spread: spread.clone(),
            section,
            priority,
            position: 0,
        }),
        SectionForm::Auto | SectionForm::TwoLevel => return false,
    }
    true
}
