//! Scans: each element of an array, or each member of a section, gets the merged contributions of
//! all elements before it.
//!
//! Elements number their scans, separately for the array and for each section. The order is that of
//! the array or of the section, independent of where the elements are.
//!
//! # Forms
//! *Prescan-push*: all elements send their contributions to one worker, the root of the array or of
//! the section. The root merges them in order and pushes to each element the result of the elements
//! before it. This takes two messages per element, which that worker handles one after the other.
//!
//! *Recursive doubling*: in step k each element sends its merged value so far to the element 2ᵏ
//! after it. This takes log₂ n messages per element, in parallel. It is faster with more workers
//! than steps. An array over nodes always uses it: a step crosses nodes like any other message for
//! an element.
//!
//! # Source
//! Jetley, Kalé, sect. 5.D. For recursive doubling: Hillis, Steele: Data parallel algorithms.
//! Communications of the ACM 29(12), 1986.

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use raddle_runtime::choice;

use crate::address::number::Number;
use crate::codec::{Packed, Whole};
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::elements::part::{Part, Steps};
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::recorded;
use crate::remote::{self, WireMessage, out};
use crate::reply::{Replier, Reply, What, reply};
use crate::state::members::{Loss, Members};
use crate::state::merged::Merged;
use crate::state::rounds::{Group, name_of};
use crate::state::{Feature, LocalState};
use crate::suspended::{go_on, with_own_slot};
use raddle_collections::reduce::{Monoid, Reducer};

/// The way in which scans are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanForm {
    /// Recursive doubling with more workers than steps, else prescan-push.
    #[default]
    Auto,
    /// Prescan-push: to one worker, and back.
    PrescanPush,
    /// Recursive doubling: from element to element, over doubling distances.
    RecursiveDoubling,
}

choice! {
    ScanForm is "scan form", named by "`--scan`":
    Auto "auto", PrescanPush "prescan-push", RecursiveDoubling "recursive-doubling";
    expected "auto, prescan-push or recursive-doubling", else UnknownScanForm
}

impl ScanForm {
    fn settle(self, count: u64, workers: usize) -> Self {
        match self {
            Self::Auto if workers as u64 > u64::from(steps(count)) => Self::RecursiveDoubling,
            Self::Auto => Self::PrescanPush,
            form => form,
        }
    }
}

/// Returns the number of steps of recursive doubling over `count` elements.
fn steps(count: u64) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

/// The group of a scan, from the point of view of one participant.
pub(crate) struct Row {
    pub(crate) group: Group,
    /// The members of the section; `None` for all elements of an array.
    pub(crate) members: Option<Arc<Members>>,
    pub(crate) count: u64,
    /// The position of this participant.
    pub(crate) own: u64,
}

/// The state of a scan after an element has contributed: the value or the steps that it waits for.
enum Begun<R: Reducer> {
    /// Prescan-push: the reply of the root.
    Pushed(Reply<R::Output>),
    /// Recursive doubling: this element's contribution.
    Doubling(R),
}

impl<T: Chare> Cx<T> {
    /// Contributes to the array's next scan, and returns the merged contributions of all elements
    /// before this one, in their order.
    ///
    /// The first element gets the neutral value ([`Monoid::identity`]). Each element takes part
    /// once in each scan, all with the same kind of reducer.
    ///
    /// # Panics
    /// If the chare is in no array, or in one without a shape (those scan in sections, with
    /// [`scan_in`](Self::scan_in)); and if the scan can never complete, because an element has
    /// ended without contributing, or contributions have different types. Then this scan and all
    /// later ones panic in all elements. An element that is inserted in the place of another takes
    /// part in no scan.
    pub async fn scan<R: Monoid>(&mut self, reducer: R) -> R::Output {
        self.scan_with(ScanForm::Auto, reducer).await
    }

