//! The product as a program of tasks and locations.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use raddle::Runtime;
use raddle::orwl::{Broken, Extent, Location, Operations, Outcome, Program, RunError, Task, Turns};

use super::Input;
use super::gemm::{Factor, multiply_add};
use crate::lk23::Form;

/// A product as a program that has not run yet.
#[derive(Debug)]
pub struct Product {
    /// The tasks and locations. They can be inspected, and placed differently.
    pub program: Program,
    input: Input,
    rows: Vec<Location<Rows>>,
}

/// A product that has run.
#[derive(Debug)]
#[must_use = "it contains the result"]
pub struct Ran {
    /// The outcome of the program.
    pub outcome: Outcome,
    input: Input,
    rows: Vec<Location<Rows>>,
}

/// The rows of A and of C of one row task.
#[derive(Debug)]
struct Rows {
    rows: Range<usize>,
    a: Vec<f64>,
    c: Vec<f64>,
}

/// A block of columns of B.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Range<usize>,
    b: Vec<f64>,
}

impl Extent for Rows {
    fn bytes(&self) -> usize {
        self.a.bytes() + self.c.bytes()
    }
}

impl Extent for Columns {
    fn bytes(&self) -> usize {
        self.b.bytes()
    }
}

impl Product {
    /// Returns a good number of row tasks for a runtime: two per worker, unless the blocks would be
    /// too small for an efficient block product.
    #[must_use]
    pub fn task_count(input: &Input, worker_count: usize) -> usize {
        const SIDE_MIN: usize = 64;
        (2 * worker_count)
            .min(input.rows.min(input.columns).div_ceil(SIDE_MIN))
            .max(1)
    }

    /// Declares the program with `task_count` row tasks, but at most as many as there are rows or
    /// columns. After each block product, `note` is called on the worker that computed it, with the
    /// number of floating-point operations.
    ///
    /// # Panics
    /// If `task_count` is 0.
    pub fn new(
        runtime: &Runtime,
        input: &Input,
        task_count: usize,
        form: Form,
        note: impl Fn(f64) + Send + Sync + 'static,
    ) -> Self {
        assert!(task_count > 0, "a product needs at least one task");
        let parts = task_count.min(input.rows.min(input.columns)).max(1);
        let mut program = Program::new("matmul");
        let input = *input;
        let made = runtime.install(|| {
            raddle::map(0..parts, |index| {
                Some((
                    rows_of(&input, index, parts),
                    columns_of(&input, index, parts),
                ))
            })
        });
        let (rows, blocks): (Vec<_>, Vec<_>) = made
            .into_iter()
            .enumerate()
            .map(|(index, made)| {
                let (rows, columns) = made.expect("`map` fills every entry");
                (
                    program.location(format!("rows {index}"), rows),
                    program.location(format!("columns at {index}"), columns),
                )
            })
            .unzip();
        let note = Arc::new(note);
        for (index, (rows, block)) in rows.iter().zip(&blocks).enumerate() {
            let note = Arc::clone(&note);
            let product =
                move |rows: &mut Rows, block: &Columns| note(rows.multiply(block, &input));
            let mut operations = program.operations(format!("row {index}"));
            declare_product(operations.together(), form, rows, block, product);
        }
        for (index, pair) in blocks.windows(2).enumerate() {
            let mut operations = program.operations(format!("row {}", index + 1));
            declare_pass(operations.together(), form, &pair[0], &pair[1]);
        }
        Self {
            program,
            input,
            rows,
        }
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// [`RunError`] of the program.
    pub fn run_on(self, runtime: &Runtime) -> Result<Ran, RunError> {
        let outcome = self
            .program
            .run_on(runtime, Turns(self.rows.len() as u64))?;
        Ok(Ran {
            outcome,
            input: self.input,
            rows: self.rows,
        })
    }
}

/// Declares the operation that, in each turn, multiplies the rows with the block in the location of
/// their task.
fn declare_product(
    operations: &mut Operations<'_>,
    form: Form,
    rows: &Location<Rows>,
    block: &Location<Columns>,
    product: impl Fn(&mut Rows, &Columns) + Send + 'static,
) {
    let handles = |task: &mut Task<'_>| (task.writes_each_turn(rows), task.reads_each_turn(block));
    match form {
        Form::Future => operations.async_operation("product", |task| {
            let ((mut rows, mut block), mut turns) = (handles(task), task.turns());
            async move {
                while turns.next() {
                    let (mut rows, block) = (rows.enter().await, block.enter().await);
                    product(&mut rows, &block);
                }
            }
        }),
        Form::Thread => operations.operation("product", |task| {
            let (mut rows, mut block) = handles(task);
            move || rows.section(|rows| block.section(|block| product(rows, block)))
        }),
    };
}

/// Declares the operation that, in each turn, swaps the blocks of two neighbours. It belongs to the
/// second of the two tasks, which would have to wait for it. The first task may already compute its
/// next product.
fn declare_pass(
    operations: &mut Operations<'_>,
    form: Form,
    here: &Location<Columns>,
    there: &Location<Columns>,
) {
    let handles = |task: &mut Task<'_>| {
        // The swap moves the blocks to the task that uses them next, but takes almost no work.
        task.load(size_of::<Columns>() as f64);
        (task.writes_each_turn(here), task.writes_each_turn(there))
    };
    match form {
        Form::Future => operations.async_operation("pass", |task| {
            let ((mut here, mut there), mut turns) = (handles(task), task.turns());
            async move {
                while turns.next() {
                    std::mem::swap(&mut *here.enter().await, &mut *there.enter().await);
                }
            }
        }),
        Form::Thread => operations.operation("pass", |task| {
            let (mut here, mut there) = handles(task);
            move || here.section(|here| there.section(|there| std::mem::swap(here, there)))
        }),
    };
}

