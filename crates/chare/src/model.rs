//! What seeded schedules need of chares besides the public interface.

use raddle_runtime::Runtime;

use crate::array::Array;
use crate::entry::Chare;
use crate::reply::{Reply, What, reply};
use crate::system::System;

/// Moves elements to the workers beside their indices, in one batch; those that there are not are left out.
///
/// # Panics
/// When the runtime has ended.
pub fn migrate<T: Chare>(array: Array<T>, moves: impl IntoIterator<Item = (T::Index, usize)>) {
    let system = array.find_system();
    let collection = system.collection::<T>(array.collection);
    let numbered = moves
        .into_iter()
        .filter_map(|(index, to)| Some((collection.number_of(index)?, to)));
    let moves = numbered.collect();
    system.post_from_here(0, move |local| {
        local.migrate::<T>(array.collection, moves, |_| {});
    });
}

/// True when no message was under way or worked on at some moment during the call. One look, where whoever tells others takes two.
pub fn is_quiet(runtime: &Runtime) -> bool {
    System::of(runtime).quiet.is_quiet()
}

/// How many senders and elements there are of whom the one still sends to the other by its home. When all is quiet, none.
///
/// # Panics
/// When the runtime has ended, and on a worker.
pub fn detours(runtime: &Runtime) -> usize {
    let system = System::of(runtime);
    let what = What {
        chare: "Runtime",
        entry: "detours",
    };
    let ask = |worker| {
        let (replier, answer) = reply(system.id, None, what);
        system.post_from_here(worker, move |local| {
            replier.give(Ok(local.detours.borrow().count()));
        });
        answer
    };
    let answers: Vec<_> = (0..system.worker_count()).map(ask).collect();
    let outside = system.outside().detours.count();
    outside + answers.into_iter().map(Reply::wait).sum::<usize>()
}
