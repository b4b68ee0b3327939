//! Offers: work that thieves may take while its worker does something else, at next to no cost.
//!
//! An offer is a fork that its worker publishes only if it is asked for another reason: its push
//! and pop pass by the gates. A loop can therefore offer what is left of it for every few items
//! that it runs. No worker is woken for a loop of a microsecond. If those items take long, a thief
//! raids the offer ([`crate::worker`]).

use std::panic::resume_unwind;

use raddle_sync::split_stack::Slot;

use super::ForkStack;
use super::current::{current_forks, worker_of};
use super::job::{Application, StackJob};
use super::join::end_published;
use crate::task::discard;

/// What has become of an offer.
#[derive(Debug)]
pub(crate) enum Offered<V, R> {
    /// No thief took it: the value is the caller's again.
    Kept(V),
    /// A thief took the value and made this of it.
    Taken(R),
}

/// A job for thieves, offered any number of times: each time with another value.
pub(crate) struct Offer<'a, V, F, R> {
    forks: &'a ForkStack,
    job: StackJob<Application<V, F>, R>,
}

impl<V: Send, F: Fn(V) -> R + Copy + Send, R: Send> Offer<'_, V, F, R> {
    /// Thieves are to call `call`. On a thread that is no worker, nothing is ever offered.
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
    /// Without room for another fork, the value is not offered. Cost without thieves: some fifteen
    /// instructions.
    ///
    /// # Panics
    /// With the panic of `during`, which drops the value if no thief has it; or else with that of
    /// the thief.
    #[inline]
    pub(crate) fn during<RA>(
        &mut self,
        value: V,
        during: impl FnOnce() -> RA,
    ) -> (RA, Offered<V, R>) {
        let stack = &self.forks.stack;
        let slot = stack.top();
        if !stack.has_capacity(slot) {
            return (during(), Offered::Kept(value));
        }
        // SAFETY: not pushed, so no other thread can see it.
        unsafe { self.job.give(value) };
        // SAFETY: we are the owner, since there is room, and only owners have any.
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
                // Not while unwinding: a second panic, of its destructor, would end the process.
                discard(result);
                resume_unwind(panic)
            }
        }
    }
}

/// Pops the offer; true when a thief has run it, false when it is the caller's.
#[inline]
fn pop(forks: &ForkStack, slot: *mut Slot) -> bool {
    let anyone_sleeps =
        || worker_of(forks).is_some_and(|worker| worker.shared().idle.anyone_sleeps());
    // SAFETY: we are the owner; all forks that were pushed since have been popped.
    match unsafe { forks.stack.pop_offer(slot, anyone_sleeps) } {
        None => false,
        Some(cell) => end_taken(forks, cell),
    }
}

#[cold]
fn end_taken(forks: &ForkStack, cell: *mut ()) -> bool {
    let worker = worker_of(forks).expect("only workers have offers");
    let is_run = end_published(worker, cell);
    if !is_run {
        forks.stack.count_inline();
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
            // SAFETY: `pop` saw that a thief has run it. A panic of its own gives way to ours.
            discard(unsafe { job.result() });
        } else {
            // SAFETY: given before the push, and popped while no thief had it. A panic of its
            // destructor gives way to ours.
            discard(unsafe { job.take_back() });
        }
    }
}
