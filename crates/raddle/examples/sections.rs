//! A magic square: sections check that the sums of its rows, columns and diagonals are all equal.
//!
//! This example shows sections: a section consists of some elements of an array. Messages go to all
//! of them at once, and they reduce among themselves. An element may be in many sections, so the
//! message names the section that the reduction is for.
//!
//! `cargo run -p raddle --example sections` prints:
//! ```text
//! rows       34 34 34 34
//! columns    34 34 34 34
//! diagonals  34 34
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::prelude::*;
use raddle::reduce::Sum;
use raddle::{Reply, Section};

/// From Dürer's engraving Melencolia I; the year is in the last row.
const SQUARE: [[u32; 4]; 4] = [
    [16, 3, 2, 13],
    [5, 10, 11, 8],
    [9, 6, 7, 12],
    [4, 15, 14, 1],
];

struct Field {
    number: u32,
}

#[chare(index = [usize; 2])]
impl Field {
    fn new([row, column]: [usize; 2]) -> Self {
        Self {
            number: SQUARE[row][column],
        }
    }

    /// Contributes to the sum over a section.
    #[entry]
    fn add_up(&mut self, cx: &mut Cx<Self>, section: Section<Self>) {
        cx.contribute_to(section, Sum(self.number));
    }
}

fn main() {
    let fields = raddle::default_runtime().array([4, 4], Field::new);
    // A section is created from the indices of its members. Like a proxy, it is a small value that
    // can be copied.
    let rows = (0..4).map(|row| fields.section((0..4).map(|at| [row, at])));
    let columns = (0..4).map(|column| fields.section((0..4).map(|at| [at, column])));
    let diagonals = [
        fields.section((0..4).map(|at| [at, at])),
        fields.section((0..4).map(|at| [at, 3 - at])),
    ];
    let lines: [(&str, Vec<Section<Field>>); 3] = [
        ("rows", rows.collect()),
        ("columns", columns.collect()),
        ("diagonals", diagonals.into()),
    ];

    for (name, sections) in lines {
        // All sections of a kind at once: their messages and reductions are independent.
        let sums: Vec<Reply<u32>> = sections
            .iter()
            .map(|section| {
                section.all().add_up(*section);
                section.reduction()
            })
            .collect();
        let sums: Vec<u32> = sums.into_iter().map(Reply::wait).collect();
        let shown: Vec<String> = sums.iter().map(u32::to_string).collect();
        println!("{name:<10} {}", shown.join(" "));
        assert!(sums.iter().all(|&sum| sum == 34));
    }
}
