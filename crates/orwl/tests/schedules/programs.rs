//! Small random programs compute the same as a sequential execution, and no task is overtaken.

use raddle_runtime::model::explore::explore;

use crate::alone;
use crate::random::{Plan, Random, Size};

const SIZE: Size = Size {
    tasks: 4,
    locations: 3,
    uses: 3,
    turns: 3,
    depth: 3,
};

#[test]
fn random_programs_compute_the_same_as_a_sequential_execution() {
    let _alone = alone();
    explore(|setting| {
        let seeds: [u64; 256] = std::array::from_fn(|seed| seed as u64);
        let seed = Random(setting.one_of(&seeds)).below(1 << 20) as u64;
        let plan = Plan::random(seed, SIZE);
        plan.check(&setting.runtime(), &format!("plan {seed}"));
    });
}
