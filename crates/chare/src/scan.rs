//! Scans: each element of an array gets what all before it have contributed.
//!
//! # Forms
//! *Prescan-push*: all send their contributions to one worker, which merges them in order and pushes to each what came before it. Two messages
//! an element, one after the other at that worker.
//!
//! *Recursive doubling*: in step k each element sends what it has merged so far to the one 2ᵏ after it. Log₂ n messages an element, all
//! elements at once. It is quicker where there are more workers than steps.
//!
//! # Source
//! Jetley, Kalé, sect. 5.D. Hillis, Steele: Data parallel algorithms. Communications of the ACM 29(12), 1986, for recursive doubling.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::future::poll_fn;
use std::task::Poll;

use raddle_runtime::choice;

use crate::cx::Cx;
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local::{self, Local};
use crate::number::Number;
use crate::parcel::Parcel;
use crate::part::Part;
use crate::proxy::One;
use crate::reduce::{Monoid, Reducer};
use crate::reply::{Replier, What, reply};
use crate::suspended::{go_on, with_own_slot};
use crate::system::System;

/// How scans travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanForm {
    /// Recursive doubling where there are more workers than steps, else prescan-push.
    #[default]
    Auto,
    /// To one worker, and back.
    PrescanPush,
    /// From element to element, ever farther.
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

/// The steps of recursive doubling over `count` elements.
fn steps(count: u64) -> u32 {
    count.next_power_of_two().trailing_zeros()
}

impl<T: Chare> Cx<T> {
    /// Contributes to the array's next scan, and waits for what all elements before this one have contributed, merged in their order.
    ///
    /// The first element gets what nobody has contributed ([`Monoid::identity`]). Each element takes part once in each scan, all with the same
    /// kind of reducer.
    ///
    /// # Panics
    /// When the chare is in no array, or in one without a shape; and where the scan will never be complete, since an element has ended without
    /// contributing to it, or contributions do not go together: then all elements are told, in this scan and in all later ones. One that is
    /// inserted in the place of another takes part in no scan.
    pub async fn scan<R: Monoid>(&mut self, reducer: R) -> R::Output {
        self.scan_with(ScanForm::Auto, reducer).await
    }

    /// As [`scan`](Self::scan), in a form of one's own choice, which is the same for all.
    ///
    /// # Panics
    /// As [`scan`](Self::scan).
    pub async fn scan_with<R: Monoid>(&mut self, form: ScanForm, reducer: R) -> R::Output {
        let (count, form) = self.with_part(|local, part| {
            assert!(
                part.collection.has_birth(),
                "{} has no order to scan in: it is in no array, or in one without a shape",
                part.collection.name(self.try_index())
            );
            let count = part.collection.population;
            (count, form.settle(count, local.system.worker_count()))
        });
        let scan = self.next_scan();
        let lost = self.with_part(|_, part| part.scans.borrow().loss(scan));
        if let Some(failure) = lost {
            panic!("{failure}");
        }
        let reducer = reducer.placed(u64::from(self.one().number.index()));
        match form {
            ScanForm::RecursiveDoubling => self.double(scan, count, reducer).await,
            ScanForm::Auto | ScanForm::PrescanPush => self.push(scan, reducer).await,
        }
    }

    fn push<R: Monoid>(
        &self,
        scan: u64,
        reducer: R,
    ) -> impl Future<Output = R::Output> + Send + use<T, R> {
        let what = What {
            chare: T::NAME,
            entry: "scan",
        };
        let (replier, reply) = reply(self.one().system, None, what);
        let One {
            collection, number, ..
        } = self.one();
        self.with_part(|local, part| {
            local.post(part.collection.root, move |local| {
                local.take_scan(&local.part::<T>(collection), scan, number, reducer, replier);
            });
        });
        reply
    }

    async fn double<R: Monoid>(&self, scan: u64, count: u64, reducer: R) -> R::Output {
        let one = self.one();
        let own = u64::from(one.number.index());
        // What this element and those before it, and what those before it, have contributed.
        let (mut with, mut before) = (reducer, R::identity());
        for step in 0..steps(count) {
            let distance = 1 << step;
            if own + distance < count {
                let value = Box::new(with.clone());
                self.at_position(own + distance)
                    .dispatch(Step { scan, step, value });
            }
            if own >= distance {
                let from_before: R = next_step(one, scan, step).await;
                with = in_order(one, scan, from_before.clone(), with);
                before = in_order(one, scan, from_before, before);
            }
        }
        before.finish()
    }

    fn at_position(&self, position: u64) -> One<T> {
        self.with_part(|_, part| {
            let position = u32::try_from(position).expect("arrays have fewer than 2^31 elements");
            part.one(part.collection.at_position(position))
        })
    }
}

/// Merges what comes before with what comes after it.
fn in_order<T: Chare, R: Reducer>(one: One<T>, scan: u64, mut first: R, second: R) -> R {
    if let Err(mismatch) = first.merge(second) {
        break_scan(one, scan, unlike::<T>(scan, mismatch));
    }
    first
}

/// Why a scan, and those after it, have no result: contributions do not go together.
fn unlike<T: Chare>(scan: u64, why: impl Display) -> Failure {
    Failure::new(format!("scan {scan} of {}: {why}", T::NAME))
}

/// What the contributions of some elements are, and not those of others.
fn some_are<R: Reducer>() -> String {
    format!("some elements contribute {}, others not", R::name())
}

/// Has all elements told that there will be no result, this one by a panic.
fn break_scan<T: Chare>(one: One<T>, scan: u64, failure: Failure) -> ! {
    local::with(one.system, |local| {
        let local = local.expect("entries run on workers of their system");
        let part = local.part::<T>(one.collection);
        part.break_scans(local, scan, &failure);
    });
    panic!("{failure}");
}