    /// Contributes like [`scan`](Self::scan), in the given form, which must be the same for all
    /// elements. An array over nodes uses recursive doubling, whatever the form.
    ///
    /// # Panics
    /// As for [`scan`](Self::scan).
    pub async fn scan_with<R: Monoid>(&mut self, form: ScanForm, reducer: R) -> R::Output {
        let row = self.with_collection(|collection| {
            assert!(
                collection.has_first_elements(),
                "{} has no order to scan in: it is in no array, or in one without a shape",
                collection.name(self.try_index())
            );
            Row {
                group: None,
                members: None,
                count: collection.population(),
                own: u64::from(self.one().number.index()),
            }
        });
        self.scan_row(row, form, reducer).await
    }

    pub(crate) async fn scan_row<R: Monoid>(
        &mut self,
        row: Row,
        form: ScanForm,
        reducer: R,
    ) -> R::Output {
        let scan = self.rounds().scan_of(row.group);
        recorded::note("contribute to scan", scan);
        let reducer = reducer.placed(row.own);
        let begun = self.with_part(|local, part| {
            if let Some(failure) = part.scan_loss(row.group, scan) {
                return Err(failure);
            }
            // An array over nodes always uses recursive doubling, because its steps are messages to
            // elements, which may be on any node.
            let doubles = part.collection().wide().is_some()
                || form.settle(row.count, local.system().worker_count())
                    == ScanForm::RecursiveDoubling;
            Ok(if doubles {
                Begun::Doubling(reducer)
            } else {
                Begun::Pushed(push_to_root(local, part, &row, scan, reducer))
            })
        });
        // Counted only now: if a fork of the entry polls this future, `with_part` has panicked, and
        // the element takes part in no scan.
        self.count_scan(row.group);
        match begun {
            Ok(Begun::Pushed(reply)) => reply.await,
            Ok(Begun::Doubling(reducer)) => self.double(&row, scan, reducer).await,
            Err(failure) => panic!("{failure}"),
        }
    }

    async fn double<R: Monoid>(&self, row: &Row, scan: u64, reducer: R) -> R::Output {
        let (one, key) = (self.one(), (row.group, scan));
        // `with` merges the contributions of this element and of the elements before it that are
        // known so far; `before` only those of the elements before it.
        let (mut with, mut before) = (reducer, R::identity());
        for step in 0..steps(row.count) {
            let distance = 1 << step;
            if row.own + distance < row.count {
                let value = Box::new(with.clone());
                self.at_place(row, row.own + distance)
                    .send_parcel(Step { key, step, value });
            }
            if row.own >= distance {
                let from_before: R = next_step(one, key, step).await;
                with = in_order(one, key, from_before.clone(), with);
                before = in_order(one, key, from_before, before);
            }
        }
        before.finish()
    }

    fn at_place(&self, row: &Row, place: u64) -> One<T> {
        let number = match &row.members {
            Some(members) => members.numbers[place as usize],
            None => {
                let place = u32::try_from(place).expect("arrays have fewer than 2^31 elements");
                self.with_collection(|collection| collection.at_position(place))
            }
        };
        One::new(self.one().system, self.one().collection, number)
    }
}

/// Merges a value with the value after it. Breaks the scan if they do not fit together.
fn in_order<T: Chare, R: Reducer>(one: One<T>, key: ScanId, mut first: R, second: R) -> R {
    if let Err(mismatch) = first.merge(second) {
        break_scan(one, key, unlike::<T>(key, mismatch));
    }
    first
}

/// Returns the reason why a scan and all later ones fail: contributions do not fit together.
fn unlike<T: Chare>((group, scan): ScanId, why: impl Display) -> Failure {
    let of = name_of(group, T::NAME);
    Failure::new(format!("scan {scan} of {of}: {why}"))
}

/// Returns the text for contributions of different types.
fn some_are<R: Reducer>() -> String {
    format!("some elements contribute {}, others do not", R::name())
}

