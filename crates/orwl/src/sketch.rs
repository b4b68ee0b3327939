//! A program without its data: who uses which locations, how large they are, how much work a turn is.
//!
//! Enough to know what its operations exchange, to place them, and to [simulate](Sketch::simulate) it on machines that are not there, or for
//! sizes that do not fit into this one. A small [`Program`](crate::Program) has the same, and tests compare them.

use raddle_sync::fifo::Access;
use raddle_topology::Matrix;

use crate::dependencies::{Use, matrix_of};

/// A program without its data.
///
/// # Examples
/// ```
/// use raddle_orwl::{Access, Sketch};
/// let mut sketch = Sketch::new("pipeline");
/// let frame = sketch.location(1_000_000, 2);
/// let source = sketch.operation("source", 2e6, 0.0, &[(frame, Access::Write)]);
/// let sink = sketch.operation("sink", 3e6, 0.0, &[(frame, Access::Read)]);
/// assert_eq!(sketch.dependencies().get(source, sink), 1e6);
/// ```
#[derive(Clone, Debug)]
pub struct Sketch {
    name: String,
    pub(crate) locations: Vec<SketchLocation>,
    pub(crate) operations: Vec<SketchOperation>,
}

/// A location's number in its [`Sketch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationIndex(usize);

#[derive(Clone, Debug)]
pub(crate) struct SketchLocation {
    pub(crate) bytes: f64,
    pub(crate) depth: usize,
    /// The whole that it is a piece of; itself, if it is none.
    pub(crate) whole: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct SketchOperation {
    pub(crate) name: String,
    /// Nanoseconds of a turn, with its data at hand.
    pub(crate) work_ns: f64,
    /// Bytes of its own memory that a turn goes through.
    pub(crate) memory_bytes: f64,
    pub(crate) uses: Vec<SketchUse>,
    /// The locations that it writes exchange their values, and that is all.
    pub(crate) exchanges: bool,
    /// The operation that it stays together with; itself where that does not matter.
    with: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct SketchUse {
    pub(crate) location: usize,
    pub(crate) access: Access,
    /// Bytes that a turn goes through.
    pub(crate) touched: f64,
}

impl Sketch {
    /// A sketch without operations.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            locations: Vec::new(),
            operations: Vec::new(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A location of so many bytes that keeps `depth` values, one or more.
    pub fn location(&mut self, bytes: usize, depth: usize) -> LocationIndex {
        self.add_location(bytes as f64, depth.max(1), self.locations.len())
    }

    /// A piece of a location.
    pub fn piece(&mut self, whole: LocationIndex, bytes: usize) -> LocationIndex {
        let depth = self.locations[whole.0].depth;
        self.add_location(bytes as f64, depth, whole.0)
    }

    pub(crate) fn add_location(&mut self, bytes: f64, depth: usize, whole: usize) -> LocationIndex {
        self.locations.push(SketchLocation {
            bytes,
            depth,
            whole,
        });
        LocationIndex(self.locations.len() - 1)
    }

    /// An operation behind all others: its nanoseconds of work in a turn, the bytes of its own memory that it goes through, and its handles.
    /// Returns its number.
    ///
    /// # Panics
    /// When two of its handles are on the same location, or one on a whole and one on a piece of it; as a [`Task`](crate::Task).
    #[track_caller]
    pub fn operation(
        &mut self,
        name: impl Into<String>,
        work_ns: f64,
        memory_bytes: f64,
        uses: &[(LocationIndex, Access)],
    ) -> usize {
        let name = name.into();
        for (at, &(location, _)) in uses.iter().enumerate() {
            let mut before = uses[..at].iter();
            assert!(
                !before.any(|&(other, _)| self.is_part_of_other(location.0, other.0)),
                "operation {name} has two handles on location {}, of which each would wait for the other; expected one",
                location.0
            );
        }
        self.operations.push(SketchOperation {
            name,
            work_ns,
            memory_bytes,
            uses: uses
                .iter()
                .map(|&(location, access)| SketchUse {
                    location: location.0,
                    access,
                    touched: self.locations[location.0].bytes,
                })
                .collect(),
            exchanges: false,
            with: self.operations.len(),
        });
        self.operations.len() - 1
    }

    /// Whether two locations are the same, or one of them is the other's whole.
    fn is_part_of_other(&self, one: usize, other: usize) -> bool {
        let whole = |location: usize| self.locations[location].whole;
        one == other || whole(one) == other || whole(other) == one
    }

    /// A turn of the operation goes through only so many bytes of a location that it uses, such as an edge of a block; as
    /// [`Handle::touching`](crate::Handle::touching).
    ///
    /// # Panics
    /// When there is no such operation.
    pub fn touches(&mut self, operation: usize, location: LocationIndex, bytes: usize) {
        for used in &mut self.operations[operation].uses {
            if used.location == location.0 {
                used.touched = bytes as f64;
            }
        }
    }

    /// A turn of the operation exchanges the values of the locations that it writes, as pointers: the first gets the second's, and so on, and the last
    /// the first's. They stay where they are; what it [touches](Self::touches) of them counts for dependencies alone.
    ///
    /// # Panics
    /// When there is no such operation.
    pub fn exchanges(&mut self, operation: usize) {
        self.operations[operation].exchanges = true;
    }

    /// An operation runs where another does; as [`Operations::together`](crate::Operations::together).
    ///
    /// # Panics
    /// When there is no such operation.
    pub fn keep_together(&mut self, operation: usize, other: usize) {
        let (own, other) = (self.team(operation), self.team(other));
        self.operations[own].with = other;
    }

    /// A label for each operation, the same for those that stay together; for [`PlaceOptions::together`](raddle_topology::PlaceOptions::together).
    #[must_use]
    pub fn together(&self) -> Vec<usize> {
        let operations = 0..self.operations.len();
        operations.map(|operation| self.team(operation)).collect()
    }

    /// The one of those that stay together that stands for all.
    fn team(&self, operation: usize) -> usize {
        let mut at = operation;
        while self.operations[at].with != at {
            at = self.operations[at].with;
        }
        at
    }

    /// The name of each operation.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().map(|operation| &*operation.name)
    }

    /// How many operations it has.
    #[must_use]
    pub fn operation_count(&self) -> usize {
        self.operations.len()
    }

    /// How much each operation is, for placement: its nanoseconds of work in a turn, as they are known of a [`Program`](crate::Program) that has run for a while.
    #[must_use]
    pub fn loads(&self) -> Vec<f64> {
        // Nobody is nothing.
        let load_of = |operation: &SketchOperation| operation.work_ns.max(1.0);
        self.operations.iter().map(load_of).collect()
    }

    /// What operations exchange in a turn, in bytes; as [`Program::dependencies`](crate::Program::dependencies).
    #[must_use]
    pub fn dependencies(&self) -> Matrix {
        let names = self
            .operations
            .iter()
            .map(|operation| operation.name.clone());
        let uses = self
            .operations
            .iter()
            .enumerate()
            .flat_map(|(number, operation)| {
                operation.uses.iter().map(move |used| Use {
                    operation: number,
                    access: used.access,
                    location: used.location,
                    whole: self.locations[used.location].whole,
                    bytes: used.touched,
                })
            });
        matrix_of(names.collect(), uses)
    }
}
