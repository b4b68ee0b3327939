//! The nested algorithm on oneTBB: a program that gets triangles in a file, and answers with its tree's checksum.

use std::fs;
use std::path::PathBuf;

use raddle_graphics::kdtree::{KdTree, NodeKind};

use super::builders::Peer;
use super::stage::{Stage, quickest_for_peer};
use super::subject::Subject;
use crate::error::BenchError;
use crate::harness::{Contender, Request, Sample};
use crate::peer::{self, KDTREE_ONETBB, Peer as Program};

/// The program's grain until another is found.
const GRAIN: usize = 4096;

/// The program, and what it is to build.
#[derive(Debug)]
pub(super) struct OneTbb<'a> {
    subject: &'a Subject<'a>,
    program: Program,
    input: InputFile,
    /// The checksum of the right tree.
    expected: u64,
    /// What the program is asked for: its grain.
    grain: String,
}

impl<'a> OneTbb<'a> {
    /// Starts the program, with the grain that is quickest on this stage.
    ///
    /// # Errors
    /// As [`start`](Self::start), and what ended a build.
    pub(super) fn on(stage: &Stage<'a>) -> Result<Self, BenchError> {
        let mut program = Self::start(stage.subject)?;
        let grain = quickest_for_peer(|grain| {
            program.take_grain(grain);
            program.build(stage.workers())
        })?;
        program.take_grain(grain);
        Ok(program)
    }

    /// Starts the program and writes its input.
    ///
    /// # Errors
    /// As [`Program::start`]; [`BenchError::System`] when the file cannot be written.
    fn start(subject: &'a Subject<'a>) -> Result<Self, BenchError> {
        let program = Program::start(KDTREE_ONETBB)?;
        // No two programs that run have the same number.
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
            grain: GRAIN.to_string(),
        })
    }

    /// From now on one thread builds a node with fewer triangles than this, with all below it.
    fn take_grain(&mut self, grain: usize) {
        self.grain = grain.to_string();
    }

    /// Builds once.
    fn build(&mut self, workers: usize) -> Result<Sample, BenchError> {
        let built = self.program.measure(&Request {
            case: &self.grain,
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
        self.program.process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        self.build(request.workers)
    }
}

/// A file that is gone when the program is.
#[derive(Debug)]
struct InputFile {
    path: PathBuf,
}

impl Drop for InputFile {
    fn drop(&mut self) {
        let _never_written = fs::remove_file(&self.path);
    }
}

/// What `peers/kdtree-onetbb.cpp` reads; its header has the layout.
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

/// A sum over a way through a tree, the child below a plane before the one above; `peers/kdtree_tree.hpp` has the same.
///
/// Of an inner node the bits of the position and the axis are a word, of a leaf its length, and then each of its triangles. No step makes
/// two sums one, so trees that differ in a single word have different sums.
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