/// Breaks the scan for all elements, and panics in this one.
fn break_scan<T: Chare>(one: One<T>, (group, scan): ScanId, failure: Failure) -> ! {
    local::with(one.system, |local| {
        let local = local.expect("entries run on workers of their system");
        let part = Part::<T>::of(local, one.collection);
        break_scans(local, &part, group, scan, &failure);
    });
    panic!("{failure}");
}

/// A scan: its group, and its number in that group.
pub(crate) type ScanId = (Group, u64);

/// A message of recursive doubling: the merged contributions of another element and some elements
/// before it.
pub(crate) struct Step {
    key: ScanId,
    step: u32,
    value: Box<dyn Merged>,
}

impl Step {
    /// Serialises the step for another node.
    fn write(&self, system: &System) -> Result<Packed, Failure> {
        let (Some(away), (None, scan)) = (remote::away(system), self.key) else {
            return Err(Failure::new("scans of sections do not cross nodes"));
        };
        let (kind, bytes) = away.reducers.write(&*self.value)?;
        Ok(Packed::step(&(scan, self.step, kind, Whole(bytes))))
    }

    /// Deserialises what [`write`](Self::write) returns.
    ///
    /// # Errors
    /// If the bytes are invalid.
    pub(crate) fn read(system: &System, args: &[u8]) -> Result<Self, Failure> {
        let read = postcard::from_bytes::<(u64, u32, u64, Whole<Vec<u8>>)>(args);
        let (scan, step, kind, Whole(bytes)) = read
            .map_err(|error| Failure::new(format!("a step of a scan cannot be read: {error}")))?;
        let away = remote::away(system).expect("it comes from another node");
        Ok(Self {
            key: (None, scan),
            step,
            value: away.reducers.read_merged(system.id(), kind, &bytes)?,
        })
    }
}

/// Turns the steps that an element has received back into messages.
pub(crate) fn messages_of<T: Chare>(steps: Steps) -> impl Iterator<Item = BoxedParcel<T>> {
    steps.into_iter().map(|((group, scan, step), value)| {
        let key = (group, scan);
        Box::new(Step { key, step, value }) as BoxedParcel<T>
    })
}

impl<T: Chare> Parcel<T> for Step {
    fn entry(&self) -> &'static str {
        "scan"
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        if !part.has_group(self.key.0) {
            // The receiver gets the failure when it scans.
            return;
        }
        let slot = part.slot(number);
        let Some(mut slot) = slot.filter(|slot| slot.can_receive()) else {
            return part.keep(local, number, Box::new(self));
        };
        let is_awaited = slot.put_step(self.key, self.step, self.value);
        drop(slot);
        if is_awaited {
            go_on(local, part, number);
        }
    }

    fn fail(self, system: &System, failure: Failure) {
        system.fail(failure);
    }

    fn cross(self, system: &System, _node: u16) -> Option<Packed> {
        let written = self.write(system);
        written.map_err(|failure| system.fail(failure)).ok()
    }
}

/// Waits for the message of a step.
fn next_step<T: Chare, R: Monoid>(
    one: One<T>,
    key: ScanId,
    step: u32,
) -> impl Future<Output = R> + Send {
    let (group, scan) = key;
    poll_fn(move |_| {
        let value = with_own_slot(one, |part, slot| {
            if let Some(failure) = part.scan_loss(group, scan) {
                return Err(failure);
            }
            Ok(slot.take_step(key, step))
        });
        let value = value.unwrap_or_else(|failure| panic!("{failure}"));
        match value.map(|value| value.into_any().downcast::<R>()) {
            Some(Ok(value)) => Poll::Ready(*value),
            Some(Err(_)) => break_scan(one, key, unlike::<T>(key, some_are::<R>())),
            None => Poll::Pending,
        }
    })
}

/// The incomplete prescan-push scans with their root on this worker.
#[derive(Default)]
pub(crate) struct Scans(BTreeMap<ScanId, PendingScan>);

impl LocalState for Scans {
    const FEATURE: Feature = Feature::Scan;
}

