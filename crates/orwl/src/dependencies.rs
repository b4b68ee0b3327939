//! The matrix of bytes that tasks exchange, which is the input of placement.
//!
//! It is computed from the handles of tasks and the sizes of locations. Data moves from the writer
//! of a location to the tasks that read it before the next write, and from a writer to the next
//! writer, which finds the data in the cache of the first. The order of a turn is cyclic: after the
//! last writer of a turn come the readers ahead of the first writer of the next turn.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri, Inria RR-8993, 2016, section 4.1, and `orwl_dependency_get` in 4.2.

use std::collections::BTreeMap;

use raddle_sync::fifo::Access;
use raddle_topology::Matrix;

use crate::operation::Operation;

/// The use of a location by an operation; `bytes` is the number of bytes used in a turn.
pub(crate) struct Use {
    pub(crate) operation: usize,
    pub(crate) access: Access,
    pub(crate) location: usize,
    pub(crate) whole: usize,
    pub(crate) bytes: f64,
}

/// Returns the bytes that operations exchange, from the last known sizes of locations, if operation
/// `n` has `turns(n)` turns.
pub(crate) fn dependencies_of<'a>(
    operations: impl Iterator<Item = &'a Operation> + Clone,
    turns: impl Fn(usize) -> f64,
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
    matrix_of(names.collect(), uses, turns)
}

/// Returns the matrix of the parties `names`, given their uses in the order of declaration and the
/// number of turns of each.
pub(crate) fn matrix_of(
    names: Vec<String>,
    uses: impl Iterator<Item = Use>,
    turns: impl Fn(usize) -> f64,
) -> Matrix {
    // Group the uses by whole, then by location. Each keeps its number in the order of declaration.
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
        // After the writer of a piece come the users of that piece or of the whole. After the
        // writer of the whole come the users of any piece.
        for (&piece, of_piece) in &pieces {
            let uses = in_order(of_piece.iter().chain(&of_whole));
            add_round(&mut matrix, &uses, piece, &turns);
        }
        let uses = in_order(pieces.values().flatten().chain(&of_whole));
        add_round(&mut matrix, &uses, whole, &turns);
    }
    matrix.with_names(names).expect("each operation has a name")
}

fn in_order<'a>(uses: impl Iterator<Item = &'a (usize, Use)>) -> Vec<&'a Use> {
    let mut uses: Vec<_> = uses.collect();
    uses.sort_unstable_by_key(|(number, _)| *number);
    uses.into_iter().map(|(_, used)| used).collect()
}

/// Adds the bytes from each writer of a location to the users that follow, up to the next writer.
///
/// Both have nearly the same number of turns, since they wait for each other. The smaller one
/// counts.
fn add_round(matrix: &mut Matrix, uses: &[&Use], location: usize, turns: &impl Fn(usize) -> f64) {
    for (at, writer) in uses.iter().enumerate() {
        if writer.access != Access::Write || writer.location != location {
            continue;
        }
        // All other uses in cyclic order, from the one after the writer.
        for user in uses[at + 1..].iter().chain(&uses[..at]) {
            let bytes = writer.bytes.min(user.bytes);
            if user.operation != writer.operation {
                let turns = turns(writer.operation).min(turns(user.operation));
                matrix.add(writer.operation, user.operation, bytes * turns);
            }
            if user.access == Access::Write && user.bytes >= writer.bytes {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks an old bug: traffic was counted with the turns of one operation, as if all operations
    /// had ended as many.
    #[test]
    fn traffic_counts_the_turns_of_both_sides() {
        let used = |operation: usize, access| Use {
            operation,
            access,
            location: operation / 2,
            whole: operation / 2,
            bytes: 8.0,
        };
        let uses = [Access::Write, Access::Read, Access::Write, Access::Read];
        let uses = uses.into_iter().enumerate();
        let names = ["slow a", "slow b", "fast a", "fast b"]
            .map(str::to_owned)
            .to_vec();
        let turns = [10.0, 9.0, 1_000.0, 1_001.0];
        let matrix = matrix_of(
            names.clone(),
            uses.map(|(number, access)| used(number, access)),
            |number| turns[number],
        );
        let mut expected = Matrix::new(4);
        expected.add(0, 1, 72.0);
        expected.add(2, 3, 8_000.0);
        let expected = expected.with_names(names).expect("four names");
        assert_eq!(matrix, expected);
    }
}
