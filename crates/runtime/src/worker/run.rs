//! Runs a task: the only place where a worker enters user code from the pool.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_trace::record;

use super::Worker;
use crate::panics::discard;
use crate::task::{Kind, Task, TaskCell};

impl Worker {
    /// Runs `task`, which this worker got from the pool, or frees it if its owner took it back.
    pub(crate) fn run(&self, task: Task) {
        let cell = task.cell();
        self.record_task(cell);
        // By far the most frequent kind.
        if cell.kind() != Kind::Closure {
            return self.run_other(task);
        }
        // Scopes catch the panics of their tasks. A panic that arrives here is of a message, or of
        // a destructor, and is discarded.
        let run = || {
            // SAFETY: it comes from the pool, which hands out every task once.
            unsafe { cell.run_closure() };
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.in_frame(cell, run))) {
            discard(panic);
        }
        self.give_back(cell);
        self.counters().tasks.add(1);
    }

    /// Runs a task that is no closure.
    #[inline(never)]
    fn run_other(&self, task: Task) {
        let cell = task.cell();
        match cell.kind() {
            Kind::Closure => unreachable!("the caller runs closures"),
            Kind::Root => {
                // SAFETY: as above.
                let call = unsafe { cell.take_root() };
                self.give_back(cell);
                call.run();
                self.counters().tasks.add(1);
                // Dropping the call may panic. The task counts as unfinished until after it.
                discard(call);
                self.shared().end_root();
            }
            Kind::Fork if cell.offer().try_take() => self.run_fork(cell),
            Kind::Fork | Kind::Frame => self.give_back(cell),
        }
    }

    /// Runs a fork after this worker has won its offer, and notifies the owner.
    fn run_fork(&self, cell: &'static TaskCell) {
        let (owner, shared) = (cell.owner(), self.shared());
        cell.set_thief(self.index());
        // The owner is being stolen from: it is to publish another fork.
        shared.forks_of(owner).gates().close();
        record::run_fork(cell.trace_id());
        // SAFETY: we won the offer.
        let job = unsafe { cell.job() };
        // SAFETY: we won the job, and its join waits for us.
        self.in_frame(cell, || unsafe { job.run() });
        self.counters().tasks.add(1);
        cell.offer().finish();
        shared.notify(owner);
    }
}
