//! What tasks exchange, from their handles and the sizes of locations: the matrix that placement works on.
//!
//! Data travels from whoever writes a location to those who read it before it is written again, and from a writer to the next one, who
//! finds it in his predecessor's cache. In each turn that is once around; the last writer of a turn is followed by those who
//! read before the first of the next.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri, Inria RR-8993, 2016, section 4.1, and `orwl_dependency_get` in 4.2.

use std::collections::BTreeMap;

use raddle_sync::fifo::Access;
use raddle_topology::Matrix;

use crate::operation::Operation;

/// A handle, as far as data is concerned; `bytes` are those that a turn goes through.
pub(crate) struct Use {
    pub(crate) operation: usize,
    pub(crate) access: Access,
    pub(crate) location: usize,
    pub(crate) whole: usize,
    pub(crate) bytes: f64,
}

/// What operations exchange in a turn, by the bytes that their locations had when last looked at.
pub(crate) fn dependencies_of<'a>(
    operations: impl Iterator<Item = &'a Operation> + Clone,
) -> Matrix {
    let names = operations
        .clone()
        .map(|operation| operation.name.to_string());
    let uses = operations.enumerate().flat_map(|(number, operation)| {
        operation.links().iter().map(move |link| Use {
            operation: number,
            access: link.access,
            location: link.location.index,
            whole: link.location.whole,
            bytes: link.bytes(),
        })
    });
    matrix_of(names.collect(), uses)
}

/// The matrix of parties with such names that use locations so, in the order of declaration.
pub(crate) fn matrix_of(names: Vec<String>, uses: impl Iterator<Item = Use>) -> Matrix {
    // By whole, and in it by location, with their number in that order.
    let mut wholes: BTreeMap<usize, BTreeMap<usize, Vec<(usize, Use)>>> = BTreeMap::new();
    for (number, used) in uses.enumerate() {
        let locations = wholes.entry(used.whole).or_default();
        locations
            .entry(used.location)
            .or_default()
            .push((number, used));
    }
    let mut matrix = Matrix::new(names.len());
    for (whole, mut pieces) in wholes {
        let of_whole = pieces.remove(&whole).unwrap_or_default();
        // Who writes a piece is followed by those who use that piece, or the whole; who writes the whole, by all.
        for (&piece, of_piece) in &pieces {
            let uses = in_order(of_piece.iter().chain(&of_whole));
            add_round(&mut matrix, &uses, piece);
        }
        let uses = in_order(pieces.values().flatten().chain(&of_whole));
        add_round(&mut matrix, &uses, whole);
    }
    matrix.with_names(names).expect("each operation has a name")
}

fn in_order<'a>(uses: impl Iterator<Item = &'a (usize, Use)>) -> Vec<&'a Use> {
    let mut uses: Vec<_> = uses.collect();
    uses.sort_unstable_by_key(|(number, _)| *number);
    uses.into_iter().map(|(_, used)| used).collect()
}

/// Adds what goes from each writer of a location to those that come after it, until it is written again.
fn add_round(matrix: &mut Matrix, uses: &[&Use], location: usize) {
    for (at, writer) in uses.iter().enumerate() {
        if writer.access != Access::Write || writer.location != location {
            continue;
        }
        // All that come after it, once around; itself last.
        for user in uses[at + 1..].iter().chain(&uses[..at]) {
            let bytes = writer.bytes.min(user.bytes);
            if user.operation != writer.operation {
                matrix.add(writer.operation, user.operation, bytes);
            }
            if user.access == Access::Write && user.bytes >= writer.bytes {
                break;
            }
        }
    }
}
