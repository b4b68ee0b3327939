//! Asynchronous entries: they run until they wait, and resume when the awaited message or value
//! arrives.
//!
//! While such an entry waits, it keeps exclusive access to its element, as every entry does while
//! it runs: no other entry runs in between. Calls of other entries wait until it ends. Messages
//! that asynchronous entries wait for are put into the element's inbox. The element is stored in
//! the entry's future meanwhile, so that both can move to another worker together.
//!
//! A waker sends a message to the element, because both the thread that wakes and the element may
//! be anywhere.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use crate::address::number::Number;
use crate::call::{Call, Kind};
use crate::engine::context::wait_outside;
use crate::engine::elements::parcel::{Finish, Parcel};
use crate::engine::elements::part::{Body, EntryFuture, Failed, Part, Slot, Suspended};
use crate::engine::local::{self, Local};
use crate::engine::object::chare::{AsyncEntry, Chare, Message};
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle;
use crate::measure;
use crate::recorded;

/// A waker that sends a message to an element.
struct ElementWaker<T: Chare>(One<T>);

impl<T: Chare> Wake for ElementWaker<T> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.send_parcel(GoOn);
    }
}

/// The message of a waker.
struct GoOn;

impl<T: Chare> Parcel<T> for GoOn {
    fn entry(&self) -> &'static str {
        "wake"
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        go_on(local, part, number);
    }

    /// Does nothing: the element has ended, so no entry waits.
    fn fail(self, _system: &System, _failure: Failure) {}
}

/// Resumes the waiting asynchronous entry of an element. If no entry waits, the wake-up was for
/// something that the entry had received already.
pub(crate) fn go_on<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let Some(mut slot) = part.slot(number) else {
        // The element is moving here, or has ended.
        if part.is_expected(local, number) {
            part.keep(local, number, Box::new(GoOn));
        }
        return;
    };
    let suspended = slot.resume();
    drop(slot);
    if let Some(suspended) = suspended {
        advance(local, part, number, suspended);
    }
}

/// Runs an asynchronous entry until it waits or ends. After its end, runs the messages that have
/// waited for it.
fn advance<T: Chare>(local: &Local, part: &Part<T>, number: Number, mut suspended: Suspended<T>) {
    let id = (part.collection().id(), number);
    let outer = local.replace_running(Some(id));
    let start = measure::start(part, local, number);
    recorded::entry((T::NAME, suspended.entry()), id);
    let polled = suspended.poll();
    local.replace_running(outer);
    if let Some(start) = start {
        measure::stop(part, local, number, start);
    }
    local.run_deferred();
    let slot = part.slot(number);
    let mut slot = slot.expect("the element stays where it runs");
    match polled {
        Poll::Pending => slot.suspend(suspended),
        Poll::Ready(Ok(mut body)) => {
            let rest = body.cx.has_rest().then(|| body.cx.take_rest());
            slot.end_entry(body);
            drop(slot);
            if let Some(rest) = rest.filter(|rest| rest.ends) {
                lifecycle::end(local, part, number, &rest.rounds);
            } else {
                run_backlog(local, part, number);
            }
        }
        Poll::Ready(Err(Failed {
            rounds,
            panic,
            report,
        })) => {
            drop(slot);
            lifecycle::panicked(
                local,
                part,
                number,
                suspended.entry(),
                &rounds,
                &*panic,
                |failure| {
                    report(failure, local.system());
                },
            );
        }
    }
}

/// Runs the messages that have waited for the end of an asynchronous entry, until one of them
/// starts an entry that waits.
///
/// If an asynchronous entry among these messages ends at once, it calls this function again. The
/// inner call leaves the rest to the outer call.
fn run_backlog<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    if !part.begin_backlog(number) {
        return;
    }
    loop {
        let next = part
            .slot(number)
            .and_then(|mut slot| slot.next_in_backlog());
        let Some(parcel) = next else { break };
        part.run(local, number, parcel);
    }
    part.end_backlog(number);
}

/// The kind of call that starts an [`AsyncEntry`].
pub(crate) struct Start;

impl<E: AsyncEntry> Kind<E> for Start {
    fn deliver<F: Finish<E::Output>>(
        call: Call<E, Self, F>,
        local: &Local,
        part: &Part<E::Chare>,
        number: Number,
    ) {
        // The entry's future owns the element from now on.
        let body = part.slot(number).and_then(|mut slot| slot.begin_entry());
        let Some(body) = body else {
            return part.keep(local, number, Box::new(call));
        };
        let waker = Waker::from(Arc::new(ElementWaker(part.one(number))));
        let suspended = Suspended::new(E::NAME, begin(call, body), waker);
        advance(local, part, number, suspended);
    }
}

