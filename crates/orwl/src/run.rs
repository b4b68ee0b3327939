//! Runs operations: blocking ones on their own threads, and futures on workers.
//!
//! A future runs on its assigned worker. Of the futures that are ready there, the one in the
//! earliest turn runs first; within a turn, the one that was declared first.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use raddle_runtime::{AssignedWorker, Handle, Instant, RunQueue, Runtime};
use raddle_sync::ordered::{catch, drop_in_panic};
use raddle_sync::prim::Relaxed;
use raddle_topology::{CpuId, Topology};

use crate::error::RunError;
use crate::operation::Operation;
use crate::task::Body;

/// An operation that is about to run.
pub(crate) struct Starter {
    pub(crate) index: usize,
    pub(crate) operation: Arc<Operation>,
    pub(crate) body: Body,
    pub(crate) worker_index: usize,
    pub(crate) cpu: Option<CpuId>,
}

/// Reports on drop that an operation has ended, also if it panicked or never ran.
struct End {
    index: usize,
    operation: Arc<Operation>,
}

impl Drop for End {
    fn drop(&mut self) {
        drop(self.operation.take_waker());
        self.operation.program_state.end(self.index);
    }
}

impl Starter {
    /// Starts the operation. Returns its thread, if it has one.
    ///
    /// If the system cannot start a thread, the program is halted.
    pub(crate) fn start(self, runtime: &Runtime, ready: &RunQueue) -> Option<Handle<()>> {
        let end = End {
            index: self.index,
            operation: Arc::clone(&self.operation),
        };
        match self.body {
            Body::Blocking(call) => {
                let (operation, cpu) = (Arc::clone(&self.operation), self.cpu);
                let started = runtime.spawn_thread(move || run_blocking(end, call, cpu));
                let failed = |source| RunError::Thread {
                    operation: operation.name.to_string(),
                    index: self.index + 1,
                    source,
                };
                let thread =
                    started.map_err(|source| operation.program_state.halt_because(failed(source)));
                thread.ok()
            }
            Body::Future { future, has_turns } => {
                let assigned = AssignedWorker::new(self.worker_index);
                let is_new = self.operation.assigned.set(assigned.clone()).is_ok();
                assert!(is_new, "an operation starts once");
                let running = Running {
                    future: Some(future),
                    has_turns,
                    end,
                };
                // The operation with the earliest time is the most urgent: turns in their order,
                // and within a turn the order of declaration.
                let (operation, rank) = (Arc::clone(&self.operation), self.index as u64);
                let urgency = move || (operation.turn(), rank);
                ready.run(&runtime.post(), &assigned, urgency, running);
                None
            }
        }
    }
}

/// Runs an operation turn by turn on this thread, bound to its CPU.
fn run_blocking(
    end: End,
    mut call: Box<dyn FnMut() -> ControlFlow<()> + Send>,
    cpu: Option<CpuId>,
) {
    let operation = &end.operation;
    let machine = cpu.and_then(|_| Topology::this_machine().ok());
    // If the system refuses to bind the thread, the operation runs unbound.
    let bind = |cpu| machine.is_some_and(|machine| machine.bind_this_thread(cpu).is_ok());
    let mut is_bound = cpu.is_some_and(bind);
    let is_new = operation.began.set(Instant::now()).is_ok();
    assert!(is_new, "an operation starts once");
    let outcome = catch(|| {
        operation.run_as(|| {
            while operation.begin_turn() {
                if let Some(cpu) = operation.take_next_cpu() {
                    is_bound |= bind(cpu);
                }
                if call().is_break() {
                    operation.program_state.lower_limit(operation.turn());
                    return;
                }
                operation.end_turn();
            }
        });
    });
    if let Err(panic) = outcome {
        operation.program_state.fail(operation, panic);
    }
    // Drop the handles before `end` reports that the operation has ended.
    if let Err(panic) = catch(|| drop(call)) {
        operation.program_state.fail(operation, panic);
    }
    if let Some(machine) = machine.filter(|_| is_bound) {
        // The thread may be reused for other work. If the system refuses to unbind it, that work
        // runs on this CPU.
        let _ = machine.unbind_this_thread();
    }
}

/// An operation that is a future, while it runs.
struct Running {
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    has_turns: bool,
    end: End,
}

impl Future for Running {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let operation = &this.end.operation;
        operation.leave(context.waker());
        let future = &mut this.future;
        let start = Instant::now();
        let polled = catch(|| {
            operation.run_as(|| {
                // A future that does not request turns has one turn, unless the program has none.
                let may_run = !operation.program_state.is_halted()
                    && (this.has_turns || operation.begin_turn());
                let Some(running) = future.as_mut().filter(|_| may_run) else {
                    *future = None;
                    return Poll::Ready(());
                };
                if running.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                if !this.has_turns {
                    operation.end_turn();
                    operation.has_one_turn();
                }
                *future = None;
                Poll::Ready(())
            })
        });
        // Relaxed: written only here, and read for estimates.
        let polled_ns = operation.polled_ns.load(Relaxed) + start.elapsed().as_nanos() as u64;
        operation.polled_ns.store(polled_ns, Relaxed);
        match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            // A future that requests turns and returns early ends the program. One with a single
            // turn does not.
            Ok(Poll::Ready(()))
                if this.has_turns && operation.turn() < operation.program_state.limit() =>
            {
                operation.program_state.lower_limit(operation.turn());
            }
            Ok(Poll::Ready(())) => {}
            Err(panic) => {
                // Sections in nested futures may be half done, like those on the stack. So their
                // locations are broken, too.
                if operation.program_state.fail(operation, panic) {
                    drop_in_panic(future.take());
                }
            }
        }
        if let Err(panic) = catch(|| *future = None) {
            operation.program_state.fail(operation, panic);
        }
        if operation.is_brief() {
            operation.give_up_places();
        }
        Poll::Ready(())
    }
}
