//! Random programs, and a check that a run computes the same as a sequential execution.
//!
//! Each task enters the sections of its handles in a given order, nested or one after the other. It
//! mixes the values that it reads into the values that it writes, so that any other order of two
//! sections would give other values. While a task is in a section, it checks how many turns it is
//! apart from the tasks with which it shares that location.

use std::slice;
use std::sync::Arc;

use raddle_orwl::{
    Location, Outcome, Program, Read, ReadHandle, RunError, Section, Split, Task, Turns, Write,
    WriteHandle,
};
use raddle_runtime::Runtime;
use raddle_sync::prim::{AtomicU64, Relaxed};

/// A generator of random numbers (Steele, Lea, Flood: SplitMix64). Each seed gives a program.
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
    /// The piece that is used; `None` for the whole location.
    piece: Option<usize>,
    writes: bool,
}

impl Use {
    /// Returns the range of items that are used, of a value or of a split location.
    fn items(&self, len: usize) -> std::ops::Range<usize> {
        self.piece.map_or(0..len, |piece| piece..piece + 1)
    }

    fn conflicts_with(&self, other: &Self) -> bool {
        let overlaps = self.piece == other.piece || self.piece.is_none() || other.piece.is_none();
        self.location == other.location && overlaps && (self.writes || other.writes)
    }
}

/// The kind of a location.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A location that keeps this number of values.
    Ring(usize),
    /// A split location with this number of pieces of one item.
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

/// The greatest size of plans.
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

    /// Computes the final content of each location by running the tasks sequentially, turn by turn.
    ///
    /// The content is the newest value, or all pieces.
    pub(crate) fn run_sequentially(&self) -> Vec<Vec<u64>> {
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
        // If no task writes, the newest value is the last of the initial ones.
        let newest = |(ring, writer): (Vec<Vec<u64>>, &Option<usize>)| {
            let written = writer.map_or(0, |_| self.turns as usize);
            ring[(written + ring.len() - 1) % ring.len()].clone()
        };
        rings.into_iter().zip(&first_writers).map(newest).collect()
    }

    /// Runs the plan on a runtime. Checks that the result is that of a sequential execution, and
    /// that no task is overtaken.
    pub(crate) fn check(&self, runtime: &Runtime, what: &str) {
        let (outcome, values) = self.run(runtime);
        let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outcome.turns, self.turns, "{what}");
        let uses: usize = self.tasks.iter().map(|task| task.uses.len()).sum();
        assert_eq!(outcome.sections, uses as u64 * self.turns, "{what}");
        assert_eq!(values, self.run_sequentially(), "{what}");
    }

    /// Runs the plan. Returns the outcome, and the content of each location.
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
                    let mut running = Running::new(task, plan, number, &locations, watch);
                    let mut turns = task.turns();
                    async move {
                        while turns.next() {
                            running.turn_async(turns.turn()).await;
                        }
                    }
                });
            } else {
                program.task(name, |task| {
                    let mut running = Running::new(task, plan, number, &locations, watch);
                    let mut turn = 0;
                    move || {
                        running.turn(turn);
                        turn += 1;
                    }
                });
            }
        }
        let outcome = program.run_on(runtime, Turns(self.turns));
        let values = locations.iter().map(|place| match place {
            Place::Ring(location) => vec![*location.read().expect("no task panicked")],
            Place::Split(split) => split.whole.read().expect("no task panicked").to_vec(),
        });
        (outcome, values.collect())
    }
}

/// The turns of all tasks, and the greatest distances between them.
struct Watch {
    turns: Vec<AtomicU64>,
    /// For each task and each of its handles, the tasks in conflict with it, and the number of
    /// turns that they may be apart.
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

    /// Checks the distance to other tasks. A task calls this inside a section.
    fn check(&self, task: usize, handle: usize, turn: u64) {
        let (others, limit) = &self.near[task][handle];
        for &other in others {
            // Relaxed: an old value is one that the other task had a moment ago.
            let theirs = self.turns[other].load(Relaxed);
            assert!(
                theirs.abs_diff(turn) <= *limit,
                "task {task} is in turn {turn}, but task {other}, which shares a location, is in \
                 turn {theirs}"
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
enum AnyHandle {
    Reads(ReadHandle<u64>),
    Writes(WriteHandle<u64>),
    ReadsPart(ReadHandle<[u64]>),
    WritesPart(WriteHandle<[u64]>),
}

/// A section of any kind.
enum AnySection<'a> {
    Reads(Section<'a, u64, Read>),
    Writes(Section<'a, u64, Write>),
    ReadsPart(Section<'a, [u64], Read>),
    WritesPart(Section<'a, [u64], Write>),
}

impl AnyHandle {
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

    fn enter(&mut self) -> AnySection<'_> {
        match self {
            Self::Reads(handle) => AnySection::Reads(handle.enter().wait()),
            Self::Writes(handle) => AnySection::Writes(handle.enter().wait()),
            Self::ReadsPart(handle) => AnySection::ReadsPart(handle.enter().wait()),
            Self::WritesPart(handle) => AnySection::WritesPart(handle.enter().wait()),
        }
    }

    async fn enter_async(&mut self) -> AnySection<'_> {
        match self {
            Self::Reads(handle) => AnySection::Reads(handle.enter().await),
            Self::Writes(handle) => AnySection::Writes(handle.enter().await),
            Self::ReadsPart(handle) => AnySection::ReadsPart(handle.enter().await),
            Self::WritesPart(handle) => AnySection::WritesPart(handle.enter().await),
        }
    }
}

impl AnySection<'_> {
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
struct Running {
    number: usize,
    handles: Vec<AnyHandle>,
    is_nested: bool,
    watch: Arc<Watch>,
}

impl Running {
    fn new(
        task: &mut Task<'_>,
        plan: &TaskPlan,
        number: usize,
        locations: &[Place],
        watch: Arc<Watch>,
    ) -> Self {
        let handles = plan.uses.iter();
        let handles = handles.map(|used| AnyHandle::new(task, used, &locations[used.location]));
        Self {
            number,
            handles: handles.collect(),
            is_nested: plan.is_nested,
            watch,
        }
    }

    fn begin(&self, turn: u64) -> u64 {
        // Relaxed: see `Watch::check`.
        self.watch.turns[self.number].store(turn, Relaxed);
        mix(self.number as u64, turn)
    }

    fn turn(&mut self, turn: u64) {
        let mut digest = self.begin(turn);
        let mut held = Vec::new();
        for (index, handle) in self.handles.iter_mut().enumerate() {
            let mut section = handle.enter();
            self.watch.check(self.number, index, turn);
            digest = section.mix(digest);
            held.extend(Some(section).filter(|_| self.is_nested));
        }
    }

    async fn turn_async(&mut self, turn: u64) {
        let mut digest = self.begin(turn);
        let mut held = Vec::new();
        for (index, handle) in self.handles.iter_mut().enumerate() {
            let mut section = handle.enter_async().await;
            self.watch.check(self.number, index, turn);
            digest = section.mix(digest);
            held.extend(Some(section).filter(|_| self.is_nested));
        }
    }
}
