//! Running a task: the one place where a worker comes from the pool into user code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::handle::RootCall;
use super::{Kind, Task, TaskCell};
use crate::worker::Worker;

impl Task {
    /// Runs the task on `worker`, which got it from the pool, or disposes of it if its owner took it back.
    pub(crate) fn run(self, worker: &Worker) {
        let cell = self.cell();
        match cell.kind() {
            Kind::Closure => {
                // Whoever made the closure caught the panics of user code in it, but for those of destructors.
                let run = || {
                    // SAFETY: it comes from the pool, which hands out every task once.
                    unsafe { cell.run_closure() };
                };
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| worker.in_frame(cell, run))) {
                    super::discard(panic);
                }
                worker.give_back(cell);
                worker.tally().tasks.add(1);
            }
            Kind::Root => {
                // SAFETY: as above.
                let call = unsafe { cell.take_root() };
                worker.give_back(cell);
                call.run(worker);
                worker.tally().tasks.add(1);
                drop_root(call, worker);
            }
            Kind::Fork if cell.offer().try_take() => run_fork(cell, worker),
            Kind::Fork | Kind::Frame => worker.give_back(cell),
        }
    }
}

/// Lets go of a root task; what that drops may panic. The task stops counting after it.
fn drop_root(call: Arc<dyn RootCall>, worker: &Worker) {
    super::discard(call);
    worker.shared().end_root();
}

/// Runs a fork whose offer `worker` has won, and tells its owner.
fn run_fork(cell: &'static TaskCell, worker: &Worker) {
    let (owner, shared) = (cell.owner(), worker.shared());
    cell.set_thief(worker.index());
    // The owner shall have the next one ready: it is being stolen from.
    shared.forks[owner].gates().close();
    // SAFETY: we won the offer.
    let job = unsafe { cell.job() };
    // SAFETY: we won the job, and its join waits for us.
    worker.in_frame(cell, || unsafe { job.run() });
    worker.tally().tasks.add(1);
    cell.offer().finish();
    let _ = shared.idle.cell(owner).notify();
}
