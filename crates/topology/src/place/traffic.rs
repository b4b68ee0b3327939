//! What parties exchange in both directions: the matrix as optimisation wants it.
//!
//! A symmetric sparse graph without loops, its weights scaled so that the heaviest is 1. Single precision is enough
//! to decide what goes where; what a placement costs is computed from the matrix.

use crate::matrix::Matrix;

/// A weighted graph in rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    offsets: Vec<usize>,
    to: Vec<u32>,
    weights: Vec<f32>,
}

impl Traffic {
    /// Adds up both directions of a matrix. Cost: linear in its entries.
    pub(super) fn new(matrix: &Matrix) -> Self {
        let order = matrix.order();
        let mut heaviest = 0.0_f64;
        let mut offsets = vec![0; order + 1];
        for from in 0..order {
            let (to, bytes) = matrix.row_parts(from);
            for (&to, &bytes) in to.iter().zip(bytes) {
                heaviest = heaviest.max(bytes);
                offsets[to as usize + 1] += 1;
            }
        }
        for party in 0..order {
            offsets[party + 1] += offsets[party];
        }
        let scale = if heaviest > 0.0 { 0.5 / heaviest } else { 1.0 };
        // What comes from whom: rows are visited in order, so each column's list is sorted too.
        let mut ends = offsets.clone();
        let mut senders = vec![0_u32; offsets[order]];
        let mut received = vec![0.0_f32; offsets[order]];
        for from in 0..order {
            let (to, bytes) = matrix.row_parts(from);
            for (&to, &bytes) in to.iter().zip(bytes) {
                let end = &mut ends[to as usize];
                senders[*end] = from as u32;
                received[*end] = (bytes * scale) as f32;
                *end += 1;
            }
        }
        let mut traffic = Self::default();
        traffic.to.reserve(senders.len());
        traffic.weights.reserve(senders.len());
        traffic.offsets.push(0);
        for party in 0..order {
            let (to, bytes) = matrix.row_parts(party);
            let column = offsets[party]..offsets[party + 1];
            let sent = to
                .iter()
                .copied()
                .zip(bytes.iter().map(|bytes| (bytes * scale) as f32));
            let came = senders[column.clone()]
                .iter()
                .copied()
                .zip(received[column].iter().copied());
            traffic.merge(party as u32, sent, came);
            traffic.offsets.push(traffic.to.len());
        }
        traffic
    }

    /// Makes a graph from its rows, each sorted or not, symmetric and without loops.
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

    #[inline]
    pub(super) fn neighbours(&self, party: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let (to, weights) = self.row(party);
        to.iter()
            .zip(weights)
            .map(|(&to, &weight)| (to as usize, weight))
    }

    /// Appends a row: two sorted lists become one, and what a party tells itself is left out.
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
