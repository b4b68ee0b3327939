//! Elements that receive numbered messages and migrate, for the tests of migration.

use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_runtime::Runtime;

/// Receives numbered messages, checks that they arrive in order, and migrates on request.
pub(crate) struct Traveller {
    /// The number of messages received from each sender. Each sender counts its messages from 0.
    received: Vec<u32>,
    /// The number of the next broadcast, once one has arrived.
    called: Option<u32>,
    sent: u32,
}

impl Traveller {
    pub(crate) fn new(senders: usize) -> Self {
        Self {
            received: vec![0; senders],
            called: None,
            sent: 0,
        }
    }
}

#[chare]
impl Traveller {
    /// Receives a message of sender `from`.
    #[entry]
    pub(crate) fn receive(&mut self, from: usize, number: u32) {
        assert_eq!(self.received[from], number, "from {from}");
        self.received[from] += 1;
    }

    /// Receives a broadcast. There is only one sender of broadcasts. It counts from 0, which
    /// elements that exist from the start observe.
    #[entry]
    pub(crate) fn call(&mut self, number: u32) {
        assert_eq!(self.called.unwrap_or(number), number, "to all");
        self.called = Some(number + 1);
    }

    /// Sends a message to each element below `others` and continues until `left` is 0.
    #[entry]
    pub(crate) fn tell(&mut self, cx: &mut Cx<Self>, others: usize, left: u32) {
        let (array, index) = (cx.array(), cx.index());
        for other in 0..others {
            array.at(other).receive(index, self.sent);
        }
        self.sent += 1;
        if left > 1 {
            cx.this().tell(others, left - 1);
        }
    }

    /// Sends several messages to element `to` and a broadcast, `left` times.
    #[entry]
    pub(crate) fn tell_and_call(&mut self, cx: &mut Cx<Self>, to: usize, left: u32) {
        let (array, index) = (cx.array(), cx.index());
        let called = self.sent / 4;
        for _ in 0..4 {
            array.at(to).receive(index, self.sent);
            self.sent += 1;
        }
        array.all().call(called);
        if left > 1 {
            cx.this().tell_and_call(to, left - 1);
        }
    }

    /// Migrates to a worker. The number wraps around.
    #[entry]
    pub(crate) fn go(&mut self, cx: &mut Cx<Self>, to: usize) {
        cx.migrate_to(to % cx.worker_count());
    }

    #[entry]
    pub(crate) fn place(&self, cx: &mut Cx<Self>) -> usize {
        cx.worker()
    }

    #[entry]
    pub(crate) fn counts(&self) -> (Vec<u32>, u32) {
        (self.received.clone(), self.called.unwrap_or(0))
    }
}

/// Creates an array of `count` elements for up to `senders` senders. All elements but the last are
/// on worker 0.
pub(crate) fn travellers(runtime: &Runtime, count: usize, senders: usize) -> Array<Traveller> {
    let last = runtime.worker_count() - 1;
    let placed =
        ArrayOptions::new(count).placed(move |index| if index + 1 == count { last } else { 0 });
    runtime.array_with(placed, move |_| Traveller::new(senders))
}

/// Creates an array with one element on each worker, for up to `senders` senders.
pub(crate) fn travellers_on_each(runtime: &Runtime, senders: usize) -> Array<Traveller> {
    let placed = ArrayOptions::new(runtime.worker_count()).placed(|index| index);
    runtime.array_with(placed, move |_| Traveller::new(senders))
}
