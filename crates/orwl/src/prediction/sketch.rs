//! The description of a program without its data: locations and their sizes, operations and their
//! work, and which operation uses which location.
//!
//! A sketch is sufficient to compute what operations exchange, to place them, and to
//! [simulate](Sketch::simulate) the program on machines that do not exist, or for sizes that do not
//! fit into this one. The applications have tests that compare a sketch with a small
//! [`Program`](crate::Program).

use raddle_sync::fifo::Access;
use raddle_topology::Matrix;

use crate::dependencies::{Use, matrix_of};

/// The description of a program without its data.
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
    pub(super) locations: Vec<SketchLocation>,
    pub(super) operations: Vec<SketchOperation>,
}

/// The number of a location in its [`Sketch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationIndex(usize);

#[derive(Clone, Debug)]
pub(super) struct SketchLocation {
    pub(super) bytes: f64,
    pub(super) depth: usize,
    /// The whole of which this location is a piece, or the location itself.
    pub(super) whole: usize,
}

#[derive(Clone, Debug)]
pub(super) struct SketchOperation {
    pub(super) name: String,
    /// The duration of a turn in nanoseconds, when all data is available.
    pub(super) work_ns: f64,
    /// The number of bytes of the operation's own memory that a turn reads.
    pub(super) memory_bytes: f64,
    pub(super) uses: Vec<SketchUse>,
    /// True if the operation only exchanges the values of the locations that it writes.
    pub(super) exchanges: bool,
    /// The parent in the union-find forest of operations that stay together; itself for a root.
    with: usize,
}

#[derive(Clone, Debug)]
pub(super) struct SketchUse {
    pub(super) location: usize,
    pub(super) access: Access,
    /// The number of bytes that a turn uses.
    pub(super) touched: f64,
}

impl Sketch {
    /// Creates a sketch without operations.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            locations: Vec::new(),
            operations: Vec::new(),
        }
    }

    /// Returns the name of the sketch.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a location of `bytes` bytes that keeps `depth` values, at least one.
    pub fn location(&mut self, bytes: usize, depth: usize) -> LocationIndex {
        self.add_location(bytes as f64, depth.max(1), self.locations.len())
    }

    /// Adds a location of `bytes` bytes that is a piece of the location `whole`.
    pub fn piece(&mut self, whole: LocationIndex, bytes: usize) -> LocationIndex {
        let depth = self.locations[whole.0].depth;
        self.add_location(bytes as f64, depth, whole.0)
    }

    fn add_location(&mut self, bytes: f64, depth: usize, whole: usize) -> LocationIndex {
        self.locations.push(SketchLocation {
            bytes,
            depth,
            whole,
        });
        LocationIndex(self.locations.len() - 1)
    }

    /// Adds an operation, declared after all others, and returns its number.
    ///
    /// A turn has `work_ns` nanoseconds of work and reads `memory_bytes` bytes of the operation's
    /// own memory. `uses` lists its handles.
    ///
    /// # Panics
    /// Panics if two handles are on the same location, or one is on a whole and another on a piece
    /// of it. A [`Task`](crate::Task) panics in the same cases.
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
                "operation {name} has two handles on location {}, which would wait for each other; \
                 expected one",
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

    /// Returns true if two locations are the same, or if one is the whole of the other.
    fn is_part_of_other(&self, one: usize, other: usize) -> bool {
        let whole = |location: usize| self.locations[location].whole;
        one == other || whole(one) == other || whole(other) == one
    }

    /// Declares that a turn of the operation uses only `bytes` bytes of a location, such as an edge
    /// of a block.
    ///
    /// It corresponds to [`Handle::touching`](crate::Handle::touching).
    ///
    /// # Panics
    /// Panics if there is no such operation.
    pub fn touches(&mut self, operation: usize, location: LocationIndex, bytes: usize) {
        for used in &mut self.operations[operation].uses {
            if used.location == location.0 {
                used.touched = bytes as f64;
            }
        }
    }

    /// Declares that a turn of the operation only exchanges the values of the locations that it
    /// writes, by exchanging pointers.
    ///
    /// The first location gets the value of the second, and so on, and the last gets that of the
    /// first. The values stay where they are in memory. The bytes that the operation
    /// [touches](Self::touches) count only for dependencies.
    ///
    /// # Panics
    /// Panics if there is no such operation.
    pub fn exchanges(&mut self, operation: usize) {
        self.operations[operation].exchanges = true;
    }

    /// Places an operation where another one is placed.
    ///
    /// It corresponds to [`Operations::together`](crate::Operations::together).
    ///
    /// # Panics
    /// Panics if there is no such operation.
    pub fn keep_together(&mut self, operation: usize, other: usize) {
        let (own, other) = (self.team(operation), self.team(other));
        self.operations[own].with = other;
    }

    /// Returns a label for each operation. Operations that stay together have the same label.
    ///
    /// The labels are the input of
    /// [`PlaceOptions::together`](raddle_topology::PlaceOptions::together).
    #[must_use]
    pub fn together(&self) -> Vec<usize> {
        let operations = 0..self.operations.len();
        operations.map(|operation| self.team(operation)).collect()
    }

    /// Returns the representative of the operations that stay together with this one.
    fn team(&self, operation: usize) -> usize {
        let mut at = operation;
        while self.operations[at].with != at {
            at = self.operations[at].with;
        }
        at
    }

    /// Returns the name of each operation.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.operations.iter().map(|operation| &*operation.name)
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn operation_count(&self) -> usize {
        self.operations.len()
    }

    /// Returns the load of each operation for placement: its nanoseconds of work in a turn.
    ///
    /// A [`Program`](crate::Program) that has run for a while knows these from measurements.
    #[must_use]
    pub fn loads(&self) -> Vec<f64> {
        // Every operation has a positive load.
        let load_of = |operation: &SketchOperation| operation.work_ns.max(1.0);
        self.operations.iter().map(load_of).collect()
    }

    /// Returns the number of bytes that operations exchange in a turn.
    ///
    /// It corresponds to [`Program::dependencies`](crate::Program::dependencies).
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
        matrix_of(names.collect(), uses, |_| 1.0)
    }
}
