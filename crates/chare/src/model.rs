//! What seeded schedules need of chares besides the public interface.

use crate::array::Array;
use crate::entry::Chare;

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
