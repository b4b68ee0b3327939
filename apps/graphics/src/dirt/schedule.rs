//! The assignments of one frame.
//!
//! # Invariants
//! 1. Each pixel is in exactly one place: in the tiles that are left, in those that were returned,
//!    in an assignment, or in the picture.
//! 2. An assignment has a number that no other one of the frame has. Pixels count only if their
//!    frame is this one, and their assignment is still open. So a tile that is assigned again,
//!    because its worker counts as lost, is taken once, from the worker that has it now.

use std::collections::HashMap;

use super::tiles::{TileRule, Tiles};
use crate::render::Part;

/// The assignments of a frame.
#[derive(Debug)]
pub(super) struct Schedule {
    frame: u32,
    tiles: Tiles,
    /// Tiles of workers that were lost.
    returned: Vec<Part>,
    open: HashMap<u32, Open>,
    next: u32,
    pixels_missing: usize,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    part: Part,
    worker: usize,
}

/// A tile for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Assignment {
    /// The number of the frame.
    pub(super) frame: u32,
    /// The number of the assignment in its frame.
    pub(super) number: u32,
    /// The pixels.
    pub(super) part: Part,
}

/// The outcome of the arrival of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "pixels of another frame must not be copied"]
pub(super) enum Completion {
    /// The pixels belong to this part of the frame. Others are missing.
    Taken(Part),
    /// The pixels belong to this part of the frame, which is complete.
    Last(Part),
    /// The pixels belong to another frame, or were taken from another worker.
    Late,
}

impl Schedule {
    /// Begins a frame with a number.
    #[must_use]
    pub(super) fn new(frame: u32, size: (u32, u32), rule: TileRule) -> Self {
        let tiles = Tiles::new(size, rule);
        Self {
            frame,
            pixels_missing: tiles.pixels_left(),
            tiles,
            returned: Vec::new(),
            open: HashMap::new(),
            next: 0,
        }
    }

    /// Assigns the next tile to a worker, if one is left. `renderer_count` is the number of
    /// renderers of all workers.
    pub(super) fn assign(&mut self, worker: usize, renderer_count: usize) -> Option<Assignment> {
        let returned = self.returned.pop();
        let part = returned.or_else(|| self.tiles.take(renderer_count))?;
        let number = self.next;
        self.next += 1;
        self.open.insert(number, Open { part, worker });
        Some(Assignment {
            frame: self.frame,
            number,
            part,
        })
    }

    /// Records that the pixels of an assignment have arrived.
    pub(super) fn complete(&mut self, frame: u32, number: u32) -> Completion {
        if frame != self.frame {
            return Completion::Late;
        }
        let Some(Open { part, .. }) = self.open.remove(&number) else {
            return Completion::Late;
        };
        self.pixels_missing -= part.pixel_count();
        match self.pixels_missing {
            0 => Completion::Last(part),
            _ => Completion::Taken(part),
        }
    }

    /// Takes back the tiles of a worker that is lost. Returns their number.
    pub(super) fn lose(&mut self, worker: usize) -> usize {
        let lost = |open: &Open| open.worker == worker;
        let numbers = self.open.iter().filter(|(_, open)| lost(open));
        let mut numbers: Vec<u32> = numbers.map(|(&number, _)| number).collect();
        // In the order of assignment, so that the next tile is the oldest one.
        numbers.sort_unstable_by_key(|&number| std::cmp::Reverse(number));
        let returned = numbers.iter().filter_map(|number| self.open.remove(number));
        let before = self.returned.len();
        self.returned.extend(returned.map(|open| open.part));
        self.returned.len() - before
    }

    /// Returns the number of tiles that a worker has been assigned and that have not arrived.
    #[must_use]
    pub(super) fn open_count(&self, worker: usize) -> usize {
        self.open
            .values()
            .filter(|open| open.worker == worker)
            .count()
    }

    /// Returns the number of the frame.
    #[must_use]
    pub(super) const fn frame(&self) -> u32 {
        self.frame
    }

