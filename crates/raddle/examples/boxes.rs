//! Points in a plane without borders, counted in boxes that exist only where there are points.
//!
//! This example shows a sparse array: it has no shape, and its elements are inserted by any key and
//! removed one by one. Messages, broadcasts and reductions work as in other arrays.
//!
//! `cargo run -p raddle --example boxes` prints:
//! ```text
//! 22 boxes with 300 points
//! 9 boxes with 199 points, without those of fewer than 20 points
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::Array;
use raddle::prelude::*;
use raddle::reduce::Sum;

/// The number of points.
const POINTS: i64 = 300;
/// The centres of three clusters of points, far from each other.
const CENTRES: [[i64; 2]; 3] = [[-4_000, 250], [120, 80], [900_000, -35]];
/// The length of the side of a box.
const SIDE: i64 = 10;
/// Boxes with fewer points are removed.
const COUNT_MIN: u32 = 20;

/// The column and the row of a box.
type Place = (i64, i64);

#[derive(Default)]
struct Square {
    count: u32,
}

#[chare(index = Place)]
impl Square {
    /// Counts a point.
    #[entry]
    fn add(&mut self) {
        self.count += 1;
    }

    #[entry]
    fn count(&self) -> u32 {
        self.count
    }

    /// Contributes to the numbers of boxes and of points.
    #[entry]
    fn report(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum([1, self.count]));
    }
}

/// Returns the box of point `number`.
fn place_of(number: i64) -> Place {
    let [x, y] = CENTRES[(number % 3) as usize];
    let (x, y) = (x + number * 37 % 19 - 9, y + number * 53 % 23 - 11);
    (x.div_euclid(SIDE), y.div_euclid(SIDE))
}

/// Returns the numbers of boxes and of points.
fn totals(boxes: Array<Square>) -> [u32; 2] {
    boxes.all().report();
    boxes.reduction().wait()
}

fn main() {
    let runtime = raddle::default_runtime();
    let boxes: Array<Square> = runtime.sparse_array();
    let mut places = Vec::new();
    for place in (0..POINTS).map(place_of) {
        // The first point in a box inserts the element.
        let square = boxes.get(place).unwrap_or_else(|| {
            places.push(place);
            boxes.insert(place, |_| Square::default())
        });
        square.add();
    }
    runtime.quiescence().wait();
    let [count, points] = totals(boxes);
    println!("{count} boxes with {points} points");
    assert_eq!(points, POINTS as u32);

    for &place in &places {
        if boxes.at(place).count().wait() < COUNT_MIN {
            boxes.remove(place);
        }
    }
    // An element ends when it has run all messages that were sent to it before.
    runtime.quiescence().wait();
    let [count, points] = totals(boxes);
    println!("{count} boxes with {points} points, without those of fewer than {COUNT_MIN} points");
    let left = places.iter().filter(|&&place| boxes.get(place).is_some());
    assert_eq!(left.count(), count as usize);
}
