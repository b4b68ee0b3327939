//! The product as a program of tasks and locations.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use raddle::Runtime;
use raddle::orwl::{Broken, Extent, Location, Operations, Outcome, Program, RunError, Task, Turns};

use super::Input;
use super::gemm::{Factor, multiply_add};
use crate::lk23::Form;

/// A product as a program that has not run.
#[derive(Debug)]
pub struct Product {
    /// Its tasks and locations: to look at them, and to place them otherwise.
    pub program: Program,
    input: Input,
    rows: Vec<Location<Rows>>,
}

/// How it ran.
#[derive(Debug)]
#[must_use = "the result is in it"]
pub struct Ran {
    /// What the program says.
    pub outcome: Outcome,
    input: Input,
    rows: Vec<Location<Rows>>,
}

/// Some rows of A and of C.
#[derive(Debug)]
struct Rows {
    rows: Range<usize>,
    a: Vec<f64>,
    c: Vec<f64>,
}

/// Some columns of B, on their way.
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
    /// Row tasks that serve a runtime well: two for each worker, of rows and columns enough for a block product.
    #[must_use]
    pub fn task_count(input: &Input, worker_count: usize) -> usize {
        const SIDE_MIN: usize = 64;
        (2 * worker_count)
            .min(input.rows.min(input.columns).div_ceil(SIDE_MIN))
            .max(1)
    }

    /// Declares it, with that many row tasks, and not more than there are rows or columns. `note` hears from any worker, at the end of
    /// each block product, how many operations that were.
    ///
    /// # Panics
    /// When there are to be no tasks.
    pub fn new(
        runtime: &Runtime,
        input: &Input,
        task_count: usize,
        form: Form,
        note: impl Fn(f64) + Send + Sync + 'static,
    ) -> Self {
        assert!(task_count > 0, "a product takes one task at least");
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
                let (rows, columns) = made.expect("it was made");
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

    /// Runs it to the end.
    ///
    /// # Errors
    /// What the program says.
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

/// In each turn the rows are multiplied with the block that is before them.
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

/// In each turn two neighbours swap their blocks; where the latter runs, who would wait for it, while the former may be at its next product.
fn declare_pass(
    operations: &mut Operations<'_>,
    form: Form,
    here: &Location<Columns>,
    there: &Location<Columns>,
) {
    let handles = |task: &mut Task<'_>| {
        // The blocks go on to where they are used next, but a swap is no work.
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
    /// The result, row by row.
    ///
    /// # Errors
    /// [`Broken`] when a task panicked.
    pub fn values(&self) -> Result<Vec<f64>, Broken> {
        let mut c = Vec::with_capacity(self.input.rows * self.input.columns);
        for rows in &self.rows {
            c.extend_from_slice(&rows.read()?.c);
        }
        Ok(c)
    }
}

impl Rows {
    /// Multiplies with some columns; returns how many operations that were.
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

/// Zeros that have memory. What `vec!` has from the system gets it page by page when it is first touched; a product that reads before it
/// writes would fault twice for each, and have all processors forget the first mapping.
fn zeros(len: usize) -> Vec<f64> {
    let mut zeros = vec![0.0; len];
    // Told as it is, the compiler knows that they are zeros already.
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
