//! A ring of ten thousand cells. In each turn, each cell becomes the sum of itself and the cell to
//! its left.
//!
//! This example shows `async` tasks, which need no thread of their own, and handles that request
//! their next turn when they give back the last one. The order of declaration is the algorithm:
//! cell 0 is declared first and reads what the last cell wrote in the previous turn; every other
//! cell reads what its left neighbour has just written. The result is that of a sequential loop, on
//! any number of workers.
//!
//! `cargo run --release -p raddle --example ring` prints:
//! ```text
//! 10000 cells, 20 turns, 400000 sections
//! cell 9999 holds 17381048990526887311
//! the loop says 17381048990526887311
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::orwl::{Program, Turns};

const CELLS: usize = 10_000;
const TURNS: u64 = 20;

/// Computes the cells without tasks.
fn by_loop() -> Vec<u64> {
    let mut cells: Vec<u64> = (0..CELLS as u64).collect();
    for _ in 0..TURNS {
        for at in 0..CELLS {
            cells[at] = cells[at].wrapping_add(cells[(at + CELLS - 1) % CELLS]);
        }
    }
    cells
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut program = Program::new("ring");
    let cells: Vec<_> = (0..CELLS)
        .map(|at| program.location(format!("cell {at}"), at as u64))
        .collect();
    for at in 0..CELLS {
        program.async_task(format!("task {at}"), |task| {
            let mut left = task.reads_each_turn(&cells[(at + CELLS - 1) % CELLS]);
            let mut own = task.writes_each_turn(&cells[at]);
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    let left = *left.enter().await;
                    let mut own = own.enter().await;
                    *own = own.wrapping_add(left);
                }
            }
        });
    }
    let outcome = program.run(Turns(TURNS))?;

    let last = *cells[CELLS - 1].read()?;
    println!(
        "{CELLS} cells, {} turns, {} sections",
        outcome.turns, outcome.sections
    );
    println!("cell {} holds {last}", CELLS - 1);
    let expected = by_loop();
    println!("the loop says {}", expected[CELLS - 1]);
    for (cell, expected) in cells.iter().zip(expected) {
        assert_eq!(*cell.read()?, expected);
    }
    Ok(())
}
