//! Programs that end early, since a task fails or ends the program. No task waits forever.

use std::ops::ControlFlow;

use raddle_orwl::{Program, RunError, Turns};
use raddle_runtime::model::explore::{explore_some, fail_with};

use crate::alone;

// A source, a task and a sink that sums are connected in a row. The task is a future or has its own
// thread. The source ends the program in the third turn.
#[test]
fn all_tasks_complete_the_turns_before_the_end() {
    let _alone = alone();
    explore_some(192, |setting| {
        let runtime = setting.runtime();
        let mut program = Program::new("pipeline");
        let from = program.fifo("from", setting.one_of(&[1, 2, 3]), |_| 0_u32);
        let to = program.location("to", 0_u32);
        let sum = program.location("sum", 0_u32);
        program.task("source", |task| {
            let mut from = task.writes_each_turn(&from);
            let mut turn = 0;
            move || {
                if turn == 2 {
                    return ControlFlow::Break(());
                }
                turn += 1;
                from.section(|from| *from = turn);
                ControlFlow::Continue(())
            }
        });
        if setting.one_of(&[true, false]) {
            program.async_task("between", |task| {
                let (mut from, mut to) = (task.reads_each_turn(&from), task.writes_each_turn(&to));
                let mut turns = task.turns();
                async move {
                    while turns.next() {
                        let found = *from.enter().await;
                        *to.enter().await = 10 * found;
                    }
                }
            });
        } else {
            program.task("between", |task| {
                let (mut from, mut to) = (task.reads_each_turn(&from), task.writes_each_turn(&to));
                move || {
                    let found = from.section(|from| *from);
                    to.section(|to| *to = 10 * found);
                }
            });
        }
        program.task("sink", |task| {
            let (mut to, mut sum) = (task.reads_each_turn(&to), task.writes_each_turn(&sum));
            move || to.section(|to| sum.section(|sum| *sum += to))
        });
        let outcome = program
            .run_on(&runtime, Turns::UNTIL_BREAK)
            .expect("no task fails");
        assert_eq!(outcome.turns, 2);
        assert_eq!(*sum.read().expect("no task failed"), 30);
    });
}

// One of three tasks in a ring fails in its second turn, inside a section or outside. The run ends
// and reports that task.
#[test]
fn tasks_that_wait_for_a_failed_task_are_stopped() {
    let _alone = alone();
    explore_some(192, |setting| {
        let runtime = setting.runtime();
        let mut program = Program::new("ring");
        let cells: Vec<_> = (0..3)
            .map(|cell| program.location(format!("cell {cell}"), 0_u32))
            .collect();
        let in_section = setting.one_of(&[true, false]);
        for at in 0..3 {
            let (left, own) = (&cells[(at + 2) % 3], &cells[at]);
            if at == 1 {
                program.task("bad", |task| {
                    let (mut left, mut own) =
                        (task.reads_each_turn(left), task.writes_each_turn(own));
                    let mut turn = 0;
                    move || {
                        turn += 1;
                        if turn == 2 && !in_section {
                            fail_with(7);
                        }
                        let left = left.section(|left| *left);
                        own.section(|own| {
                            *own = left + 1;
                            if turn == 2 {
                                fail_with(7);
                            }
                        });
                    }
                });
            } else {
                program.async_task(format!("good {at}"), |task| {
                    let (mut left, mut own) =
                        (task.reads_each_turn(left), task.writes_each_turn(own));
                    let mut turns = task.turns();
                    async move {
                        while turns.next() {
                            let left = *left.enter().await;
                            *own.enter().await = left + 1;
                        }
                    }
                });
            }
        }
        match program.run_on(&runtime, Turns(5)) {
            Err(RunError::Panicked {
                operation,
                turn,
                panic,
                ..
            }) => {
                assert_eq!((operation.as_str(), turn), ("bad", 1));
                assert_eq!(panic.0.downcast_ref::<u32>(), Some(&7));
            }
            other => panic!("expected the failure, found {other:?}"),
        }
        // All tasks of a schedule run on one thread, so data of other tasks may seem to be dropped
        // in the panic, too.
        assert!(
            !in_section || cells[1].read().is_err(),
            "data that was being written is broken"
        );
    });
}
