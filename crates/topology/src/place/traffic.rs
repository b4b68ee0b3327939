//! The traffic between parties in both directions: the matrix in the form that optimisation needs.
//!
//! It is a symmetric sparse graph without loops. Weights are scaled to at most 1. Single precision
//! is enough to choose between places. The cost of the chosen placement is computed from the
//! matrix.

use std::ops::Range;

use crate::matrix::Matrix;

/// The approximate number of matrix entries in a tile: 8 MiB.
const TILE_ENTRIES: usize = 1 << 20;

/// A weighted graph in compressed sparse rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    offsets: Vec<usize>,
    to: Vec<u32>,
    weights: Vec<f32>,
}

impl Traffic {
    /// Adds up both directions of a matrix. The run time is linear in its entries.
    pub(super) fn new(matrix: &Matrix) -> Self {
        let order = matrix.order();
        let heaviest = (0..order).map(|from| most(matrix.row_parts(from).1));
        let heaviest = heaviest.fold(0.0, f64::max);
        let scale = if heaviest > 0.0 { 0.5 / heaviest } else { 1.0 };
        if is_full(matrix) {
            return Self::of_full(matrix, scale);
        }
        let offsets = column_offsets(matrix);
        let mut traffic = Self {
            offsets: vec![0],
            to: Vec::with_capacity(offsets[order]),
            weights: Vec::with_capacity(offsets[order]),
        };
        // Columns are transposed into rows one tile at a time, so that the writes stay close
        // together.
        let tile_count = (offsets[order] / TILE_ENTRIES).clamp(1, order.max(1));
        let mut tile = Tile {
            cursors: vec![0; order],
            ends: Vec::new(),
            senders: Vec::new(),
            received: Vec::new(),
        };
        for index in 0..tile_count {
            let columns = order * index / tile_count..order * (index + 1) / tile_count;
            tile.fill(matrix, scale, &offsets, columns.clone());
            let first = offsets[columns.start];
            for party in columns {
                let (to, bytes) = matrix.row_parts(party);
                let column = offsets[party] - first..offsets[party + 1] - first;
                let (senders, received) = (&tile.senders[column.clone()], &tile.received[column]);
                if to == senders {
                    traffic.merge_alike(party as u32, to, bytes, scale, received);
                } else {
                    let sent = bytes.iter().map(|bytes| (bytes * scale) as f32);
                    let came = senders.iter().copied().zip(received.iter().copied());
                    traffic.merge(party as u32, to.iter().copied().zip(sent), came);
                }
                traffic.offsets.push(traffic.to.len());
            }
        }
        traffic
    }

    /// Creates the graph of a matrix in which every party sends to every other, without reading the
    /// indexes.
    fn of_full(matrix: &Matrix, scale: f64) -> Self {
        let order = matrix.order();
        let mut traffic = Self {
            offsets: vec![0],
            to: Vec::with_capacity(order * order),
            weights: Vec::with_capacity(order * order),
        };
        let scaled = |bytes: &f64| (bytes * scale) as f32;
        let tile_count = (order * order / TILE_ENTRIES).clamp(1, order.max(1));
        let mut received = Vec::new();
        for index in 0..tile_count {
            let columns = order * index / tile_count..order * (index + 1) / tile_count;
            received.resize(columns.len() * order, 0.0_f32);
            let Range { start, end } = columns;
            for from in 0..order {
                let (before, behind) = others(matrix, from);
                let (own, next) = (from.clamp(start, end), (from + 1).clamp(start, end));
                let before = &before[start.min(from)..own.min(from)];
                let behind = &behind[next.saturating_sub(from + 1)..end.saturating_sub(from + 1)];
                let sent = (start..own).zip(before).chain((next..end).zip(behind));
                sent.for_each(|(to, bytes)| received[(to - start) * order + from] = scaled(bytes));
            }
            for party in start..end {
                let row = traffic.to.len();
                let came = &received[(party - start) * order..][..order];
                let (before, behind) = others(matrix, party);
                let add = |(sent, came): (&f64, &f32)| scaled(sent) + came;
                traffic
                    .to
                    .extend((0..party as u32).chain(party as u32 + 1..order as u32));
                traffic.weights.extend(before.iter().zip(came).map(add));
                traffic
                    .weights
                    .extend(behind.iter().zip(&came[party + 1..]).map(add));
                traffic.drop_zeros(row);
                traffic.offsets.push(traffic.to.len());
            }
        }
        traffic
    }

    /// Creates a graph from its rows. It must be symmetric and without loops; rows need no order.
    pub(super) fn from_parts(offsets: Vec<usize>, to: Vec<u32>, weights: Vec<f32>) -> Self {
        Self {
            offsets,
            to,
            weights,
        }
    }

