//! A chare that blocks its worker, and the time limit for waits in tests.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use raddle_chare::{Chares, chare};
use raddle_runtime::Runtime;

/// A time limit: a wait that takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Blocks its worker until the test sends a signal.
struct Blocker;

#[chare]
impl Blocker {
    /// Reports that it has started, and blocks until it receives the signal to end.
    #[entry]
    fn block(&self, begun: Sender<()>, end: Receiver<()>) {
        begun.send(()).expect("the test waits for this");
        let signal = end.recv_timeout(PATIENCE);
        signal.expect("the test sends the signal");
    }
}

/// Blocks worker `worker` until a signal is sent to the returned sender.
pub(crate) fn block(runtime: &Runtime, worker: usize) -> Sender<()> {
    let ((begun, has_begun), (end, ends)) = (channel(), channel());
    runtime.chare_on(worker, |_| Blocker).block(begun, ends);
    has_begun.recv().expect("it begins");
    end
}