    /// Returns the number of pixels that have not arrived.
    #[must_use]
    pub(super) const fn pixels_missing(&self) -> usize {
        self.pixels_missing
    }

    /// Returns the number of assignments so far.
    #[must_use]
    pub(super) const fn assignment_count(&self) -> u32 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: (u32, u32) = (100, 60);

    /// An event of a frame, for a worker or an assignment.
    #[derive(Debug, Clone)]
    enum Event {
        Assign(usize),
        Arrive(prop::sample::Index),
        Lose(usize),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        prop::collection::vec(
            prop_oneof![
                4 => (0..3_usize).prop_map(Event::Assign),
                4 => any::<prop::sample::Index>().prop_map(Event::Arrive),
                1 => (0..3_usize).prop_map(Event::Lose),
            ],
            0..200,
        )
    }

    proptest! {
        // Whatever workers are lost, and whatever arrives late, each pixel is taken once.
        #[test]
        fn each_pixel_is_taken_once(events in events()) {
            let mut schedule = Schedule::new(7, SIZE, TileRule::default());
            let mut given: Vec<Assignment> = Vec::new();
            let mut taken = vec![0; (SIZE.0 * SIZE.1) as usize];
            let mut is_complete = false;
            let mut arrive = |schedule: &mut Schedule, number| match schedule.complete(7, number) {
                Completion::Late => false,
                Completion::Taken(part) | Completion::Last(part) => {
                    for y in part.corner.1..part.corner.1 + part.size.1 {
                        for x in part.corner.0..part.corner.0 + part.size.0 {
                            taken[(y * SIZE.0 + x) as usize] += 1;
                        }
                    }
                    schedule.pixels_missing() == 0
                }
            };
            for event in events {
                match event {
                    Event::Assign(worker) => given.extend(schedule.assign(worker, 3)),
                    Event::Arrive(index) if !given.is_empty() => {
                        let number = given[index.index(given.len())].number;
                        is_complete |= arrive(&mut schedule, number);
                    }
                    Event::Arrive(_) => {}
                    Event::Lose(worker) => {
                        schedule.lose(worker);
                        prop_assert_eq!(schedule.open_count(worker), 0);
                    }
                }
            }
            // One worker finishes the frame.
            (0..3).for_each(|worker| {
                schedule.lose(worker);
            });
            while let Some(assignment) = schedule.assign(0, 1) {
                is_complete |= arrive(&mut schedule, assignment.number);
            }
            prop_assert!(is_complete);
            prop_assert!(taken.iter().all(|&count| count == 1));
        }
    }

    #[test]
    fn pixels_of_another_frame_are_late() {
        let mut schedule = Schedule::new(8, SIZE, TileRule::Fixed(16));
        let assignment = schedule.assign(0, 1).expect("there are tiles");
        assert_eq!(assignment.frame, 8);
        assert_eq!(schedule.complete(7, assignment.number), Completion::Late);
        let taken = schedule.complete(8, assignment.number);
        assert_eq!(taken, Completion::Taken(assignment.part));
        assert_eq!(schedule.complete(8, assignment.number), Completion::Late);
        assert_eq!(schedule.complete(8, 99), Completion::Late);
    }

    #[test]
    fn tiles_of_a_lost_worker_come_first() {
        let mut schedule = Schedule::new(0, SIZE, TileRule::Fixed(16));
        let first: Vec<_> = (0..3).map(|_| schedule.assign(5, 1)).collect();
        let _other = schedule.assign(6, 1);
        assert_eq!(schedule.open_count(5), 3);
        assert_eq!(schedule.lose(5), 3);
        let again: Vec<_> = (0..3).map(|_| schedule.assign(6, 1)).collect();
        let parts = |all: &[Option<Assignment>]| {
            all.iter()
                .map(|it| it.map(|it| it.part))
                .collect::<Vec<_>>()
        };
        assert_eq!(parts(&first), parts(&again));
    }
}
