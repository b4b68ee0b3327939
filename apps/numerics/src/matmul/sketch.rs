//! The program without its data, for machines and sizes that are not here.

use raddle::orwl::{Access, Sketch};

use super::program::part;
use super::{Input, Product};

const NUMBER_BYTES: usize = 8;
/// Nanoseconds that a swap of two pointers takes.
const SWAP_NS: f64 = 20.0;

impl Product {
    /// What a core reaches in a block product, in flops a nanosecond: of eight cores that share a memory the study's reach 95.
    pub const CORE_GFLOPS: f64 = 12.0;

    /// The program's operations, in the same order, with the same handles, of [`new`](Self::new). It runs as many turns as there are tasks.
    ///
    /// A product goes once through its rows of A and twice through those columns of C that it adds to, which are its own memory, and through the
    /// whole block of B, which stays in the memory of the row that it was before at first.
    ///
    /// # Panics
    /// When there are to be no tasks.
    #[must_use]
    pub fn sketch(input: &Input, task_count: usize, core_gflops: f64) -> Sketch {
        assert!(task_count > 0, "a product takes one task at least");
        let parts = task_count.min(input.rows.min(input.columns)).max(1);
        let mut sketch = Sketch::new("matmul");
        let (mut rows, mut blocks) = (Vec::new(), Vec::new());
        for index in 0..parts {
            let height = part(input.rows, index, parts).len();
            let width = part(input.columns, index, parts).len();
            let numbers = height * (input.inner + input.columns);
            rows.push(sketch.location(numbers * NUMBER_BYTES, 1));
            blocks.push(sketch.location(input.inner * width * NUMBER_BYTES, 1));
        }
        for index in 0..parts {
            let height = part(input.rows, index, parts).len() as f64;
            // Blocks differ by a column at most.
            let width = input.columns as f64 / parts as f64;
            let (inner, bytes) = (input.inner as f64, NUMBER_BYTES as f64);
            let uses = [(rows[index], Access::Write), (blocks[index], Access::Read)];
            sketch.operation(
                format!("row {index}/product"),
                2.0 * height * width * inner / core_gflops,
                (height * inner + 2.0 * height * width) * bytes,
                &uses,
            );
        }
        for (index, pair) in blocks.windows(2).enumerate() {
            let uses = [(pair[0], Access::Write), (pair[1], Access::Write)];
            let pass = sketch.operation(format!("row {}/pass", index + 1), SWAP_NS, 0.0, &uses);
            sketch.exchanges(pass);
            sketch.keep_together(pass, index + 1);
        }
        sketch
    }
}
