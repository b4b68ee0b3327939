//! Sides that are workers, which exchange messages that go to no object.
//!
//! The state of a side is in a worker-private variable. A message that carried the state would also
//! move its cache lines from worker to worker, and that is not to be measured.

use std::sync::{LazyLock, mpsc};
use std::time::Instant;

use raddle::{Post, Private, Runtime};

use super::{Buffer, RoundTrips};

/// The result of all round trips: the recorded times, and the buffer.
type Finished = (Vec<Instant>, Buffer);

/// The state of the side on a worker.
struct Side {
    post: Post,
    /// The progress of the round trips, at the side that has started them and while they run.
    progress: Option<(RoundTrips, mpsc::Sender<Finished>)>,
}

static SIDE: LazyLock<Private<Option<Side>>> = LazyLock::new(Private::default);

/// The two workers of a message, and the side to which it goes.
#[derive(Clone, Copy)]
struct Route {
    to: usize,
    from: usize,
    /// True if the message goes to the side that has started the round trips.
    to_initiator: bool,
}

impl Route {
    const fn reversed(self) -> Self {
        Self {
            to: self.from,
            from: self.to,
            to_initiator: !self.to_initiator,
        }
    }
}

/// Sends the buffer between the first and the last worker until the last round trip has ended.
pub(super) fn run(runtime: &Runtime, progress: RoundTrips, buffer: Buffer) -> Finished {
    let post = runtime.post();
    let (sender, receiver) = mpsc::channel();
    let to_returner = Route {
        to: post.worker_count() - 1,
        from: 0,
        to_initiator: false,
    };
    // The returner sets its state before the initiator sends. If both are the same worker, the
    // state of the initiator replaces that of the returner.
    let returner = post.clone();
    runtime.post().send(to_returner.to, move || {
        set_side(Side {
            post: returner.clone(),
            progress: None,
        });
        returner.send(to_returner.from, move || {
            set_side(Side {
                post,
                progress: Some((progress, sender)),
            });
            with_side(|side| send(&side.post, to_returner, buffer));
        });
    });
    receiver.recv().expect("the buffer comes back")
}

fn set_side(side: Side) {
    SIDE.with(|own| *own = Some(side));
}

fn with_side(act: impl FnOnce(&mut Side)) {
    SIDE.with(|side| {
        act(side
            .as_mut()
            .expect("the state is set before a message is sent"))
    });
}

#[inline]
fn send(post: &Post, route: Route, buffer: Buffer) {
    post.send(route.to, move || receive(route, buffer));
}

fn receive(route: Route, buffer: Buffer) {
    with_side(|side| {
        let goes_on = match &mut side.progress {
            Some((progress, _)) if route.to_initiator => progress.finish_trip(),
            _ => true,
        };
        if goes_on {
            send(&side.post, route.reversed(), buffer);
        } else if let Some((progress, sender)) = side.progress.take() {
            // An error means that `run` no longer waits, so the result is not needed.
            let _is_received = sender.send((progress.times, buffer));
        }
    });
}
