//! Random programs, what they compute when their tasks run one after the other, and whether a run does the same.
//!
//! Each task goes through its handles in a given order, one section in the other or one after the other, and mixes what it
//! finds into what it writes, so that any other order of any two sections would give other values. While it is in a section it looks how far the
//! others are with whom it shares that location.

use std::sync::Arc;

use raddle_orwl::{
    Location, Outcome, Program, Read, ReadHandle, RunError, Section, Task, Turns, Write,
    WriteHandle,
};
use raddle_runtime::Runtime;
use raddle_sync::prim::{AtomicU64, Relaxed};

/// A generator of numbers (Steele, Lea, Flood: SplitMix64), so that a seed is a program.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0, 0) % end as u64) as usize
    }
}

fn mix(left: u64, right: u64) -> u64 {
    let mut mixed = left ^ right.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[derive(Clone, Debug)]
pub(crate) struct Use {
    location: usize,
    writes: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct TaskPlan {
    uses: Vec<Use>,
    is_nested: bool,
    is_async: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    depths: Vec<usize>,
    tasks: Vec<TaskPlan>,
    pub(crate) turns: u64,
}

/// How large plans are, at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) tasks: usize,
    pub(crate) locations: usize,
    pub(crate) uses: usize,
    pub(crate) turns: usize,
    pub(crate) depth: usize,
}

impl Plan {
    pub(crate) fn random(seed: u64, size: Size) -> Self {
        let mut random = Random(seed);
        let depths: Vec<_> = (0..1 + random.below(size.locations))
            .map(|_| {
                if random.below(3) == 0 {
                    1 + random.below(size.depth)
                } else {
                    1
                }
            })
            .collect();
        let tasks = (0..1 + random.below(size.tasks)).map(|_| {
            let mut locations: Vec<_> = (0..depths.len()).collect();
            let count = random.below(size.uses.min(depths.len()) + 1);
            let uses = (0..count).map(|_| Use {
                location: locations.swap_remove(random.below(locations.len())),
                writes: random.below(3) == 0,
            });
            TaskPlan {
                uses: uses.collect(),
                is_nested: random.below(2) == 0,
                is_async: random.below(2) == 0,
            }
        });
        Self {
            tasks: tasks.collect(),
            depths,
            turns: 1 + random.below(size.turns) as u64,
        }
    }

    /// The values that every location keeps when all tasks have run one after the other, turn by turn.
    pub(crate) fn one_after_the_other(&self) -> Vec<Vec<u64>> {
        let mut rings: Vec<Vec<u64>> = self
            .depths
            .iter()
            .map(|&depth| (0..depth as u64).collect())
            .collect();
        let first_writers: Vec<_> = (0..rings.len())
            .map(|location| {
                let writes = |used: &Use| used.location == location && used.writes;
                self.tasks
                    .iter()
                    .position(|task| task.uses.iter().any(writes))
            })
            .collect();
        for turn in 0..self.turns {
            for (number, task) in self.tasks.iter().enumerate() {
                let mut digest = mix(number as u64, turn);
                for used in &task.uses {
                    let depth = rings[used.location].len() as u64;
                    let is_before =
                        first_writers[used.location].is_none_or(|writer| number <= writer);
                    let back = if !used.writes && is_before {
                        depth - 1
                    } else {
                        0
                    };
                    let value = &mut rings[used.location][((turn + back) % depth) as usize];
                    if used.writes {
                        *value = mix(*value, digest);
                    }
                    digest = mix(digest, *value);
                }
            }
        }
        rings
    }

    /// Runs it on a runtime, and sees that it computes the same, and that nobody is overtaken.
    pub(crate) fn check(&self, runtime: &Runtime, what: &str) {
        let (outcome, values) = self.run(runtime);
        let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outcome.turns, self.turns, "{what}");
        let uses: usize = self.tasks.iter().map(|task| task.uses.len()).sum();
        assert_eq!(outcome.sections, uses as u64 * self.turns, "{what}");
        let expected = self.one_after_the_other();
        for (location, (value, expected)) in values.iter().zip(&expected).enumerate() {
            let newest = (self.turns as usize + expected.len() - 1) % expected.len();
            assert_eq!(*value, expected[newest], "{what}: location {location}");
        }
    }

    /// Runs it; returns also the newest value of each location.
    fn run(&self, runtime: &Runtime) -> (Result<Outcome, RunError>, Vec<u64>) {
        let mut program = Program::new("random");
        let locations: Vec<Location<u64>> = self
            .depths
            .iter()
            .enumerate()
            .map(|(number, &depth)| {
                program.fifo(format!("location {number}"), depth, |slot| slot as u64)
            })
            .collect();
        let watch = Arc::new(Watch::new(self));
        for (number, plan) in self.tasks.iter().enumerate() {
            let name = format!("task {number}");
            let watch = Arc::clone(&watch);
            if plan.is_async {
                program.async_task(name, |task| {
                    let mut member = Member::new(task, plan, number, &locations, watch);
                    let mut turns = task.turns();
                    async move {
                        while turns.next() {
                            member.turn_async(turns.turn()).await;
                        }
                    }
                });
            } else {
                program.task(name, |task| {
                    let mut member = Member::new(task, plan, number, &locations, watch);
                    let mut turn = 0;
                    move || {
                        member.turn(turn);
                        turn += 1;
                    }
                });
            }
        }
        let outcome = program.run_on(runtime, Turns(self.turns));
        let values = locations
            .iter()
            .map(|location| *location.read().expect("nobody panicked"));
        (outcome, values.collect())
    }
}

