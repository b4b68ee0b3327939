//! `offer_during`: work that thieves may take while its worker does something else, at next to no
//! cost.
//!
//! An offer is a fork that its worker publishes only if it is asked for another reason: its push
//! and pop pass by the gates. A loop can therefore offer what is left of it for every few items
//! that it runs. No worker is woken for a loop of a microsecond. If those items take long, a thief
//! raids the offer ([`crate::worker`]).

use std::panic::resume_unwind;

use raddle_sync::split_stack::Slot;

use super::ForkStack;
use super::current::{current_forks, worker_of};
use super::job::StackJob;
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

/// Calls `during` on the current worker while thieves may call `call` with `value`. Waits for a
/// thief that has begun.
///
/// On a thread that is no worker, and without room for another fork, the value is not offered.
///
/// # Panics
/// With the panic of `during`, which drops the value if no thief has it; or else with that of
/// `call`.
#[inline]
pub(crate) fn offer_during<V: Send, R: Send, RA>(
    value: V,
    call: impl FnOnce(V) -> R + Send,
    during: impl FnOnce() -> RA,
) -> (RA, Offered<V, R>) {
    let forks = current_forks();
    let slot = forks.stack.top();
    if !forks.stack.has_room(slot) {
        return (during(), Offered::Kept(value));
    }
    let job = StackJob::with_value(value, call);
    // SAFETY: we are the owner, since there is room, and only owners have any.
    unsafe { forks.stack.push(slot, job.slot()) };
    let unwinding = PopOnUnwind {
        forks,
        slot,
        job: &job,
    };
    let result = during();
    std::mem::forget(unwinding);
    if !pop(forks, slot) {
        // SAFETY: popped while private or taken back: ours.
        let (value, _call) = unsafe { job.take() };
        return (result, Offered::Kept(value));
    }
    // SAFETY: `pop` saw that a thief has run it.
    match unsafe { job.result() } {
        Ok(made) => (result, Offered::Taken(made)),
        Err(panic) => {
            // Not while unwinding: a second panic, of its destructor, would end the process.
            discard(result);
            resume_unwind(panic)
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
struct PopOnUnwind<'a, P, R> {
    forks: &'a ForkStack,
    slot: *mut Slot,
    job: &'a StackJob<P, R>,
}

impl<P, R> Drop for PopOnUnwind<'_, P, R> {
    #[cold]
    fn drop(&mut self) {
        if pop(self.forks, self.slot) {
            // SAFETY: `pop` saw that a thief has run it. A panic of its own gives way to ours.
            discard(unsafe { self.job.result() });
        } else {
            // SAFETY: ours, and dropped without being used. A panic of its destructor gives way to
            // ours.
            discard(unsafe { self.job.take() });
        }
    }
}
