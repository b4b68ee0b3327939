//! Programs as a user writes them: the order of turns, old values, pieces, operations, ends and
//! placement.

use std::ops::ControlFlow;

use raddle_orwl::{Location, Program, Turns};

use crate::common::runtime;

/// Declares a task that writes a location in each turn.
fn writes(program: &mut Program, name: &str, location: &Location<u64>, next: fn(u64) -> u64) {
    program.task(name, |task| {
        let mut handle = task.writes_each_turn(location);
        move || handle.section(|value| *value = next(*value))
    });
}

#[test]
fn a_task_declared_before_the_writer_reads_the_previous_turn() {
    for depth in 1..4 {
        let mut program = Program::new("order");
        let number = program.fifo("number", depth, |_| 0_u64);
        let (before, behind) = (
            program.location("before", Vec::new()),
            program.location("behind", Vec::new()),
        );
        let notes = |program: &mut Program, name: &str, to: &Location<Vec<u64>>| {
            program.task(name, |task| {
                let (mut number, mut to) =
                    (task.reads_each_turn(&number), task.writes_each_turn(to));
                move || number.section(|number| to.section(|to| to.push(*number)))
            });
        };
        notes(&mut program, "before", &before);
        program.task("count", |task| {
            let mut number = task.writes_each_turn(&number);
            let mut turn = 0;
            move || {
                turn += 1;
                number.section(|number| *number = turn);
            }
        });
        notes(&mut program, "behind", &behind);
        program.run_on(&runtime(2), Turns(7)).expect("it runs");
        assert_eq!(*before.read().expect("whole"), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(*behind.read().expect("whole"), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(*number.read().expect("whole"), 7, "the newest value");
    }
}

#[test]
fn pieces_are_written_at_the_same_time_and_read_as_a_whole() {
    let mut program = Program::new("split");
    let pixels = program.split("pixels", vec![1_u64; 1_000], 7);
    let sums = program.location("sums", Vec::new());
    program.task("spread", |task| {
        let mut all = task.writes_each_turn(&pixels.whole);
        move || all.section(|all| all.iter_mut().for_each(|pixel| *pixel += 1))
    });
    for piece in &pixels.pieces {
        program.async_task(piece.name(), |task| {
            let mut piece = task.writes_each_turn(piece);
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    piece.enter().await.iter_mut().for_each(|pixel| *pixel *= 2);
                }
            }
        });
    }
    program.task("gather", |task| {
        let (mut all, mut sums) = (
            task.reads_each_turn(&pixels.whole),
            task.writes_each_turn(&sums),
        );
        move || all.section(|all| sums.section(|sums| sums.push(all.iter().sum::<u64>())))
    });
    program.run_on(&runtime(2), Turns(3)).expect("it runs");
    assert_eq!(*sums.read().expect("whole"), [4_000, 10_000, 22_000]);
    assert!(
        pixels
            .pieces
            .iter()
            .all(|piece| piece.name().starts_with("pixels["))
    );
}

#[test]
fn values_move_through_locations_without_a_copy() {
    let mut program = Program::new("moves");
    let buffer = vec![0_u8; 1 << 20];
    let address = buffer.as_ptr() as usize;
    let (full, empty) = (
        program.location("full", None),
        program.location("empty", Some(buffer)),
    );
    program.task("fill", |task| {
        let (mut full, mut empty) = (task.writes_each_turn(&full), task.writes_each_turn(&empty));
        move || {
            let mut buffer = empty.section(Option::take).expect("it came back");
            buffer[0] += 1;
            full.section(|full| *full = Some(buffer));
        }
    });
    program.task("drain", |task| {
        let (mut full, mut empty) = (task.writes_each_turn(&full), task.writes_each_turn(&empty));
        move || {
            let buffer = full.section(Option::take);
            empty.section(|empty| *empty = buffer);
        }
    });
    program.run_on(&runtime(2), Turns(9)).expect("it runs");
    let end = empty.read().expect("whole");
    let buffer = end.as_ref().expect("it came back");
    assert_eq!((buffer[0], buffer.as_ptr() as usize), (9, address));
}

#[test]
fn a_task_ends_a_program_without_a_limit_of_turns() {
    let mut program = Program::new("source");
    let number = program.fifo("number", 3, |_| 0_u64);
    let sum = program.location("sum", 0_u64);
    program.task("source", |task| {
        let mut number = task.writes_each_turn(&number);
        let mut next = 1;
        move || {
            if next > 100 {
                return ControlFlow::Break(());
            }
            number.section(|number| *number = next);
            next += 1;
            ControlFlow::Continue(())
        }
    });
    program.async_task("sink", |task| {
        let (mut number, mut sum) = (task.reads_each_turn(&number), task.writes_each_turn(&sum));
        let mut turns = task.turns();
        async move {
            while turns.next() {
                let number = *number.enter().await;
                *sum.enter().await += number;
            }
        }
    });
    let outcome = program
        .run_on(&runtime(2), Turns::UNTIL_BREAK)
        .expect("it runs");
    assert_eq!(outcome.turns, 100);
    assert_eq!(*sum.read().expect("whole"), 5_050);
}

