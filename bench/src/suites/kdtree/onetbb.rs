//! The nested algorithm on oneTBB: a program that reads triangles from a file and answers with the
//! checksum of its tree.

use std::fs;
use std::path::PathBuf;

use raddle_graphics::kdtree::{KdTree, NodeKind};

use super::builders::Peer;
use super::stage::{Stage, quickest_for_peer};
use super::subject::Subject;
use crate::error::BenchError;
use crate::harness::{Contender, Request, Sample};
use crate::peer::{self, KDTREE_ONETBB, Peer as Program};

/// The contender: the program with its fastest grain.
#[derive(Debug)]
pub(super) struct OneTbb<'a> {
    builder: Builder<'a>,
    grain: usize,
}

/// The program and its input.
#[derive(Debug)]
struct Builder<'a> {
    subject: &'a Subject<'a>,
    program: Program,
    input: InputFile,
    /// The checksum of the correct tree.
    expected: u64,
}

impl<'a> OneTbb<'a> {
    /// Starts the program and finds its fastest grain.
    ///
    /// # Errors
    /// Those of [`Builder::start`]; and the failure of a build.
    pub(super) fn on(stage: &Stage<'a>) -> Result<Self, BenchError> {
        let mut builder = Builder::start(stage.subject)?;
        let grain = quickest_for_peer(|grain| builder.build(stage.workers(), grain))?;
        Ok(Self { builder, grain })
    }
}

impl<'a> Builder<'a> {
    /// Starts the program and writes its input.
    ///
    /// # Errors
    /// Those of [`Program::start`]; [`BenchError::System`] if the file cannot be written.
    fn start(subject: &'a Subject<'a>) -> Result<Self, BenchError> {
        let program = Program::start(KDTREE_ONETBB)?;
        // All running programs have different process ids.
        let number = program.process().unwrap_or_default();
        let path = peer::program_folder().join(format!("kdtree-{number}.triangles"));
        let input = InputFile { path };
        fs::write(&input.path, bytes_of(subject)).map_err(|source| BenchError::System {
            what: input.path.display().to_string(),
            source,
        })?;
        Ok(Self {
            subject,
            program,
            input,
            expected: subject.of_reference(checksum),
        })
    }

    /// Builds once. A subtree with fewer triangles than `grain` is built by one thread.
    fn build(&mut self, workers: usize, grain: usize) -> Result<Sample, BenchError> {
        let built = self.program.measure(&Request {
            case: &grain.to_string(),
            workers,
            repetitions: 1,
            file: Some(&self.input.path),
        })?;
        let is_right = built.result == self.expected;
        self.subject
            .sample(Peer::OneTbb.name(), built.time, |_| is_right)
    }
}

impl Contender for OneTbb<'_> {
    fn name(&self) -> &str {
        Peer::OneTbb.name()
    }

    fn process(&self) -> Option<u32> {
        self.builder.program.process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        self.builder.build(request.workers, self.grain)
    }
}

/// A file that is removed when this value is dropped.
#[derive(Debug)]
struct InputFile {
    path: PathBuf,
}

impl Drop for InputFile {
    fn drop(&mut self) {
        let _not_removed = fs::remove_file(&self.path);
    }
}

/// Returns the input of `peers/kdtree-onetbb.cpp`. The header of that file describes the layout.
fn bytes_of(subject: &Subject<'_>) -> Vec<u8> {
    let (mesh, parameters) = (&subject.input.mesh, &subject.parameters);
    let count = mesh.triangles.len();
    let mut bytes = Vec::with_capacity(5 * 8 + 36 * count);
    for cost in [
        parameters.traversal_cost,
        parameters.intersection_cost,
        parameters.empty_bonus,
    ] {
        bytes.extend_from_slice(&cost.to_le_bytes());
    }
    let levels = u64::from(parameters.depth_limit.levels(count));
    for number in [levels, count as u64] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for corner in (0..count).flat_map(|index| mesh.triangle(index)) {
        for coordinate in corner.to_array() {
            bytes.extend_from_slice(&coordinate.to_le_bytes());
        }
    }
    bytes
}

/// Returns a checksum over a traversal of a tree, with the child below a plane before the one
/// above. `peers/kdtree_tree.hpp` contains the same function.
///
/// An inner node contributes a word with the bits of its position and axis. A leaf contributes its
/// length and then each of its triangles. No step maps two sums to the same one, so trees that
/// differ in a single word have different sums.
///
/// # Source
/// The steps are half of the 64-bit finalizer of A. Appleby's `MurmurHash3`.
fn checksum(tree: &KdTree) -> u64 {
    const LEAF: u64 = 3;
    let mut sum = 0_u64;
    let mut add = |word: u64| {
        sum = (sum ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        sum = (sum ^ sum >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        sum ^= sum >> 33;
    };
    let mut pending = vec![tree.root()];
    while let Some(node) = pending.pop() {
        match node.kind() {
            NodeKind::Inner {
                axis,
                position,
                children,
            } => {
                add(u64::from(position.to_bits()) << 2 | axis as u64);
                pending.extend([tree.nodes()[children + 1], tree.nodes()[children]]);
            }
            NodeKind::Leaf { count, .. } => {
                add((count as u64) << 2 | LEAF);
                tree.triangles_of(node)
                    .for_each(|triangle| add(u64::from(triangle)));
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests;