impl Ran {
    /// Returns the result in row-major order.
    ///
    /// # Errors
    /// [`Broken`] if a task has panicked.
    pub fn values(&self) -> Result<Vec<f64>, Broken> {
        let mut c = Vec::with_capacity(self.input.rows * self.input.columns);
        for rows in &self.rows {
            c.extend_from_slice(&rows.read()?.c);
        }
        Ok(c)
    }
}

impl Rows {
    /// Multiplies the rows with a block, and returns the number of floating-point operations.
    fn multiply(&mut self, block: &Columns, input: &Input) -> f64 {
        let (count, width) = (self.rows.len(), block.columns.len());
        let a = Factor {
            values: &self.a,
            rows: count,
            columns: input.inner,
        };
        let b = Factor {
            values: &block.b,
            rows: input.inner,
            columns: width,
        };
        multiply_add(&mut self.c, input.columns, block.columns.start, a, b);
        2.0 * count as f64 * width as f64 * input.inner as f64
    }
}

pub(super) fn part(len: usize, index: usize, parts: usize) -> Range<usize> {
    len * index / parts..len * (index + 1) / parts
}

fn rows_of(input: &Input, index: usize, parts: usize) -> Rows {
    let rows = part(input.rows, index, parts);
    let a = rows
        .clone()
        .flat_map(|row| (0..input.inner).map(move |column| input.a(row, column)));
    Rows {
        a: a.collect(),
        c: zeros(rows.len() * input.columns),
        rows,
    }
}

/// Returns zeros in pages that are already mapped.
///
/// The system maps the pages of a large `vec![0.0; len]` only when they are first accessed. A
/// product reads before it writes. It would therefore fault twice for each page, and the second
/// fault would invalidate the first mapping on all processors.
fn zeros(len: usize) -> Vec<f64> {
    let mut zeros = vec![0.0; len];
    // Without `black_box`, the compiler would know that the values are zero and omit the writes.
    black_box(&mut zeros).fill(0.0);
    zeros
}

fn columns_of(input: &Input, index: usize, parts: usize) -> Columns {
    let columns = part(input.columns, index, parts);
    let b =
        (0..input.inner).flat_map(|row| columns.clone().map(move |column| input.b(row, column)));
    Columns {
        b: b.collect(),
        columns,
    }
}
