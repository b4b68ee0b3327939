//! Sides that are chares: elements of an array, or single chares.

use std::time::Instant;

use raddle::chare::{ArrayOptions, Failure};
use raddle::{Chares, Cx, Runtime, chare};

use super::{Buffer, RoundTrips};

/// The two sides, and the chare that collects the result.
#[derive(Debug)]
pub(super) struct ChareSides {
    initiator: SideProxy,
    returner: SideProxy,
    collector: CollectorProxy,
}

impl ChareSides {
    /// Creates the sides as elements of an array.
    pub(super) fn in_array(runtime: &Runtime) -> Self {
        let last = runtime.worker_count() - 1;
        let options = ArrayOptions::new(2).placed(move |index| index * last);
        let sides = runtime.array_with(options, |_| Side::default());
        Self::of(runtime, sides.at(0), sides.at(1))
    }

    /// Creates the sides as single chares.
    pub(super) fn single(runtime: &Runtime) -> Self {
        let last = runtime.worker_count() - 1;
        let on = |worker| runtime.chare_on(worker, |_| Side::default());
        Self::of(runtime, on(0), on(last))
    }

    fn of(runtime: &Runtime, initiator: SideProxy, returner: SideProxy) -> Self {
        Self {
            initiator,
            returner,
            collector: runtime.chare(|_| Collector),
        }
    }

    /// Sends the buffer to and fro until the last round trip has ended. Returns the recorded times
    /// and the buffer.
    pub(super) fn run(
        &self,
        progress: RoundTrips,
        buffer: Buffer,
    ) -> Result<(Vec<Instant>, Buffer), Failure> {
        let sides = (self.initiator, self.returner);
        self.collector.run(sides, progress, buffer).try_wait()
    }
}

impl Drop for ChareSides {
    fn drop(&mut self) {
        self.initiator.leave();
        self.returner.leave();
        self.collector.leave();
    }
}

/// One of the two sides of a ping-pong.
#[derive(Default)]
struct Side {
    other: Option<SideProxy>,
    /// The progress of the round trips, at the side that has started them and while they run.
    progress: Option<(RoundTrips, CollectorProxy)>,
}

#[chare]
impl Side {
    #[entry]
    fn meet(&mut self, other: SideProxy) {
        self.other = Some(other);
    }

    #[entry]
    fn start(
        &mut self,
        cx: &mut Cx<Self>,
        other: SideProxy,
        progress: RoundTrips,
        buffer: Buffer,
        collector: CollectorProxy,
    ) {
        other.meet(cx.this());
        self.other = Some(other);
        self.progress = Some((progress, collector));
        self.send(buffer);
    }

    #[entry]
    fn receive(&mut self, buffer: Buffer) {
        let goes_on = match &mut self.progress {
            Some((progress, _)) => progress.finish_trip(),
            None => true,
        };
        if goes_on {
            self.send(buffer);
        } else if let Some((progress, collector)) = self.progress.take() {
            collector.finished(progress.times, buffer);
        }
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }

    #[inline]
    fn send(&self, buffer: Buffer) {
        let other = self.other.expect("the sides meet before they send");
        other.receive(buffer);
    }
}

/// Waits for the end of the round trips.
struct Collector;

#[chare]
impl Collector {
    #[message]
    fn finished(times: Vec<Instant>, buffer: Buffer);

    #[entry]
    async fn run(
        &mut self,
        cx: &mut Cx<Self>,
        (initiator, returner): (SideProxy, SideProxy),
        progress: RoundTrips,
        buffer: Buffer,
    ) -> (Vec<Instant>, Buffer) {
        initiator.start(returner, progress, buffer, cx.this());
        cx.next(Self::finished).await
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}
