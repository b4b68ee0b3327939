//! Tests of limits that are too large to be reached with the public API.

use super::Program;
use crate::error::RunError;

#[test]
fn more_handles_than_the_fifo_has_capacity_for_are_an_error() {
    let mut program = Program::new("many handles");
    let single = program.location("single", 0);
    let split = program.split("split", vec![0; 4], 2);
    for task in 0..4 {
        program.async_task(format!("task {task}"), |task| {
            let _handles = (task.reads(&single), task.reads(&split.whole));
            async {}
        });
    }
    program.async_task("piece", |task| {
        let _handle = task.reads(&split.pieces[1]);
        async {}
    });
    assert!(program.check_handle_counts(5).is_ok());
    let refused = program.check_handle_counts(4);
    let refused = refused.expect_err("a piece has five");
    let RunError::TooManyHandles {
        location,
        found: 5,
        most: 4,
        ..
    } = &refused
    else {
        panic!("{refused}");
    };
    assert_eq!(location, "split[1]");
    let refused = program.check_handle_counts(3).expect_err("all have more");
    assert!(refused.to_string().contains("\"single\""), "{refused}");
}
