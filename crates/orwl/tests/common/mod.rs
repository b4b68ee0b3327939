//! Random programs, what they compute when their tasks run one after the other, and whether a run does the same.
//!
//! Each task goes through its handles in a given order, one section in the other or one after the other, and mixes what it
//! finds into what it writes, so that any other order of any two sections would give other values. While it is in a section it looks how far the
//! others are with whom it shares that location.

use std::slice;
use std::sync::Arc;

use raddle_orwl::{
    Location, Outcome, Program, Read, ReadHandle, RunError, Section, Split, Task, Turns, Write,
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
    /// Of a location in pieces, one of them; else all of it.
    piece: Option<usize>,
    writes: bool,
}

impl Use {
    /// The items of a value, or of the pieces of a split one, that it is about.
    fn items(&self, len: usize) -> std::ops::Range<usize> {
        self.piece.map_or(0..len, |piece| piece..piece + 1)
    }

    fn conflicts_with(&self, other: &Self) -> bool {
        let overlaps = self.piece == other.piece || self.piece.is_none() || other.piece.is_none();
        self.location == other.location && overlaps && (self.writes || other.writes)
    }
}

/// What a location is.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Keeps so many values.
    Ring(usize),
    /// Has so many pieces of one item.
    Split(usize),
}

impl Kind {
    fn depth(self) -> u64 {
        match self {
            Self::Ring(depth) => depth as u64,
            Self::Split(_) => 1,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TaskPlan {
    uses: Vec<Use>,
    is_nested: bool,
    is_async: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    kinds: Vec<Kind>,
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
        let kinds: Vec<_> = (0..1 + random.below(size.locations))
            .map(|_| match random.below(4) {
                0 => Kind::Ring(1 + random.below(size.depth)),
                1 => Kind::Split(1 + random.below(4)),
                _ => Kind::Ring(1),
            })
            .collect();
        let tasks = (0..1 + random.below(size.tasks)).map(|_| {
            let mut locations: Vec<_> = (0..kinds.len()).collect();
            let count = random.below(size.uses.min(kinds.len()) + 1);
            let uses = (0..count).map(|_| {
                let location = locations.swap_remove(random.below(locations.len()));
                let piece = match kinds[location] {
                    Kind::Split(count) => random.below(count + 1).checked_sub(1),
                    Kind::Ring(_) => None,
                };
                Use {
                    location,
                    piece,
                    writes: random.below(3) == 0,
                }
            });
            TaskPlan {
                uses: uses.collect(),
                is_nested: random.below(2) == 0,
                is_async: random.below(2) == 0,
            }
        });
        Self {
            tasks: tasks.collect(),
            kinds,
            turns: 1 + random.below(size.turns) as u64,
        }
    }

    /// What every location holds when all tasks have run one after the other, turn by turn: the newest value, or all pieces.
    pub(crate) fn one_after_the_other(&self) -> Vec<Vec<u64>> {
        let mut rings: Vec<Vec<Vec<u64>>> = self
            .kinds
            .iter()
            .map(|&kind| match kind {
                Kind::Ring(depth) => (0..depth as u64).map(|slot| vec![slot]).collect(),
                Kind::Split(count) => vec![(0..count as u64).collect()],
            })
            .collect();
        let first_writers: Vec<_> = (0..rings.len())
            .map(|location| {
                let writes = |used: &Use| used.location == location && used.writes;
                let is_writer = |task: &TaskPlan| task.uses.iter().any(writes);
                self.tasks.iter().position(is_writer)
            })
            .collect();
        for turn in 0..self.turns {
            for (number, task) in self.tasks.iter().enumerate() {
                let mut digest = mix(number as u64, turn);
                for used in &task.uses {
                    let depth = rings[used.location].len() as u64;
                    let writer = first_writers[used.location];
                    let is_before = writer.is_none_or(|writer| number <= writer);
                    let back = if !used.writes && is_before {
                        depth - 1
                    } else {
                        0
                    };
                    let value = &mut rings[used.location][((turn + back) % depth) as usize];
                    let items = used.items(value.len());
                    digest = if used.writes {
                        write(&mut value[items], digest)
                    } else {
                        read(&value[items], digest)
                    };
                }
            }
        }
        // Where nobody writes, the newest is the last of those that were there.
        let newest = |(ring, writer): (Vec<Vec<u64>>, &Option<usize>)| {
            let written = writer.map_or(0, |_| self.turns as usize);
            ring[(written + ring.len() - 1) % ring.len()].clone()
        };
        rings.into_iter().zip(&first_writers).map(newest).collect()
    }

    /// Runs it on a runtime, and sees that it computes the same, and that nobody is overtaken.
    pub(crate) fn check(&self, runtime: &Runtime, what: &str) {
        let (outcome, values) = self.run(runtime);
        let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outcome.turns, self.turns, "{what}");
        let uses: usize = self.tasks.iter().map(|task| task.uses.len()).sum();
        assert_eq!(outcome.sections, uses as u64 * self.turns, "{what}");
        assert_eq!(values, self.one_after_the_other(), "{what}");
    }

    /// Runs it; returns also what each location holds.
    fn run(&self, runtime: &Runtime) -> (Result<Outcome, RunError>, Vec<Vec<u64>>) {
        let mut program = Program::new("random");
        let kinds = self.kinds.iter().enumerate();
        let locations: Vec<Place> = kinds
            .map(|(number, &kind)| {
                let name = format!("location {number}");
                match kind {
                    Kind::Ring(depth) => Place::Ring(program.fifo(name, depth, |slot| slot as u64)),
                    Kind::Split(count) => {
                        Place::Split(program.split(name, (0..count as u64).collect(), count))
                    }
                }
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
        let values = locations.iter().map(|place| match place {
            Place::Ring(location) => vec![*location.read().expect("nobody panicked")],
            Place::Split(split) => split.whole.read().expect("nobody panicked").to_vec(),
        });
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
                let conflicts = |other: &Use| other.conflicts_with(used);
                let others = plan.tasks.iter().enumerate();
                let others = others.filter(|(_, other)| other.uses.iter().any(conflicts));
                (
                    others.map(|(number, _)| number).collect(),
                    plan.kinds[used.location].depth(),
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

/// A location of either kind.
enum Place {
    Ring(Location<u64>),
    Split(Split<u64>),
}

/// A handle of any kind.
enum Way {
    Reads(ReadHandle<u64>),
    Writes(WriteHandle<u64>),
    ReadsPart(ReadHandle<[u64]>),
    WritesPart(WriteHandle<[u64]>),
}

/// A section of any kind.
enum Held<'a> {
    Reads(Section<'a, u64, Read>),
    Writes(Section<'a, u64, Write>),
    ReadsPart(Section<'a, [u64], Read>),
    WritesPart(Section<'a, [u64], Write>),
}

impl Way {
    fn new(task: &mut Task<'_>, used: &Use, place: &Place) -> Self {
        match place {
            Place::Ring(location) if used.writes => Self::Writes(task.writes_each_turn(location)),
            Place::Ring(location) => Self::Reads(task.reads_each_turn(location)),
            Place::Split(split) => {
                let part = used
                    .piece
                    .map_or(&split.whole, |piece| &split.pieces[piece]);
                if used.writes {
                    Self::WritesPart(task.writes_each_turn(part))
                } else {
                    Self::ReadsPart(task.reads_each_turn(part))
                }
            }
        }
    }

    fn enter(&mut self) -> Held<'_> {
        match self {
            Self::Reads(handle) => Held::Reads(handle.enter().wait()),
            Self::Writes(handle) => Held::Writes(handle.enter().wait()),
            Self::ReadsPart(handle) => Held::ReadsPart(handle.enter().wait()),
            Self::WritesPart(handle) => Held::WritesPart(handle.enter().wait()),
        }
    }

    async fn enter_async(&mut self) -> Held<'_> {
        match self {
            Self::Reads(handle) => Held::Reads(handle.enter().await),
            Self::Writes(handle) => Held::Writes(handle.enter().await),
            Self::ReadsPart(handle) => Held::ReadsPart(handle.enter().await),
            Self::WritesPart(handle) => Held::WritesPart(handle.enter().await),
        }
    }
}

impl Held<'_> {
    /// Mixes the digest into the values, if they are written, and the values into the digest.
    fn mix(&mut self, digest: u64) -> u64 {
        match self {
            Self::Reads(value) => read(slice::from_ref(value), digest),
            Self::Writes(value) => write(slice::from_mut(value), digest),
            Self::ReadsPart(values) => read(values, digest),
            Self::WritesPart(values) => write(values, digest),
        }
    }
}

fn read(values: &[u64], digest: u64) -> u64 {
    values
        .iter()
        .fold(digest, |digest, &value| mix(digest, value))
}

fn write(values: &mut [u64], digest: u64) -> u64 {
    values.iter_mut().fold(digest, |digest, value| {
        *value = mix(*value, digest);
        mix(digest, *value)
    })
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
        locations: &[Place],
        watch: Arc<Watch>,
    ) -> Self {
        let ways = plan.uses.iter();
        let ways = ways.map(|used| Way::new(task, used, &locations[used.location]));
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
