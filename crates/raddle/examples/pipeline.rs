//! A pipeline: a source takes pictures of a night sky, noise is removed, and the stars are counted.
//!
//! This example shows locations that tasks share in the order of their declaration. One location
//! keeps old values (`fifo`), so that the source may be up to three pictures ahead of the tasks
//! that search them. Another one is in pieces (`split`): four tasks work on the pieces at the same
//! time, between the task that fills the whole and the one that reads it. No task knows of other
//! tasks, threads or CPUs.
//!
//! `cargo run --release -p raddle --example pipeline` prints:
//! ```text
//! 200 pictures of 64 × 48 points
//! 2000 stars, 10 in each picture
//! the brightest point is 255
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::orwl::{Program, Turns};

const WIDTH: usize = 64;
const HEIGHT: usize = 48;
const PICTURES: u64 = 200;
/// The number of stars in each picture.
const STARS: usize = 10;
/// The number of tasks that search a picture together.
const SEARCHERS: usize = 4;
/// The brightness below which a point is noise.
const THRESHOLD: u8 = 128;

/// Takes a picture: noise, and stars that move from picture to picture.
fn expose(picture: u64, points: &mut [u8]) {
    for (at, point) in points.iter_mut().enumerate() {
        *point = (at as u64 * 31 + picture * 17) as u8 % THRESHOLD;
    }
    for star in 0..STARS {
        let at = (star * 301 + picture as usize * 7) % points.len();
        points[at] = 255 - star as u8;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut program = Program::new("pipeline");
    let sky = program.fifo("sky", 3, |_| vec![0_u8; WIDTH * HEIGHT]);
    let clean = program.split("clean", vec![0_u8; WIDTH * HEIGHT], SEARCHERS);
    let counts: Vec<_> = (0..SEARCHERS)
        .map(|searcher| program.location(format!("count {searcher}"), 0_usize))
        .collect();
    let total = program.location("total", (0_usize, 0_u8));

    program.task("source", |task| {
        let mut sky = task.writes_each_turn(&sky);
        let mut picture = 0;
        move || {
            sky.section(|points| expose(picture, points));
            picture += 1;
        }
    });
    program.task("copy", |task| {
        let (mut sky, mut clean) = (
            task.reads_each_turn(&sky),
            task.writes_each_turn(&clean.whole),
        );
        move || sky.section(|sky| clean.section(|clean| clean.copy_from_slice(sky)))
    });
    for (searcher, (piece, count)) in clean.pieces.iter().zip(&counts).enumerate() {
        program.task(format!("search {searcher}"), |task| {
            let (mut piece, mut count) =
                (task.writes_each_turn(piece), task.writes_each_turn(count));
            move || {
                let found = piece.section(|points| {
                    points
                        .iter_mut()
                        .filter(|point| **point < THRESHOLD)
                        .for_each(|point| *point = 0);
                    points.iter().filter(|point| **point > 0).count()
                });
                count.section(|count| *count = found);
            }
        });
    }
    program.task("sink", |task| {
        let mut clean = task.reads_each_turn(&clean.whole);
        let mut counts: Vec<_> = counts
            .iter()
            .map(|count| task.reads_each_turn(count))
            .collect();
        let mut total = task.writes_each_turn(&total);
        move || {
            let brightest = clean.section(|points| points.iter().copied().max());
            let found: usize = counts
                .iter_mut()
                .map(|count| count.section(|count| *count))
                .sum();
            total.section(|(stars, most)| {
                *stars += found;
                *most = (*most).max(brightest.unwrap_or(0));
            });
        }
    });
    program.run(Turns(PICTURES))?;

    let (stars, brightest) = *total.read()?;
    println!("{PICTURES} pictures of {WIDTH} × {HEIGHT} points");
    println!("{stars} stars, {} in each picture", stars as u64 / PICTURES);
    println!("the brightest point is {brightest}");
    assert_eq!(stars as u64, PICTURES * STARS as u64);
    Ok(())
}