/// The turns of all tasks, and who must be near whom.
struct Watch {
    turns: Vec<AtomicU64>,
    /// For each task and each of its handles, tasks that it may not be far from, and how far.
    near: Vec<Vec<(Vec<usize>, u64)>>,
}

impl Watch {
    fn new(plan: &Plan) -> Self {
        let near = plan.tasks.iter().map(|task| {
            let uses = task.uses.iter().map(|used| {
                let conflicts =
                    |other: &Use| other.location == used.location && (other.writes || used.writes);
                let others = plan.tasks.iter().enumerate();
                let others = others.filter(|(_, other)| other.uses.iter().any(conflicts));
                (
                    others.map(|(number, _)| number).collect(),
                    plan.depths[used.location] as u64,
                )
            });
            uses.collect()
        });
        Self {
            turns: plan.tasks.iter().map(|_| AtomicU64::new(0)).collect(),
            near: near.collect(),
        }
    }

    /// Called by a task inside a section.
    fn look(&self, task: usize, handle: usize, turn: u64) {
        let (others, limit) = &self.near[task][handle];
        for &other in others {
            // Relaxed: who is seen late only seems nearer, or was just there.
            let theirs = self.turns[other].load(Relaxed);
            assert!(
                theirs.abs_diff(turn) <= *limit,
                "task {task} is in turn {turn}, task {other}, with whom it shares a location, in turn {theirs}"
            );
        }
    }
}

/// A handle of either kind.
enum Way {
    Reads(ReadHandle<u64>),
    Writes(WriteHandle<u64>),
}

/// A section of either kind.
enum Held<'a> {
    Reads(Section<'a, u64, Read>),
    Writes(Section<'a, u64, Write>),
}

impl Way {
    fn enter(&mut self) -> Held<'_> {
        match self {
            Self::Reads(handle) => Held::Reads(handle.enter().wait()),
            Self::Writes(handle) => Held::Writes(handle.enter().wait()),
        }
    }

    async fn enter_async(&mut self) -> Held<'_> {
        match self {
            Self::Reads(handle) => Held::Reads(handle.enter().await),
            Self::Writes(handle) => Held::Writes(handle.enter().await),
        }
    }
}

impl Held<'_> {
    /// Mixes the digest into the value, if that is written, and the value into the digest.
    fn mix(&mut self, digest: u64) -> u64 {
        match self {
            Self::Reads(value) => mix(digest, **value),
            Self::Writes(value) => {
                **value = mix(**value, digest);
                mix(digest, **value)
            }
        }
    }
}

/// A task that runs.
struct Member {
    number: usize,
    ways: Vec<Way>,
    is_nested: bool,
    watch: Arc<Watch>,
}

impl Member {
    fn new(
        task: &mut Task<'_>,
        plan: &TaskPlan,
        number: usize,
        locations: &[Location<u64>],
        watch: Arc<Watch>,
    ) -> Self {
        let ways = plan.uses.iter().map(|used| {
            let location = &locations[used.location];
            if used.writes {
                Way::Writes(task.writes_each_turn(location))
            } else {
                Way::Reads(task.reads_each_turn(location))
            }
        });
        Self {
            number,
            ways: ways.collect(),
            is_nested: plan.is_nested,
            watch,
        }
    }

    fn begin(&self, turn: u64) -> u64 {
        // Relaxed: see `Watch::look`.
        self.watch.turns[self.number].store(turn, Relaxed);
        mix(self.number as u64, turn)
    }

    fn turn(&mut self, turn: u64) {
        let mut digest = self.begin(turn);
        let mut held = Vec::new();
        for (handle, way) in self.ways.iter_mut().enumerate() {
            let mut section = way.enter();
            self.watch.look(self.number, handle, turn);
            digest = section.mix(digest);
            held.extend(Some(section).filter(|_| self.is_nested));
        }
    }

    async fn turn_async(&mut self, turn: u64) {
        let mut digest = self.begin(turn);
        let mut held = Vec::new();
        for (handle, way) in self.ways.iter_mut().enumerate() {
            let mut section = way.enter_async().await;
            self.watch.look(self.number, handle, turn);
            digest = section.mix(digest);
            held.extend(Some(section).filter(|_| self.is_nested));
        }
    }
}
