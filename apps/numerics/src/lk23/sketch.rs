//! The program without its data, to simulate machines and sizes that are not available.

use raddle::orwl::{Access, LocationIndex, Sketch};

use super::block::outgoing;
use super::plan::Plan;
use super::serial::neighbour;
use super::{FLOPS_PER_POINT, Lk23, Side};

/// The number of bytes of its own memory that a main operation moves for each point: it reads five
/// coefficients and writes a value. The value that it reads is counted with the block.
const MOVED_PER_POINT: f64 = 48.0;
const NUMBER_BYTES: usize = 8;
/// The number of bytes per nanosecond that a core copies from cache to cache.
const COPIED_PER_NS: f64 = 4.0;

/// The locations of a block's borders and their sizes; `None` if there is no neighbour.
type Borders = [Option<(LocationIndex, usize)>; 8];

impl Lk23 {
    /// The speed of a core with the plain loop, in flops per nanosecond: 11 flops per point. A
    /// point waits for its left neighbour through six operations, which take 18 cycles at 2.6 GHz.
    pub const CORE_GFLOPS: f64 = 1.6;

    /// Returns the operations of the program that [`new`](Self::new) declares, in the same order
    /// and with the same handles.
    ///
    /// For each point, a main operation computes [`FLOPS_PER_POINT`] flops in each sweep. In each
    /// turn, it moves 48 bytes per point of its own memory and 8 bytes per point of the block. A
    /// border operation only reads the edge of the block.
    #[must_use]
    pub fn sketch(plan: &Plan, core_gflops: f64) -> Sketch {
        let (down, across) = plan.blocks();
        let mut sketch = Sketch::new("lk23");
        let (mut blocks, mut borders) = (Vec::new(), Vec::<Borders>::new());
        for index in 0..down * across {
            let (rows, columns) = (plan.rows[index / across], plan.columns[index % across]);
            borders.push(Side::ALL.map(|side| {
                neighbour(plan, index, side)?;
                let tall = outgoing(rows, side.down(), plan.depth).len();
                let wide = outgoing(columns, side.across(), plan.depth).len();
                let bytes = tall * wide * NUMBER_BYTES;
                Some((sketch.location(bytes, 1), bytes))
            }));
            let bytes = rows.held().len() * columns.held().len() * NUMBER_BYTES;
            blocks.push(sketch.location(bytes, 1));
        }
        for (index, &block) in blocks.iter().enumerate() {
            let (rows, columns) = (plan.rows[index / across], plan.columns[index % across]);
            let points = (rows.end - rows.start) as f64 * (columns.end - columns.start) as f64;
            let flops = points * (FLOPS_PER_POINT * plan.depth as u64) as f64;
            let name = |operation: &str| {
                format!("block {},{}/{operation}", index / across, index % across)
            };
            let mut uses = vec![(block, Access::Write)];
            let sides = Side::BEHIND.into_iter().chain(Side::AHEAD);
            uses.extend(sides.filter_map(|side| {
                let other = neighbour(plan, index, side)?;
                let (border, _) = borders[other][side.opposite() as usize]?;
                Some((border, Access::Read))
            }));
            let work_ns = flops / core_gflops;
            sketch.operation(name("main"), work_ns, points * MOVED_PER_POINT, &uses);
            for (side, border) in Side::ALL.into_iter().zip(borders[index]) {
                let Some((border, bytes)) = border else {
                    continue;
                };
                let work_ns = bytes as f64 / COPIED_PER_NS;
                let uses = [(block, Access::Read), (border, Access::Write)];
                let copy = sketch.operation(name(side.name()), work_ns, 0.0, &uses);
                sketch.touches(copy, block, bytes);
            }
        }
        sketch
    }
}