/// What an element has got in a step of a scan.
pub(crate) type Steps = HashMap<(u64, u32), Box<dyn Any + Send>>;

/// The contribution of another element.
struct Step {
    scan: u64,
    step: u32,
    value: Box<dyn Any + Send>,
}

impl<T: Chare> Parcel<T> for Step {
    fn entry(&self) -> &'static str {
        "scan"
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        let at = part.slot_of(number);
        let mut slots = part.slots.borrow_mut();
        let Some(slot) = slots.get_mut(at, number) else {
            drop(slots);
            return part.keep(local, number, Box::new(self));
        };
        let aside = slot.aside();
        aside.steps.insert((self.scan, self.step), self.value);
        let is_awaited = aside.awaits_inbox;
        drop(slots);
        if is_awaited {
            go_on(local, part, number);
        }
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        self.deliver(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        system.fail(failure);
    }
}

/// Waits for the contribution of a step.
fn next_step<T: Chare, R: Monoid>(
    one: One<T>,
    scan: u64,
    step: u32,
) -> impl Future<Output = R> + Send {
    poll_fn(move |_| {
        let lost = local::with(one.system, |local| {
            let local = local.expect("entries run on workers of their system");
            local.part::<T>(one.collection).scans.borrow().loss(scan)
        });
        if let Some(failure) = lost {
            panic!("{failure}");
        }
        let value = with_own_slot(one, |slot| {
            let aside = slot.aside();
            let value = aside.steps.remove(&(scan, step));
            aside.awaits_inbox |= value.is_none();
            value
        });
        match value.map(|value| value.downcast::<R>()) {
            Some(Ok(value)) => Poll::Ready(*value),
            Some(Err(_)) => break_scan(one, scan, unlike::<T>(scan, some_are::<R>())),
            None => Poll::Pending,
        }
    })
}

/// What a worker knows of an array's scans.
#[derive(Default)]
pub(crate) struct Scans {
    /// At the root: those that are not complete, by their number.
    open: BTreeMap<u64, Sheet>,
    /// The first that has no result, as none after it has, and why.
    lost: Option<(u64, Failure)>,
}

impl Scans {
    /// Why a scan has no result, as far as this worker knows.
    pub(crate) fn loss(&self, scan: u64) -> Option<Failure> {
        let lost = self.lost.as_ref().filter(|lost| lost.0 <= scan);
        lost.map(|lost| lost.1.clone())
    }

    /// Scans from `from` on have no results.
    pub(crate) fn lose(&mut self, from: u64, failure: &Failure) {
        if self.loss(from).is_none() {
            self.lost = Some((from, failure.clone()));
        }
    }
}

/// What has come of a scan.
pub(crate) struct Sheet {
    missing: u64,
    /// [`Entries`] of the reducer.
    entries: Box<dyn AnyEntries>,
}

/// What each element has contributed, and who waits for what comes of it.
type Entries<R> = Vec<Option<(R, Replier<<R as Reducer>::Output>)>>;

/// Says which scans of an array of `population` elements are not complete.
pub(crate) fn explain_scans(scans: &Scans, name: &str, population: u64, lines: &mut Vec<String>) {
    for (scan, sheet) in &scans.open {
        let count = population - sheet.missing;
        lines.push(format!(
            "scan {scan} of {name} has {count} of {population} contributions"
        ));
    }
}

/// The same, whatever is contributed.
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

impl Local {
    /// Takes in a contribution to a scan, and replies to all when it is the last.
    fn take_scan<T: Chare, R: Monoid>(
        &self,
        part: &Part<T>,
        scan: u64,
        number: Number,
        reducer: R,
        replier: Replier<R::Output>,
    ) {
        let count = part.collection.population;
        let mut scans = part.scans.borrow_mut();
        if let Some(failure) = scans.loss(scan) {
            return replier.give(Err(failure));
        }
        let sheet = scans.open.entry(scan).or_insert_with(|| {
            let entries: Entries<R> = (0..count).map(|_| None).collect();
            Sheet {
                missing: count,
                entries: Box::new(entries),
            }
        });
        let Some(entries) = (&mut *sheet.entries as &mut dyn Any).downcast_mut::<Entries<R>>()
        else {
            drop(scans);
            let failure = unlike::<T>(scan, some_are::<R>());
            part.break_scans(self, scan, &failure);
            return replier.give(Err(failure));
        };
        entries[number.index() as usize] = Some((reducer, replier));
        sheet.missing -= 1;
        if sheet.missing > 0 {
            return;
        }
        let entries = std::mem::take(entries);
        scans.open.remove(&scan);
        drop(scans);
        let mut before = Ok(R::identity());
        for (reducer, replier) in entries.into_iter().flatten() {
            self.guard(|| replier.give(before.clone().map(Reducer::finish)));
            let merged = before.as_mut().map(|before| before.merge(reducer));
            if let Ok(Err(mismatch)) = merged {
                let failure = unlike::<T>(scan, mismatch);
                part.break_scans(self, scan, &failure);
                before = Err(failure);
            }
        }
    }

    /// Scans from `from` on have no results: whoever waits on this worker for one of those is told.
    pub(crate) fn lose_scans<T: Chare>(&self, part: &Part<T>, from: u64, failure: &Failure) {
        let mut scans = part.scans.borrow_mut();
        scans.lose(from, failure);
        let lost = scans.open.split_off(&from);
        drop(scans);
        for sheet in lost.into_values() {
            sheet.entries.fail(failure);
        }
        // Some of them wait for a step of recursive doubling.
        for number in part.who_awaits() {
            self.guard(|| go_on(self, part, number));
        }
    }
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
