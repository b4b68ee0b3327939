//! The composition of each pool: its store, the arrangement of its parts in memory, its private
//! buffer, and the behaviour of its thieves when a lock is taken.

use raddle_sync::lock::{ClhLock, PthreadLock, SimpleLock, TicketLock};

use super::auto::Auto;
use super::blocks::{Blocks, Queue, SingleQueue};
use super::central::Central;
use super::deque::Deque;
use super::distributed::{Dense, Distributed, NoBuffer, OneTask, Padded};
use super::setup::Setup;
use super::store::{Lifo, List, LockFree, Single};
use super::{Pool, PoolKind};

/// A stack under a lock.
type Stack<L> = List<L, Lifo>;

/// The value of `SINGLE_TRY` for thieves that wait for a lock.
const WAIT: bool = false;
/// The value of `SINGLE_TRY` for thieves that go on to the next victim if a lock is taken.
const TRY: bool = true;

/// Generates `PoolKind::build` from the parts of each pool.
macro_rules! parts {
    ($($kind:ident: $pool:ty,)*) => {
        impl PoolKind {
            /// Creates an empty pool.
            pub(crate) fn build(self, setup: &Setup) -> Box<dyn Pool> {
                match self {
                    $(Self::$kind => <$pool>::build(self.name(), setup),)*
                }
            }
        }
    };
}

parts! {
    SqPth: Central<Stack<PthreadLock>>,
    SqSl: Central<Stack<SimpleLock>>,
    SqTl: Central<Stack<TicketLock>>,
    SqLf: Central<LockFree>,
    DqPth: Distributed<Stack<PthreadLock>, Dense, NoBuffer, WAIT>,
    DqSl: Distributed<Stack<SimpleLock>, Dense, NoBuffer, WAIT>,
    DqSlPriv: Distributed<Stack<SimpleLock>, Dense, OneTask, WAIT>,
    DqSlPrivC: Distributed<Stack<SimpleLock>, Padded, OneTask, WAIT>,
    DqSlTryPrivC: Distributed<Stack<SimpleLock>, Padded, OneTask, TRY>,
    DqTlPrivC: Distributed<Stack<TicketLock>, Padded, OneTask, WAIT>,
    DqClhPrivC: Distributed<Stack<ClhLock>, Padded, OneTask, WAIT>,
    DqSlSpPrivC: Distributed<Single<SimpleLock>, Padded, OneTask, WAIT>,
    DqLfPrivC: Distributed<LockFree, Padded, OneTask, WAIT>,
    DqBlPth: Blocks<Queue<PthreadLock>, Dense, WAIT>,
    DqBlSlC: Blocks<Queue<SimpleLock>, Padded, WAIT>,
    DqBlSlTryC: Blocks<Queue<SimpleLock>, Padded, TRY>,
    DqBlTlC: Blocks<Queue<TicketLock>, Padded, WAIT>,
    DqBlTlTryC: Blocks<Queue<TicketLock>, Padded, TRY>,
    DqBlSpC: Blocks<SingleQueue<SimpleLock>, Padded, WAIT>,
    DqBlSpTryC: Blocks<SingleQueue<SimpleLock>, Padded, TRY>,
    DqBlClhC: Blocks<Queue<ClhLock>, Padded, WAIT>,
    Deque: Deque,
    Auto: Auto,
}