impl Scans {
    /// Returns the scans that are not complete.
    pub(crate) fn incomplete(&self) -> impl Iterator<Item = ScanId> {
        self.0.keys().copied()
    }

    /// Removes and returns the scans of a group from `from` on.
    fn take_from(&mut self, group: Group, from: u64) -> Vec<PendingScan> {
        let taken = self.0.range((group, from)..=(group, u64::MAX));
        let taken: Vec<ScanId> = taken.map(|(&key, _)| key).collect();
        let taken = taken.into_iter();
        taken.filter_map(|key| self.0.remove(&key)).collect()
    }
}

/// The progress of one scan.
struct PendingScan {
    missing: u64,
    /// [`Entries`] of the reducer.
    entries: Box<dyn AnyEntries>,
}

/// The contribution of each element, with the replier for its result.
type Entries<R> = Vec<Option<(R, Replier<<R as Reducer>::Output>)>>;

/// Type-erased [`Entries`].
trait AnyEntries: Any {
    fn fail(self: Box<Self>, failure: &Failure);
}

impl<R: Reducer> AnyEntries for Entries<R> {
    fn fail(self: Box<Self>, failure: &Failure) {
        for (_, replier) in self.into_iter().flatten() {
            replier.give(Err(failure.clone()));
        }
    }
}

/// Sends a contribution to the root, which replies with the merged contributions of the elements
/// before it.
fn push_to_root<T: Chare, R: Monoid>(
    local: &Local,
    part: &Part<T>,
    &Row { group, own, .. }: &Row,
    scan: u64,
    reducer: R,
) -> Reply<R::Output> {
    let what = What {
        chare: T::NAME,
        entry: "scan",
    };
    let (replier, reply) = reply(part.collection().system_id(), None, what);
    let collection = part.collection().id();
    match part.root_of(group) {
        Ok(root) => local.post(root, move |local| {
            let part = Part::<T>::of(local, collection);
            take_scan(local, &part, (group, scan), own, reducer, replier);
        }),
        Err(failure) => replier.give(Err(failure)),
    }
    reply
}

/// Adds the contribution of the element at position `place`. After the last contribution, replies
/// to all elements. Runs on the root.
fn take_scan<T: Chare, R: Monoid>(
    local: &Local,
    part: &Part<T>,
    key: ScanId,
    place: u64,
    reducer: R,
    replier: Replier<R::Output>,
) {
    let (group, scan) = key;
    // A scan that can never complete fails at once.
    let lost = part.scan_loss(group, scan).map_or(Ok(()), Err);
    let count = match lost.and_then(|()| part.population_of(group)) {
        Ok(count) => count,
        Err(failure) => return replier.give(Err(failure)),
    };
    let mut scans = part.state::<Scans>().borrow_mut();
    let pending = scans.0.entry(key).or_insert_with(|| {
        let entries: Entries<R> = (0..count).map(|_| None).collect();
        PendingScan {
            missing: count,
            entries: Box::new(entries),
        }
    });
    let Some(entries) = (&mut *pending.entries as &mut dyn Any).downcast_mut::<Entries<R>>() else {
        drop(scans);
        let failure = unlike::<T>(key, some_are::<R>());
        break_scans(local, part, group, scan, &failure);
        return replier.give(Err(failure));
    };
    entries[place as usize] = Some((reducer, replier));
    pending.missing -= 1;
    if pending.missing > 0 {
        return;
    }
    let entries = std::mem::take(entries);
    scans.0.remove(&key);
    drop(scans);
    // All have contributed: reply to each element with the merged value of those before it.
    let mut before = Ok(R::identity());
    for (reducer, replier) in entries.into_iter().flatten() {
        local.guard(|| replier.give(before.clone().map(Reducer::finish)));
        let merged = before.as_mut().map(|before| before.merge(reducer));
        if let Ok(Err(mismatch)) = merged {
            let failure = unlike::<T>(key, mismatch);
            break_scans(local, part, group, scan, &failure);
            before = Err(failure);
        }
    }
}

