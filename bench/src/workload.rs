//! The workloads of `forks`, `loops` and `sort`, written once for every runtime.
//!
//! A fork workload is a [`Task`]: a small value that runs itself with the help of a [`Fork`]. Each
//! runtime is one `Fork`, so every one of them compiles the same algorithm. The C++ peers define
//! the same workloads in `peers/workloads.hpp`, and quicksort in `peers/sort.hpp`. A change here
//! needs the same change there.

use raddle_numerics::sort::{CUTOFF, Part};

/// The argument of the case `fib38`.
pub(crate) const FIB_ARGUMENT: u64 = 38;
/// The depth of the tree of the case `tree24`, which has 2^24 − 1 nodes.
pub(crate) const TREE_DEPTH: u32 = 24;
/// The side of the board of the case `queens12`.
pub(crate) const QUEENS: usize = 12;

/// A computation that forks.
pub(crate) trait Task: Send {
    /// The result.
    type Output: Send;

    /// Runs to completion, forking through `fork`.
    fn run<F: Fork>(self, fork: &mut F) -> Self::Output;
}

/// A way to run two tasks, possibly at once.
pub(crate) trait Fork {
    /// Runs both and returns both results.
    fn join<A: Task, B: Task>(&mut self, a: A, b: B) -> (A::Output, B::Output);
}

/// The n-th Fibonacci number by its definition, with a fork for every call above the base.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fib(pub(crate) u64);

impl Task for Fib {
    type Output = u64;

    #[inline]
    fn run<F: Fork>(self, fork: &mut F) -> u64 {
        let Fib(n) = self;
        if n < 2 {
            return n;
        }
        let (a, b) = fork.join(Fib(n - 1), Fib(n - 2));
        a + b
    }
}

/// A balanced binary tree with one allocation per node, allocated in depth-first order.
#[derive(Debug)]
pub(crate) struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Node {
    /// Builds the tree of `depth` levels. Its values count up from `next` in depth-first order.
    pub(crate) fn tree(depth: u32, next: &mut u64) -> Box<Self> {
        let mut node = Box::new(Self {
            value: *next,
            left: None,
            right: None,
        });
        *next += 1;
        if depth > 1 {
            node.left = Some(Self::tree(depth - 1, next));
            node.right = Some(Self::tree(depth - 1, next));
        }
        node
    }
}

/// The sum of a tree's values, with a fork for every inner node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sum<'tree>(pub(crate) &'tree Node);

impl Task for Sum<'_> {
    type Output = u64;

    #[inline]
    fn run<F: Fork>(self, fork: &mut F) -> u64 {
        let Sum(node) = self;
        match (&node.left, &node.right) {
            (Some(left), Some(right)) => {
                let (a, b) = fork.join(Sum(left), Sum(right));
                a + b + node.value
            }
            _ => node.value,
        }
    }
}

/// The number of ways to complete a board that has queens in its first `row` rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queens {
    columns: [i8; QUEENS],
    row: usize,
    /// The number of empty rows at which the computation no longer forks.
    grain: usize,
}

impl Queens {
    /// Returns the empty board.
    pub(crate) fn new() -> Self {
        Self {
            columns: [0; QUEENS],
            row: 0,
            grain: 0,
        }
    }

    /// Returns this board with another `grain`.
    pub(crate) fn with_grain(self, grain: usize) -> Self {
        Self { grain, ..self }
    }

    fn is_safe(&self, column: i8) -> bool {
        self.columns[..self.row]
            .iter()
            .enumerate()
            .all(|(other, &occupied)| {
                let rows = (self.row - other) as i32;
                let distance = i32::from(occupied) - i32::from(column);
                distance != 0 && distance != rows && distance != -rows
            })
    }

    /// Returns the safe columns of the next row, and their number.
    fn safe_columns(&self) -> ([i8; QUEENS], usize) {
        let mut columns = [0; QUEENS];
        let mut count = 0;
        for column in 0..QUEENS as i8 {
            if self.is_safe(column) {
                columns[count] = column;
                count += 1;
            }
        }
        (columns, count)
    }

    /// Returns the number of rows without a queen.
    pub(crate) fn rows_left(&self) -> usize {
        QUEENS - self.row
    }