#[test]
fn handles_for_one_turn_are_used_in_the_first_turn() {
    let mut program = Program::new("once");
    let table = program.location("table", Vec::new());
    let sum = program.location("sum", 0_u64);
    program.task("load", |task| {
        let mut table = Some(task.writes(&table));
        move || {
            if let Some(table) = table.take() {
                table.section(|table| table.extend(1..=10));
            }
        }
    });
    program.task("add", |task| {
        let (mut table, mut sum) = (task.reads_each_turn(&table), task.writes_each_turn(&sum));
        move || table.section(|table| sum.section(|sum| *sum += table.iter().sum::<u64>()))
    });
    program.run_on(&runtime(2), Turns(4)).expect("it runs");
    assert_eq!(*sum.read().expect("whole"), 220);
}

#[test]
fn a_dropped_handle_gives_up_its_place() {
    let mut program = Program::new("quits");
    let number = program.location("number", 0_u64);
    let reads = program.location("reads", 0_u64);
    writes(&mut program, "count", &number, |number| number + 1);
    program.task("quits", |task| {
        let (mut number, mut reads) = (
            Some(task.reads_each_turn(&number)),
            task.writes_each_turn(&reads),
        );
        move || {
            reads.section(|_| ());
            if let Some(mut handle) = number.take() {
                handle.pass();
            }
        }
    });
    program.run_on(&runtime(2), Turns(50)).expect("it runs");
    assert_eq!(*number.read().expect("whole"), 50);
}

#[test]
fn another_thread_reads_while_a_program_runs() {
    let mut program = Program::new("watched");
    let number = program.location("number", 0_u64);
    let watched = number.clone();
    writes(&mut program, "count", &number, |number| number + 1);
    let watcher = std::thread::spawn(move || {
        let mut last = 0;
        while last < 20_000 {
            let found = *watched.read().expect("whole");
            assert!(found >= last);
            last = found;
        }
    });
    program.run_on(&runtime(1), Turns(20_000)).expect("it runs");
    watcher.join().expect("the numbers that it saw only grew");
}

#[test]
fn operations_of_a_task_exchange_the_bytes_of_their_handles() {
    let mut program = Program::new("block");
    let block = program.location("block", vec![0_u8; 4_096]);
    let border = program.location("border", vec![0_u8; 64]);
    program
        .operations("block 0")
        .operation("main", |task| {
            let (mut block, mut border) =
                (task.writes_each_turn(&block), task.reads_each_turn(&border));
            move || border.section(|border| block.section(|block| block[0] = border[0] + 1))
        })
        .async_operation("north", |task| {
            let (mut block, mut border) =
                (task.reads_each_turn(&block), task.writes_each_turn(&border));
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    let block = block.enter().await;
                    border.enter().await[0] = block[0];
                }
            }
        });
    let matrix = program.dependencies();
    assert_eq!(matrix.names(), ["block 0/main", "block 0/north"]);
    assert_eq!((matrix.get(0, 1), matrix.get(1, 0)), (4_096.0, 64.0));
    let runtime = runtime(2);
    let placement = program.compute_placement(&runtime);
    assert_eq!(placement.places.len(), 2);
    assert!(
        placement.to_string().contains("block 0/north"),
        "{placement}"
    );
    program.apply_placement(placement.clone());
    let outcome = program.run_on(&runtime, Turns(10)).expect("it runs");
    assert_eq!((outcome.turns, outcome.sections), (10, 40));
    assert_eq!(outcome.placement, placement);
    assert_eq!(border.read().expect("whole")[0], 10);
}

#[test]
fn a_hundred_thousand_futures_need_no_threads() {
    const TASKS: usize = 100_000;
    let mut program = Program::new("ring");
    let cells: Vec<_> = (0..TASKS)
        .map(|cell| program.location(format!("{cell}"), 0_u64))
        .collect();
    for at in 0..TASKS {
        program.async_task(format!("{at}"), |task| {
            let mut left = task.reads_each_turn(&cells[(at + TASKS - 1) % TASKS]);
            let mut own = task.writes_each_turn(&cells[at]);
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    let left = *left.enter().await;
                    *own.enter().await += left + 1;
                }
            }
        });
    }
    let outcome = program.run_on(&runtime(2), Turns(1)).expect("it runs");
    assert_eq!(outcome.sections, 2 * TASKS as u64);
    assert_eq!(*cells[TASKS - 1].read().expect("whole"), TASKS as u64);
}
