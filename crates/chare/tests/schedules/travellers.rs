//! Elements that hear numbered messages and move, for the tests of what moves.

use raddle_chare::{Array, ArrayOptions, Chares, Cx, chare};
use raddle_runtime::Runtime;

/// Hears numbered messages, sees to it that they come in order, and goes where it is told to.
pub(crate) struct Traveller {
    /// How many have come from each sender, who counts his messages from 0.
    heard: Vec<u32>,
    /// The number of the next message that is sent to all, once one has come.
    called: Option<u32>,
    told: u32,
}

impl Traveller {
    pub(crate) fn new(senders: usize) -> Self {
        Self {
            heard: vec![0; senders],
            called: None,
            told: 0,
        }
    }
}

#[chare]
impl Traveller {
    /// A message of sender `from`.
    #[entry]
    pub(crate) fn hear(&mut self, from: usize, number: u32) {
        assert_eq!(self.heard[from], number, "from {from}");
        self.heard[from] += 1;
    }

    /// A message of the one sender who sends to all, and counts from 0 for those who are there from the start.
    #[entry]
    pub(crate) fn call(&mut self, number: u32) {
        assert_eq!(self.called.unwrap_or(number), number, "to all");
        self.called = Some(number + 1);
    }

    /// Sends a message to each of those up to `others`, then goes on until `left` is 0.
    #[entry]
    pub(crate) fn tell(&mut self, cx: &mut Cx<Self>, others: usize, left: u32) {
        let (array, index) = (cx.array(), cx.index());
        for other in 0..others {
            array.at(other).hear(index, self.told);
        }
        self.told += 1;
        if left > 1 {
            cx.this().tell(others, left - 1);
        }
    }

    /// Sends several messages to element `to`, and one to all, `left` times.
    #[entry]
    pub(crate) fn tell_and_call(&mut self, cx: &mut Cx<Self>, to: usize, left: u32) {
        let (array, index) = (cx.array(), cx.index());
        let called = self.told / 4;
        for _ in 0..4 {
            array.at(to).hear(index, self.told);
            self.told += 1;
        }
        array.all().call(called);
        if left > 1 {
            cx.this().tell_and_call(to, left - 1);
        }
    }

    /// Goes to a worker, counted around.
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
        (self.heard.clone(), self.called.unwrap_or(0))
    }
}

/// An array of `count`, which hear up to `senders` senders, all on worker 0 but the last.
pub(crate) fn travellers(runtime: &Runtime, count: usize, senders: usize) -> Array<Traveller> {
    let last = runtime.worker_count() - 1;
    let placed =
        ArrayOptions::new(count).placed(move |index| if index + 1 == count { last } else { 0 });
    runtime.array_with(placed, move |_| Traveller::new(senders))
}

/// One on each worker, which hear up to `senders` senders.
pub(crate) fn travellers_on_each(runtime: &Runtime, senders: usize) -> Array<Traveller> {
    let placed = ArrayOptions::new(runtime.worker_count()).placed(|index| index);
    runtime.array_with(placed, move |_| Traveller::new(senders))
}
