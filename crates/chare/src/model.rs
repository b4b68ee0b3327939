//! Additional interfaces for tests of chares in seeded schedules.

pub mod net;

use std::sync::Arc;

use raddle_runtime::{Network, Runtime};
use raddle_sync::prim::thread;

use self::net::{Node, Shape};
use crate::array::Array;
use crate::engine::elements::collection::Collection;
use crate::engine::local::any_thread;
use crate::engine::object::chare::Chare;
use crate::migration;
use crate::nodes::{MORE_PORTS, Progress, Setup, run_on};
use crate::reply::{Reply, What, reply};
use crate::start::system_of;

/// The nodes of a program that runs in one schedule.
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    /// The number of nodes.
    pub nodes: u16,
    /// The number of workers of each node.
    pub workers: usize,
    /// The kind of threads that receive.
    pub progress: Progress,
    /// The number of pieces of wire messages that fit between two ports.
    pub capacity: usize,
    /// The port that has late messages first, among the ports of all nodes.
    pub slow: usize,
}

/// Runs a program over nodes, as [`Job`](crate::nodes) does: `setup` on all nodes, with the
/// runtimes that `build` creates, then `main` on the first.
///
/// # Panics
/// If `build`, `setup` or `main` panics.
pub fn over_nodes<S, R>(
    nodes: Nodes,
    build: impl Fn(Option<Arc<dyn Network>>) -> Runtime + Clone + Send + 'static,
    setup: impl Fn(&Setup<'_>) -> S + Clone + Send + 'static,
    main: impl FnOnce(&Runtime, S) -> R,
) -> R {
    let shape = Shape {
        nodes: nodes.nodes,
        // The cast loses nothing: a model has few workers.
        ports: (nodes.workers + MORE_PORTS) as u16,
    };
    let mut all = Node::all(shape, nodes.capacity, nodes.slow).into_iter();
    let first = all.next().expect("there is a first node");
    let serve = |node| {
        let (build, setup) = (build.clone(), setup.clone());
        thread::spawn(move || {
            let build = |network| Ok(build(network));
            let served = run_on(&node, build, nodes.progress, setup, |_, _| ());
            served.expect("no node fails");
        })
    };
    let others: Vec<_> = all.map(serve).collect();
    let first = run_on(
        &first,
        |network| Ok(build(network)),
        nodes.progress,
        setup,
        main,
    );
    for other in others {
        other.join().expect("no node panics");
    }
    let result = first.expect("no node fails");
    result.expect("the first node runs the main part")
}

/// Moves elements to the given workers in one batch; indices without an element are skipped.
///
/// # Panics
/// If the runtime has ended.
pub fn migrate<T: Chare>(array: Array<T>, moves: impl IntoIterator<Item = (T::Index, usize)>) {
    let system = array.find_system();
    let collection = Collection::<T>::of(&system, array.collection);
    let numbered = moves
        .into_iter()
        .filter_map(|(index, to)| Some((collection.number_of(index)?, to)));
    let moves = numbered.collect();
    any_thread::post(&system, 0, move |local| {
        migration::migrate::<T>(local, array.collection, moves, |_| {});
    });
}

/// Returns true if there was a moment during the call without a message under way or being
/// processed. This is one check; detection itself uses two.
pub fn is_quiet(runtime: &Runtime) -> bool {
    system_of(runtime).quiet().is_quiet()
}

/// Returns the number of pairs of a sender and an element with messages under way via the element's
/// home. Zero when the system is quiet.
///
/// # Panics
/// If the runtime has ended, and on a worker.
pub fn detours(runtime: &Runtime) -> usize {
    let system = system_of(runtime);
    let what = What {
        chare: "Runtime",
        entry: "detours",
    };
    let ask = |worker| {
        let (replier, answer) = reply(system.id(), None, what);
        any_thread::post(&system, worker, move |local| {
            replier.give(Ok(local.with_detours(|detours| detours.count())));
        });
        answer
    };
    let answers: Vec<_> = (0..system.worker_count()).map(ask).collect();
    let outside = system.outside().detours.count();
    outside + answers.into_iter().map(Reply::wait).sum::<usize>()
}
