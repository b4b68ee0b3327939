//! Limits that are too large to be reached in a test.

use super::Program;
use crate::error::RunError;

#[test]
fn more_handles_than_there_is_room_for_are_told() {
    let mut program = Program::new("crowded");
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
    assert!(program.check_room(5).is_ok());
    let refused = program.check_room(4).expect_err("a piece has five");
    assert!(
        matches!(&refused, RunError::Crowded { location, found: 5, most: 4, .. } if location == "split[1]"),
        "{refused}"
    );
    let refused = program.check_room(3).expect_err("all have more");
    assert!(refused.to_string().contains("\"single\""), "{refused}");
}
