//! The seed of random decisions.

use std::num::ParseIntError;
use std::str::FromStr;

use super::Setting;

/// The seed of the scheduler's random decisions: a setting of the runtime, or `RADDLE_SEED`.
///
/// Runs with equal seeds, numbers of workers and pools decide alike: each worker looks through the
/// others for work in the same order, and the seed policy `random` distributes new chares in the
/// same way. Without a seed it is 0, so all runs decide alike. Another seed gives another order,
/// which may show a fault that depends on it.
///
/// # Not repeated
/// A seed does not make threads run at equal speed. These depend on time, and differ from run to
/// run:
///
/// - which of several workers asks first, and so which task it gets and when;
/// - the order of messages from different senders to one receiver;
/// - decisions from measured times: those of the pool `auto`, the grain of parallel loops and of
///   grain control, load balancing, and placement by traffic. A fixed pool (`RADDLE_POOL=deque`),
///   a fixed grain and `RADDLE_AFFINITY=compact` avoid most of them.
///
/// On one worker with a fixed pool, nothing else takes part, and messages and tasks run in the same
/// order each time, unless the program itself uses several threads.
///
/// # Examples
/// ```
/// use raddle_runtime::{Runtime, Seed};
/// let runtime = Runtime::builder().workers(2).setting(Seed(7)).build()?;
/// assert_eq!(runtime.setting::<Seed>()?, Seed(7));
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl FromStr for Seed {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Setting for Seed {
    const VARIABLE: &'static str = "RADDLE_SEED";
    const EXPECTED: &'static str = "a whole number from 0 to 2^64 - 1";
}