/// Fails all waits on this worker for the scans of a group that will have no result.
pub(crate) fn lose_scans<T: Chare>(local: &Local, part: &Part<T>, group: Group) {
    let Ok(Some((from, failure))) = part.with_scan_loss(group, Loss::first) else {
        return;
    };
    fail_scans(local, part, group, from, &failure);
    // Other elements wait for a step of recursive doubling, and are resumed to fail.
    let waiting = match group {
        None => elements_awaiting_steps(part),
        Some(section) => match part.section(section) {
            Ok(members) => members.numbers.clone(),
            Err(_) => return,
        },
    };
    for number in waiting {
        local.guard(|| go_on_without_result(local, part, number));
    }
}

fn fail_scans<T: Chare>(local: &Local, part: &Part<T>, group: Group, from: u64, failure: &Failure) {
    let lost = part.state::<Scans>().borrow_mut().take_from(group, from);
    for pending in lost {
        local.guard(|| pending.entries.fail(failure));
    }
}

/// Resumes the element if it waits for a step of a scan that has no result.
pub(crate) fn go_on_without_result<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let awaited = part.slot(number).and_then(|slot| slot.awaited_scan());
    if let Some((group, scan)) = awaited
        && part.scan_loss(group, scan).is_some()
    {
        go_on(local, part, number);
    }
}

/// Removes the scans of a section that no longer exists: fails their waiters and drops their
/// messages.
pub(crate) fn forget_scans<T: Chare>(
    local: &Local,
    part: &Part<T>,
    section: u32,
    members: &Members,
    failure: &Failure,
) {
    fail_scans(local, part, Some(section), 0, failure);
    for &number in members.numbers.iter().filter(|&&number| part.has(number)) {
        let steps = part.slot(number).map(|mut slot| slot.take_steps(section));
        for value in steps.into_iter().flatten() {
            local.guard(|| drop(value));
        }
        local.guard(|| go_on_without_result(local, part, number));
    }
}

/// Breaks the scans of a group from `from` on, on all nodes: all present and future waits for them
/// fail with the given failure.
pub(crate) fn break_scans<T: Chare>(
    local: &Local,
    part: &Part<T>,
    group: Group,
    from: u64,
    failure: &Failure,
) {
    let is_first = break_scans_here(local, part, group, from, failure);
    if let (true, None, Some(collection)) = (is_first, group, part.collection().wide()) {
        out::send_to_others(
            local.system(),
            &WireMessage::ScanLoss {
                collection,
                from,
                why: &failure.to_string(),
            },
        );
    }
}

/// Breaks scans like `break_scans`, for this node only. Returns false if they were broken before.
pub(crate) fn break_scans_here<T: Chare>(
    local: &Local,
    part: &Part<T>,
    group: Group,
    from: u64,
    failure: &Failure,
) -> bool {
    // If the group no longer exists, all waiters have been notified already.
    let is_first = part.with_scan_loss(group, |loss| loss.note(from, failure));
    if is_first != Ok(true) {
        return false;
    }
    let collection = part.collection().id();
    for worker in 0..local.system().worker_count() {
        local.post_seldom(worker, move |local| {
            lose_scans::<T>(local, &Part::of(local, collection), group);
        });
    }
    true
}

/// Returns the elements here with an asynchronous entry that waits for steps of scans.
fn elements_awaiting_steps<T: Chare>(part: &Part<T>) -> Vec<Number> {
    let mut waiting = Vec::new();
    let Ok(()) = part.try_for_slots(|slot| {
        if slot.awaited_scan().is_some() {
            waiting.push(slot.number());
        }
        Ok::<_, Infallible>(())
    });
    waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_takes_as_many_steps_as_it_needs() {
        let expected = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1000, 10)];
        for (count, result) in expected {
            assert_eq!(steps(count), result, "{count}");
        }
    }
}
