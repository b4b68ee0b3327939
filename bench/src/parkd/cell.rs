//! Boxes, and the pieces into which planes have cut triangles.

use glam::Vec3;
use raddle_graphics::bounds::Bounds;
use raddle_graphics::intersect::Corners;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) low: [f32; 3],
    pub(super) high: [f32; 3],
}

impl Cell {
    pub(super) fn of_triangle(&[a, b, c]: &Corners) -> Self {
        // Adding zero turns -0.0 into 0.0, so that there is only one zero.
        let of =
            |pick: fn(f32, f32) -> f32, axis: usize| pick(pick(a[axis], b[axis]), c[axis]) + 0.0;
        Self {
            low: [0, 1, 2].map(|axis| of(f32::min, axis)),
            high: [0, 1, 2].map(|axis| of(f32::max, axis)),
        }
    }

    pub(super) fn union(self, other: Self) -> Self {
        let both = [0, 1, 2];
        Self {
            low: both.map(|axis| self.low[axis].min(other.low[axis])),
            high: both.map(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    pub(super) fn halves(self, axis: usize, position: f32) -> [Self; 2] {
        let (mut below, mut above) = (self, self);
        below.high[axis] = position;
        above.low[axis] = position;
        [below, above]
    }

    /// Returns true if the other box is inside this one and does not touch its border.
    #[inline]
    pub(super) fn strictly_contains(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] < other.low[axis] && other.high[axis] < self.high[axis])
    }

    pub(super) fn edge(&self, axis: usize) -> f64 {
        f64::from(self.high[axis]) - f64::from(self.low[axis])
    }
}

impl From<Cell> for Bounds {
    #[inline]
    fn from(cell: Cell) -> Self {
        Self {
            min: Vec3::from_array(cell.low),
            max: Vec3::from_array(cell.high),
        }
    }
}

impl From<Bounds> for Cell {
    #[inline]
    fn from(bounds: Bounds) -> Self {
        Self {
            low: bounds.min.to_array(),
            high: bounds.max.to_array(),
        }
    }
}

/// A piece of a triangle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) extent: Cell,
    pub(super) triangle: u32,
}

/// The pieces among a node's triangles.
///
/// A node names a triangle by one word: by its index in the mesh or, if a plane has cut it, by
/// [`CUT`](Self::CUT) and the number of a piece. The box of a triangle is needed only when a plane
/// cuts it. So whole triangles store no box, and a node passes on one word per triangle. Pieces are
/// numbered consecutively from the root: an arena continues where the one of the node above ends.
#[derive(Debug)]
pub(super) struct Arena<'a> {
    above: Option<&'a Arena<'a>>,
    first: usize,
    pieces: Vec<Piece>,
}

impl<'a> Arena<'a> {
    /// Set in the name of a triangle that has been cut.
    pub(super) const CUT: u32 = 1 << 31;

    pub(super) fn root() -> Self {
        Self {
            above: None,
            first: 0,
            pieces: Vec::new(),
        }
    }

    /// Creates an arena for the nodes below the node that owns this one.
    pub(super) fn below(&'a self) -> Self {
        Self {
            above: Some(self),
            first: self.len(),
            pieces: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first + self.pieces.len()
    }

    /// Removes the last pieces.
    pub(super) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len - self.first);
    }

    /// Stores a piece and returns its name.
    #[inline]
    pub(super) fn push(&mut self, piece: Piece) -> u32 {
        let name = Self::name(self.len());
        self.pieces.push(piece);
        name
    }

    pub(super) fn extend(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        self.pieces.extend(pieces);
    }

    /// Returns the name of a piece.
    pub(super) fn name(number: usize) -> u32 {
        number as u32 | Self::CUT
    }

    /// Returns the piece with a name. `corners` are those of the mesh.
    #[inline]
    pub(super) fn piece(&self, name: u32, corners: &[Corners]) -> Piece {
        if name & Self::CUT == 0 {
            return Piece {
                extent: Cell::of_triangle(&corners[name as usize]),
                triangle: name,
            };
        }
        self.cut_piece(name)
    }

    /// Returns the index in the mesh of the triangle with a name.
    #[inline]
    pub(super) fn triangle(&self, name: u32) -> u32 {
        if name & Self::CUT == 0 {
            name
        } else {
            self.cut_piece(name).triangle
        }
    }

    fn cut_piece(&self, name: u32) -> Piece {
        let number = (name & !Self::CUT) as usize;
        let mut arena = self;
        while let (true, Some(above)) = (number < arena.first, arena.above) {
            arena = above;
        }
        arena.pieces[number - arena.first]
    }
}