    pub(super) fn order(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    pub(super) fn entry_count(&self) -> usize {
        self.to.len()
    }

    #[inline]
    pub(super) fn row(&self, party: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[party]..self.offsets[party + 1];
        (&self.to[range.clone()], &self.weights[range])
    }

    /// Returns the traffic of a vertex with all others.
    pub(super) fn volume(&self, vertex: usize) -> f32 {
        let (eights, rest) = self.row(vertex).1.as_chunks::<8>();
        let mut sums = [0.0_f32; 8];
        for weights in eights {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
        sums.iter().chain(rest).sum()
    }

    #[inline]
    pub(super) fn neighbours(&self, party: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let (to, weights) = self.row(party);
        to.iter()
            .zip(weights)
            .map(|(&to, &weight)| (to as usize, weight))
    }

    /// Appends the row of a party that sends to exactly the parties from which it receives.
    fn merge_alike(&mut self, party: u32, to: &[u32], sent: &[f64], scale: f64, came: &[f32]) {
        let start = self.to.len();
        self.to.extend_from_slice(to);
        let both = sent
            .iter()
            .zip(came)
            .map(|(sent, came)| (sent * scale) as f32 + came);
        self.weights.extend(both);
        if let Ok(own) = to.binary_search(&party) {
            self.to.remove(start + own);
            self.weights.remove(start + own);
        }
        self.drop_zeros(start);
    }

    /// Removes edges with a weight that was rounded to zero from the row that begins at `start`.
    fn drop_zeros(&mut self, start: usize) {
        if self.weights[start..].contains(&0.0) {
            let mut kept = start;
            for index in start..self.to.len() {
                if self.weights[index] > 0.0 {
                    self.to.swap(kept, index);
                    self.weights.swap(kept, index);
                    kept += 1;
                }
            }
            self.to.truncate(kept);
            self.weights.truncate(kept);
        }
    }

    /// Appends a row: merges the sorted lists of both directions, and drops traffic of a party with
    /// itself.
    fn merge(
        &mut self,
        party: u32,
        sent: impl Iterator<Item = (u32, f32)>,
        came: impl Iterator<Item = (u32, f32)>,
    ) {
        let (mut sent, mut came) = (sent.peekable(), came.peekable());
        loop {
            let (to, weight) = match (sent.peek().copied(), came.peek().copied()) {
                (Some((to, weight)), Some((from, more))) if to == from => {
                    sent.next();
                    came.next();
                    (to, weight + more)
                }
                (Some((to, weight)), other) if other.is_none_or(|(from, _)| to < from) => {
                    sent.next();
                    (to, weight)
                }
                (_, Some((from, weight))) => {
                    came.next();
                    (from, weight)
                }
                _ => return,
            };
            if to != party && weight > 0.0 {
                self.to.push(to);
                self.weights.push(weight);
            }
        }
    }
}

/// Returns the largest of some numbers.
///
/// It keeps eight partial results, so that a comparison need not wait for the one before.
fn most(numbers: &[f64]) -> f64 {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut lanes = [0.0_f64; 8];
    for numbers in eights {
        for (lane, number) in lanes.iter_mut().zip(numbers) {
            *lane = if *number > *lane { *number } else { *lane };
        }
    }
    lanes.iter().chain(rest).copied().fold(0.0, f64::max)
}

/// Returns true if every party sends to every other party.
fn is_full(matrix: &Matrix) -> bool {
    let order = matrix.order();
    (0..order).all(|from| {
        let to = matrix.row_parts(from).0;
        to.len() == order || to.len() + 1 == order && to.binary_search(&(from as u32)).is_err()
    })
}

/// Returns the bytes that a party of a full matrix sends to the parties before and behind it.
fn others(matrix: &Matrix, party: usize) -> (&[f64], &[f64]) {
    let bytes = matrix.row_parts(party).1;
    let own = bytes.len() + 1 - matrix.order();
    (&bytes[..party], &bytes[party + own..])
}

/// Returns the offset at which each column would begin if the matrix were stored by columns.
fn column_offsets(matrix: &Matrix) -> Vec<usize> {
    let order = matrix.order();
    let mut offsets = vec![0; order + 1];
    for from in 0..order {
        for &to in matrix.row_parts(from).0 {
            offsets[to as usize + 1] += 1;
        }
    }
    for party in 0..order {
        offsets[party + 1] += offsets[party];
    }
    offsets
}

/// Some columns of a matrix, transposed into rows of senders and received bytes.
struct Tile {
    /// The position up to which each row of the matrix has been read.
    cursors: Vec<usize>,
    /// The end of each column in `senders` and `received`.
    ends: Vec<usize>,
    senders: Vec<u32>,
    received: Vec<f32>,
}

impl Tile {
    /// Reads the next columns. `offsets` has the offset of each column among all entries.
    fn fill(&mut self, matrix: &Matrix, scale: f64, offsets: &[usize], columns: Range<usize>) {
        let first = offsets[columns.start];
        self.ends.clear();
        self.ends
            .extend(offsets[columns.clone()].iter().map(|offset| offset - first));
        self.senders.resize(offsets[columns.end] - first, 0);
        self.received.resize(offsets[columns.end] - first, 0.0);
        for (from, cursor) in self.cursors.iter_mut().enumerate() {
            let (to, bytes) = matrix.row_parts(from);
            let rest = to[*cursor..].iter().zip(&bytes[*cursor..]);
            for (&to, &bytes) in rest.take_while(|(to, _)| (**to as usize) < columns.end) {
                let end = &mut self.ends[to as usize - columns.start];
                self.senders[*end] = from as u32;
                self.received[*end] = (bytes * scale) as f32;
                *end += 1;
                *cursor += 1;
            }
        }
    }
}