    /// Calls `visit` with the board for each safe place in the next row.
    pub(crate) fn for_each_next(&self, visit: impl FnMut(Self)) {
        let (columns, count) = self.safe_columns();
        let boards = columns[..count]
            .iter()
            .map(|&column| self.with_queen(column));
        boards.for_each(visit);
    }

    fn with_queen(&self, column: i8) -> Self {
        let mut next = *self;
        next.columns[self.row] = column;
        next.row += 1;
        next
    }
}

impl Task for Queens {
    type Output = u64;

    #[inline]
    fn run<F: Fork>(self, fork: &mut F) -> u64 {
        if self.row == QUEENS {
            return 1;
        }
        if self.rows_left() <= self.grain {
            return self.with_grain(0).run(&mut Plain);
        }
        let (columns, count) = self.safe_columns();
        match count {
            0 => 0,
            _ => QueensInRow {
                board: &self,
                columns: &columns[..count],
            }
            .run(fork),
        }
    }
}

/// The sum over some candidate columns of one row, with a fork between the first and the rest.
#[derive(Debug, Clone, Copy)]
struct QueensInRow<'board> {
    board: &'board Queens,
    columns: &'board [i8],
}

impl Task for QueensInRow<'_> {
    type Output = u64;

    #[inline]
    fn run<F: Fork>(self, fork: &mut F) -> u64 {
        let first = self.board.with_queen(self.columns[0]);
        if self.columns.len() == 1 {
            return first.run(fork);
        }
        let rest = Self {
            board: self.board,
            columns: &self.columns[1..],
        };
        let (a, b) = fork.join(first, rest);
        a + b
    }
}

/// Quicksort of a part, with a fork for every split down to the cut-off.
#[derive(Debug)]
pub(crate) struct Quicksort<'items>(pub(crate) Part<'items, i32>);

impl Task for Quicksort<'_> {
    type Output = ();

    #[inline]
    fn run<F: Fork>(self, fork: &mut F) {
        let Quicksort(part) = self;
        if part.len() <= CUTOFF {
            return part.sort_sequential();
        }
        let (left, right) = part.split();
        fork.join(Quicksort(left), Quicksort(right));
    }
}

/// The rounds of the hash in one iteration of the loops.
const LOOP_ROUNDS: u32 = 3;

/// Executes one iteration of the loops: three rounds of a hash of the index.
///
/// An iteration takes about 2.5 ns, like a square root. It uses only integers, because the cost of
/// a floating-point instruction depends on the state in which a library left the upper halves of
/// the vector registers. It is not inlined on either side: otherwise one compiler would vectorise
/// it and the other would not, and the question is the cost of the loop.
///
/// # Source
/// G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators. OOPSLA 2014 (the
/// finaliser).
#[inline(never)]
pub(crate) fn loop_body(index: usize) -> u64 {
    let mut hash = index as u64;
    for _ in 0..LOOP_ROUNDS {
        hash = hash.wrapping_add(0x9E37_79B9_7F4A_7C15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        hash ^= hash >> 31;
    }
    hash
}

/// Returns the sum of all elements, which differs if any single element is wrong.
pub(crate) fn checksum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, &value| sum.wrapping_add(value))
}

/// No runtime: the plain recursive function with which the forks are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain;

impl Fork for Plain {
    #[inline]
    fn join<A: Task, B: Task>(&mut self, a: A, b: B) -> (A::Output, B::Output) {
        (a.run(self), b.run(self))
    }
}

/// Raddle's `join`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raddle;

impl Fork for Raddle {
    #[inline]
    fn join<A: Task, B: Task>(&mut self, a: A, b: B) -> (A::Output, B::Output) {
        raddle::join(|| a.run(&mut Raddle), || b.run(&mut Raddle))
    }
}

/// Rayon's `join`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rayon;

impl Fork for Rayon {
    #[inline]
    fn join<A: Task, B: Task>(&mut self, a: A, b: B) -> (A::Output, B::Output) {
        rayon::join(|| a.run(&mut Rayon), || b.run(&mut Rayon))
    }
}

impl Fork for chili::Scope<'_> {
    #[inline]
    fn join<A: Task, B: Task>(&mut self, a: A, b: B) -> (A::Output, B::Output) {
        chili::Scope::join(self, |scope| a.run(scope), |scope| b.run(scope))
    }
}

#[cfg(test)]
mod tests;
