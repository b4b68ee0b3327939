//! The program without its data, to simulate machines and sizes that are not available.

use raddle::orwl::{Access, Sketch};

use super::program::part;
use super::{Input, Product};

const NUMBER_BYTES: usize = 8;
/// The time of a swap of two pointers, in nanoseconds.
const SWAP_NS: f64 = 20.0;

impl Product {
    /// The speed of a core in a block product, in flops per nanosecond. In the study, eight cores
    /// that share a memory reach 95.
    pub const CORE_GFLOPS: f64 = 12.0;

    /// Returns the operations of the program that [`new`](Self::new) declares, in the same order
    /// and with the same handles. It runs as many turns as there are tasks.
    ///
    /// A product passes once over its rows of A and twice over the columns of C to which it adds;
    /// both are its own memory. It also passes over the whole block of B, which stays in the memory
    /// of the row task that had it first.
    ///
    /// # Panics
    /// If `task_count` is 0.
    #[must_use]
    pub fn sketch(input: &Input, task_count: usize, core_gflops: f64) -> Sketch {
        assert!(task_count > 0, "a product needs at least one task");
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
            // The widths of the blocks differ by at most one column.
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
