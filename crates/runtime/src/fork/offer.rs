//! Offers: work that thieves may take while its worker does something else, at almost no cost.
//!
//! An offer is a fork. Its push and its pop ignore the gates, so they publish nothing when another
//! worker asks for work. (A join during the offer may publish it.) A loop can therefore offer its
//! remaining items for every few items that it runs, and no worker is woken for a loop of a
//! microsecond. If those items take long, a thief raids the offer ([`crate::worker`]).

use std::panic::resume_unwind;

use raddle_sync::split_stack::Slot;

use super::job::{Application, StackJob};
use super::join::end_published;
use crate::panics::discard;
use crate::worker::{Forks, current_forks, worker_of};

/// The outcome of an offer.
#[derive(Debug)]
pub(crate) enum Offered<V, R> {
    /// No thief took the value; it is the caller's again.
    Kept(V),
    /// A thief took the value and returned this result.
    Taken(R),
}

/// A job for thieves that can be offered any number of times, each time with another value.
pub(crate) struct Offer<'a, V, F, R> {
    forks: &'a Forks,
    job: StackJob<Application<V, F>, R>,
}

impl<V: Send, F: Fn(V) -> R + Copy + Send, R: Send> Offer<'_, V, F, R> {
    /// Creates an offer. A thief calls `call` with the value that it takes. On a thread that is no
    /// worker, nothing is ever offered.
    #[inline]
    pub(crate) fn of(call: F) -> Self {
        Self {
            forks: current_forks(),
            job: StackJob::with_function(call),
        }
    }

    /// Calls `during` on the current worker while thieves may take `value`. Waits for a thief that
    /// has begun.
    ///
    /// If the fork stack is full, the value is not offered. Cost without thieves: about fifteen
    /// instructions.
    ///
    /// # Panics
    /// With the panic of `during`, after dropping the value if no thief has it; otherwise with the
    /// panic of the thief.
    #[inline]
    pub(crate) fn during<RA>(
        &mut self,
        value: V,
        during: impl FnOnce() -> RA,
    ) -> (RA, Offered<V, R>) {
        let stack = self.forks.slots();
        let slot = stack.top();
        if !stack.has_capacity(slot) {
            return (during(), Offered::Kept(value));
        }
        // SAFETY: not pushed, so no other thread can see it.
        unsafe { self.job.give(value) };
        // SAFETY: we are the owner, because only the stacks of owners have capacity.
        unsafe { stack.push(slot, self.job.slot()) };
        let unwinding = PopOnUnwind { offer: self, slot };
        let result = during();
        std::mem::forget(unwinding);
        if !pop(self.forks, slot) {
            // SAFETY: given above. No thief had it when it was popped.
            return (result, Offered::Kept(unsafe { self.job.take_back() }));
        }
        // SAFETY: `pop` saw that a thief has run it.
        match unsafe { self.job.result() } {
            Ok(made) => (result, Offered::Taken(made)),
            Err(panic) => {
                // Dropped before unwinding: a second panic, of its destructor, would end the
                // process.
                discard(result);
                resume_unwind(panic)
            }
        }
    }
}

/// Pops the offer. Returns true if a thief has run it, and false if it is the caller's again.
#[inline]
fn pop(forks: &Forks, slot: *mut Slot) -> bool {
    let anyone_sleeps =
        || worker_of(forks).is_some_and(|worker| worker.shared().idle().anyone_sleeps());
    // SAFETY: we are the owner; all forks that were pushed since have been popped.
    match unsafe { forks.slots().pop_offer(slot, anyone_sleeps) } {
        None => false,
        Some(cell) => end_taken(forks, cell),
    }
}

#[cold]
fn end_taken(forks: &Forks, cell: *mut ()) -> bool {
    let worker = worker_of(forks).expect("only workers have offers");
    let is_run = end_published(worker, cell);
    if !is_run {
        forks.slots().count_inline();
    }
    is_run
}

/// Takes the offer back when the call that it accompanies unwinds.
struct PopOnUnwind<'a, 'b, V: Send, F: Fn(V) -> R + Copy + Send, R: Send> {
    offer: &'a Offer<'b, V, F, R>,
    slot: *mut Slot,
}

impl<V: Send, F: Fn(V) -> R + Copy + Send, R: Send> Drop for PopOnUnwind<'_, '_, V, F, R> {
    #[cold]
    fn drop(&mut self) {
        let job = &self.offer.job;
        if pop(self.offer.forks, self.slot) {
            // SAFETY: `pop` saw that a thief has run it. A panic of its own is discarded in favour
            // of ours.
            discard(unsafe { job.result() });
        } else {
            // SAFETY: given before the push, and popped while no thief had it. A panic of its
            // destructor is discarded in favour of ours.
            discard(unsafe { job.take_back() });
        }
    }
}
