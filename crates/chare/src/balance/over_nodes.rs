//! Balancing of arrays over nodes. The root receives measurements from the workers of all nodes.
//! Workers are numbered consecutively over the nodes.

use crate::measure;

use raddle_topology::CpuId;

use super::load_reports::Found;
use super::strategy::LoadView;
use crate::address::number::Number;
use crate::balance;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::migration::{self, crossing, wide};
use crate::remote::{self, MigrationMessage, out};
use crate::state::measured::Measured;

/// Returns the number of workers that may have elements of an array: those of this node, or of all
/// nodes for an array over nodes.
pub(crate) fn workers_of<T: Chare>(local: &Local, part: &Part<T>) -> usize {
    nodes_of(local, part) * local.system().worker_count()
}

fn nodes_of<T: Chare>(local: &Local, part: &Part<T>) -> usize {
    let away = remote::away(local.system());
    let away = away.filter(|_| part.collection().wide().is_some());
    away.map_or(1, |away| away.node_count.into())
}

/// Returns the number of this node's first worker among the workers of [`workers_of`].
fn first_worker<T: Chare>(local: &Local, part: &Part<T>) -> usize {
    let away = remote::away(local.system());
    let away = away.filter(|_| part.collection().wide().is_some());
    away.map_or(0, |away| {
        usize::from(away.me) * local.system().worker_count()
    })
}

/// Returns the CPU of each worker of [`workers_of`]; `None` for the workers of other nodes.
pub(crate) fn cpus_of<T: Chare>(local: &Local, part: &Part<T>) -> Vec<Option<CpuId>> {
    let (own, first) = (
        local.system().post().worker_cpus(),
        first_worker(local, part),
    );
    let mut cpus = vec![None; workers_of(local, part)];
    cpus[first..first + own.len()].copy_from_slice(&own);
    cpus
}

/// Takes the measurements of this worker.
pub(crate) fn measure<T: Chare>(local: &Local, part: &Part<T>) -> Measured {
    measure::take_measured(part, first_worker(local, part) + local.worker())
}

/// Requests the measurements of the workers of the other nodes.
pub(crate) fn ask_other_nodes<T: Chare>(local: &Local, part: &Part<T>) {
    let (Some(collection), Some(away)) = (part.collection().wide(), remote::away(local.system()))
    else {
        return;
    };
    for node in away.others() {
        out::send_migration_message(
            local.system(),
            node,
            MigrationMessage::Measure { collection },
        );
    }
}

/// Sends this worker's measurements to the array's root, which is on another node.
pub(crate) fn report_measured<T: Chare>(local: &Local, part: &Part<T>) {
    if let Some(collection) = part.collection().wide() {
        let measured = measure(local, part);
        let message = MigrationMessage::Measured {
            collection,
            measured,
        };
        out::send_migration_message(local.system(), part.collection().root_node(), message);
    }
}

/// Removes the moves to other nodes of elements that cannot move there now. Returns the corrected
/// placement.
pub(super) fn keep_within_nodes<T: Chare>(
    local: &Local,
    part: &Part<T>,
    view: &LoadView,
    found: &[Found],
    mut placed: Vec<usize>,
) -> Vec<usize> {
    let own = local.system().worker_count();
    if nodes_of(local, part) > 1 {
        let elements = view.elements.iter().zip(found);
        for ((element, found), to) in elements.zip(&mut placed) {
            let goes_away = element.worker / own != *to / own;
            if goes_away && (found.is_busy || T::STATE.is_none()) {
                *to = element.worker;
            }
        }
    }
    placed
}

/// Moves elements between workers, and calls `done` when the moves within nodes are complete. Moves
/// between nodes follow as soon as possible.
pub(crate) fn move_measured<T: Chare>(
    local: &Local,
    part: &Part<T>,
    moves: Vec<(Number, usize, usize)>,
    done: impl FnOnce(&Local) + Send + 'static,
) {
    let own = local.system().worker_count();
    let Some(collection) = part.collection().wide() else {
        let moves = moves.into_iter().map(|(number, _, to)| (number, to));
        return migration::migrate::<T>(local, part.collection().id(), moves.collect(), done);
    };
    // In an array over nodes, moves within a node and moves between nodes are different protocols.
    let (near, far): (Vec<_>, Vec<_>) = moves
        .into_iter()
        .partition(|&(_, from, to)| from / own == to / own);
    for (number, _, to) in far {
        crossing::move_to_worker(part, number, to);
    }
    // The casts lose nothing: nodes and workers are fewer than 2^16.
    let request_moves = |(number, _, to): (Number, usize, usize)| {
        (number.bits(), (to / own) as u16, (to % own) as u16)
    };
    let requests = near.into_iter().map(request_moves).collect();
    wide::request_moves(local, collection, requests, false, Some(Box::new(done)));
}

/// Reports to the array's root that it is time to balance.
pub(crate) fn report_due<T: Chare>(local: &Local, part: &Part<T>) {
    let (root_node, collection) = (part.collection().root_node(), part.collection().id());
    if let (Some(collection), Some(away)) = (part.collection().wide(), remote::away(local.system()))
        && away.me != root_node
    {
        let message = MigrationMessage::BalancingIsDue { collection };
        return out::send_migration_message(local.system(), root_node, message);
    }
    local.post_seldom(part.collection().root(), move |local| {
        balancing_is_due(local, &Part::<T>::of(local, collection));
    });
}

/// Starts a balancing after some worker has reported that it is due. Runs on the root of an array.
pub(crate) fn balancing_is_due<T: Chare>(local: &Local, part: &Part<T>) {
    let balancing = balance::balancing(part);
    if let Some(period) = balancing.and_then(|balancing| balancing.period()) {
        balance::balance_if_due(local, part, period);
    }
}
