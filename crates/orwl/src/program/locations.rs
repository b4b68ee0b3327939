//! The methods of a program that create locations: single ones, FIFOs with old values, and splits.

use std::sync::{Arc, OnceLock};

use raddle_sync::ordered::{self, Ordered};
use raddle_sync::prim::{AtomicUsize, Mutex};

use super::Program;
use crate::extent::Extent;
use crate::location::{Identity, Location, Split};
use crate::task::Declared;

impl Program {
    /// Creates a location with a value. Cost: an allocation.
    pub fn location<D>(&mut self, name: impl Into<String>, value: D) -> Location<D>
    where
        D: Extent + Send + Sync + 'static,
    {
        self.fifo_of(name.into(), vec![value], D::bytes)
    }

    /// Creates a location as [`location`](Self::location) does, with a value of any type.
    ///
    /// `bytes` returns the number of bytes that move when tasks exchange a value. It takes the
    /// place of [`Extent`], which a program cannot implement for the types of other crates.
    ///
    /// # Examples
    /// ```
    /// use std::collections::BTreeMap;
    /// use raddle_orwl::{Program, Turns};
    ///
    /// let mut program = Program::new("squares");
    /// let squares = program.location_of("squares", BTreeMap::new(), |map: &BTreeMap<u64, u64>| {
    ///     map.len() * size_of::<(u64, u64)>()
    /// });
    /// program.task("square", |task| {
    ///     let mut squares = task.writes_each_turn(&squares);
    ///     move || {
    ///         squares.section(|map| {
    ///             let number = map.len() as u64;
    ///             map.insert(number, number * number);
    ///         })
    ///     }
    /// });
    /// program.run(Turns(4))?;
    /// assert_eq!(squares.read()?.last_key_value(), Some((&3, &9)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn location_of<D>(
        &mut self,
        name: impl Into<String>,
        value: D,
        bytes: fn(&D) -> usize,
    ) -> Location<D>
    where
        D: Send + Sync + 'static,
    {
        self.fifo_of(name.into(), vec![value], bytes)
    }

    /// Creates a location that keeps `depth` values. `make` creates the initial ones.
    ///
    /// The writer of turn `t` need not wait until turn `t - 1` has been read, only until turn
    /// `t - depth` has. It finds the value of that turn, and overwrites it. Nothing is copied. A
    /// turn in which no task writes, since the writer has ended or dropped its handle, has the
    /// value of the turn that was `depth` turns before.
    ///
    /// # Panics
    /// Panics if the depth is 0.
    pub fn fifo<D>(
        &mut self,
        name: impl Into<String>,
        depth: usize,
        make: impl FnMut(usize) -> D,
    ) -> Location<D>
    where
        D: Extent + Send + Sync + 'static,
    {
        assert!(depth > 0, "a location keeps one value at least");
        self.fifo_of(name.into(), (0..depth).map(make).collect(), D::bytes)
    }

    /// Creates a location for items that are used as a whole and in pieces, in turn.
    ///
    /// There are `piece_count` pieces. Their lengths differ by at most one. Tasks that use
    /// different pieces run at the same time. A task that writes the whole and is declared before
    /// them distributes the work. A task that reads the whole and is declared after them collects
    /// the results. Nothing is copied.
    ///
    /// # Panics
    /// Panics if `piece_count` is 0.
    pub fn split<T>(
        &mut self,
        name: impl Into<String>,
        items: Vec<T>,
        piece_count: usize,
    ) -> Split<T>
    where
        T: Send + Sync + 'static,
    {
        assert!(piece_count > 0, "items are split into one piece at least");
        let (name, len) = (name.into(), items.len());
        let lens: Vec<_> = (0..piece_count)
            .map(|piece| len * (piece + 1) / piece_count - len * piece / piece_count)
            .collect();
        let (whole, pieces) = ordered::split(items.into_boxed_slice(), &lens);
        let index = self.locations.len();
        let whole = self.declare(
            name.clone(),
            vec![whole],
            index,
            len * size_of::<T>(),
            <[T]>::bytes,
        );
        let pieces = pieces.into_iter().zip(&lens).enumerate();
        let pieces = pieces.map(|(piece, (place, len))| {
            let bytes = len * size_of::<T>();
            self.declare(
                format!("{name}[{piece}]"),
                vec![place],
                index,
                bytes,
                <[T]>::bytes,
            )
        });
        Split {
            pieces: pieces.collect(),
            whole,
        }
    }

    fn fifo_of<D: Send + Sync + 'static>(
        &mut self,
        name: String,
        values: Vec<D>,
        bytes_of: fn(&D) -> usize,
    ) -> Location<D> {
        let bytes = values.iter().map(bytes_of).max().unwrap_or(0);
        let ring = values.into_iter().map(Ordered::new).collect();
        self.declare(name, ring, self.locations.len(), bytes, bytes_of)
    }

    fn declare<D: ?Sized>(
        &mut self,
        name: String,
        ring: Vec<Ordered<D>>,
        whole: usize,
        bytes: usize,
        bytes_of: fn(&D) -> usize,
    ) -> Location<D> {
        // A whole is declared before its pieces.
        let holders = self.rings.get(whole).map(|of| Arc::clone(&of.holders));
        let of = Arc::new(Identity {
            program: self.number,
            index: self.locations.len(),
            name,
            whole,
            depth: ring.len(),
            piece_count: ring[0].piece_count(),
            run: Mutex::default(),
            holders: holders.unwrap_or_default(),
            newest: AtomicUsize::new(ring.len() - 1),
            kept: Mutex::default(),
            recorded_name: OnceLock::new(),
        });
        self.rings.push(Arc::clone(&of));
        self.locations.push(Declared {
            has_writer: false,
            bytes,
        });
        Location {
            of,
            ring: ring.into(),
            bytes_of,
        }
    }
}
