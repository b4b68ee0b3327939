//! Small random programs: each computes what its tasks would one after the other, and nobody is overtaken.

use raddle_runtime::model::explore::explore;

use crate::alone;
use crate::common::{Plan, Random, Size};

const SIZE: Size = Size {
    tasks: 4,
    locations: 3,
    uses: 3,
    turns: 3,
    depth: 3,
};

#[test]
fn random_programs_compute_what_their_tasks_would_one_after_the_other() {
    let _alone = alone();
    explore(|setting| {
        let seeds: [u64; 256] = std::array::from_fn(|seed| seed as u64);
        let seed = Random(setting.one_of(&seeds)).below(1 << 20) as u64;
        let plan = Plan::random(seed, SIZE);
        plan.check(&setting.runtime(), &format!("plan {seed}"));
    });
}