/// Returns the future of an asynchronous entry, which has its element until it ends.
fn begin<E: AsyncEntry, F: Finish<E::Output>>(
    call: Call<E, Start, F>,
    mut body: Body<E::Chare>,
) -> EntryFuture<E::Chare> {
    Box::pin(async move {
        let Call { args, finish, .. } = call;
        let result = {
            let mut call = pin!(E::call(&mut body.me, &mut body.cx, args));
            poll_fn(|context| {
                match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))) {
                    Ok(Poll::Pending) => Poll::Pending,
                    Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
                    Err(panic) => Poll::Ready(Err(panic)),
                }
            })
            .await
        };
        match result {
            Ok(output) => {
                // If nothing waits for the output, it is dropped here. A panic in its destructor
                // does not end the element.
                local::with(body.cx.one().system, |local| {
                    let local = local.expect("a worker polls the entries of its elements");
                    local.guard(|| finish.done(output));
                });
                Ok(body)
            }
            Err(panic) => Err(Failed {
                rounds: body.cx.rounds().clone(),
                panic,
                report: Box::new(|failure, system| finish.failed(system, failure)),
            }),
        }
    })
}

/// The kind of call that puts a [`Message`] into the element's inbox.
pub(crate) struct File;

impl<M: Message> Kind<M> for File {
    fn deliver<F: Finish<()>>(
        call: Call<M, Self, F>,
        local: &Local,
        part: &Part<M::Chare>,
        number: Number,
    ) {
        let slot = part.slot(number);
        let Some(mut slot) = slot.filter(|slot| slot.can_receive()) else {
            return part.keep(local, number, Box::new(call));
        };
        let id = (part.collection().id(), number);
        recorded::entry((M::Chare::NAME, M::NAME), id);
        let is_awaited = slot.put_message::<M>(call.args, F::IS_TO_ALL);
        drop(slot);
        if is_awaited {
            go_on(local, part, number);
        }
    }
}

/// Calls `call` with the part and the slot of an element that runs an asynchronous entry.
///
/// # Panics
/// If another entry of the element runs, and on a thread that is not a worker: a future polled
/// there would wait for ever.
pub(crate) fn with_own_slot<T: Chare, R>(
    one: One<T>,
    call: impl FnOnce(&Part<T>, &mut Slot<T>) -> R,
) -> R {
    let called = local::with(one.system, |local| {
        let part = Part::<T>::of(local?, one.collection);
        let mut slot = part.try_slot(one.number)?;
        Some(call(&part, &mut slot))
    });
    match called {
        Some(result) => result,
        None => wait_outside::<T>(),
    }
}

impl<T: Chare> Cx<T> {
    /// Waits for a message of a kind: the oldest one that has arrived, or the next one.
    ///
    /// # Panics
    /// If the future is polled outside of the element's `async` entries, or by a fork of such an
    /// entry on another worker.
    pub fn next<M: Message<Chare = T>>(
        &self,
        kind: M,
    ) -> impl Future<Output = M::Args> + Send + use<T, M> {
        self.next_where(kind, |_| true)
    }

    /// Waits for a message of a kind for which `is_it` returns true: the oldest message that has
    /// arrived, or the next one.
    ///
    /// Other messages stay in the queue. They are tested again whenever a message of the kind
    /// arrives, so each arrival costs as many calls of `is_it` as there are queued messages.
    ///
    /// # Panics
    /// As for [`next`](Self::next).
    pub fn next_where<M: Message<Chare = T>, F>(
        &self,
        _kind: M,
        is_it: F,
    ) -> impl Future<Output = M::Args> + Send + use<T, M, F>
    where
        F: FnMut(&M::Args) -> bool + Send,
    {
        next_message::<M>(self.one(), is_it)
    }
}

/// Waits for the first message of a kind for which `is_it` returns true.
pub(crate) fn next_message<M: Message>(
    one: One<M::Chare>,
    mut is_it: impl FnMut(&M::Args) -> bool + Send,
) -> impl Future<Output = M::Args> + Send {
    poll_fn(move |_| {
        let message = with_own_slot(one, |_, slot| slot.take_message::<M>(&mut is_it));
        message.map_or(Poll::Pending, Poll::Ready)
    })
}
