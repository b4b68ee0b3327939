//! Departures: the order of an element's messages before and after its move.
//!
//! After a move, an element sends from another worker. Its messages must arrive after those that it
//! sent before the move. The mailboxes only keep the order of messages of each worker. Two things
//! make it the order of each element:
//!
//! - Nearly all kinds of mailboxes are one first-in-first-out queue for all senders. With a queue
//!   for each pair of workers, an element departs only when everything that its old worker has sent
//!   has arrived. The old worker detects that with a message to each worker and back, which arrives
//!   after all others.
//! - While messages of the old worker to some element are under way via that element's home
//!   ([`crate::seeds`]), the new worker sends to it via the home too. The messages that the old
//!   worker has under way at the time of the move are its leftover. The leftover has arrived when
//!   all of them have.
//!
//! With several nodes, each worker has its own connection to the others. So an element departs,
//! even to a worker of its own node, when everything that its old worker has sent has arrived on
//! all other nodes too. An element that goes to another node leaves no leftover: seeds are known
//! only to their own node.

use std::collections::HashMap;
use std::fmt;
use std::mem;

use crate::address::number::Number;
use crate::engine::elements::moves::Request;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::migration::arrivals;
use crate::recorded;
use crate::remote::{self, Away, MigratingElement, MigrationMessage, out};
use crate::state::{Feature, LocalState};

/// The action after a departure: a message to a worker, or to another node.
enum Departure {
    Here(usize, Request),
    Away(u16, MigrationMessage),
}

/// The elements that have been removed from this worker and have not departed yet.
#[derive(Default)]
pub(crate) struct Departures {
    ready: Vec<Departure>,
    /// The number of workers that have not answered yet, and the departures that wait for them.
    waiting: HashMap<u32, (usize, Vec<Departure>)>,
    /// The number of the next wait.
    count: u32,
}

impl LocalState for Departures {
    const FEATURE: Feature = Feature::Departure;
}

impl fmt::Debug for Departures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Departures")
            .field("ready", &self.ready.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

/// Calls `arrive` on worker `to`, once [`send_departures`] has been called.
pub(crate) fn depart(local: &Local, to: usize, arrive: impl FnOnce(&Local) + Send + 'static) {
    recorded::note("migrate to worker", to as u64);
    let mut departures = local.state::<Departures>().borrow_mut();
    let departure = Departure::Here(to, Box::new(arrive));
    departures.ready.push(departure);
}

/// Sends an element to another node, once [`send_departures`] has been called.
pub(crate) fn depart_away<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    node: u16,
    element: Option<MigratingElement>,
) {
    let Some(collection) = part.collection().wide() else {
        // The array was destroyed, and the element with it.
        return arrivals::report_arrivals(local, 1);
    };
    let message = MigrationMessage::Arrive {
        collection,
        number: number.bits(),
        element,
    };
    let mut departures = local.state::<Departures>().borrow_mut();
    departures.ready.push(Departure::Away(node, message));
}

/// Sends the elements that are ready: now, or when everything that this worker has sent has
/// arrived.
pub(crate) fn send_departures(local: &Local) {
    let mut departures = local.state::<Departures>().borrow_mut();
    let ready = mem::take(&mut departures.ready);
    let away = remote::away(local.system());
    let nodes: Vec<_> = away.into_iter().flat_map(Away::others).collect();
    let worker_count = match local.system().post().is_one_queue() {
        true => 0,
        false => local.system().worker_count(),
    };
    if nodes.is_empty() && worker_count == 0 {
        drop(departures);
        return send_now(local, ready);
    }
    // Ask every receiver. Its answer shows that everything sent before has arrived.
    let group = departures.count;
    departures.count = group.wrapping_add(1);
    let missing = worker_count + nodes.len();
    departures.waiting.insert(group, (missing, ready));
    drop(departures);
    let own = local.worker();
    for node in nodes {
        let worker = own as u16;
        out::send_migration_message(
            local.system(),
            node,
            MigrationMessage::Ask { worker, group },
        );
    }
    for worker in 0..worker_count {
        local.post(worker, move |local| {
            local.post(own, move |local| take_answer(local, group));
        });
    }
}

/// Handles the answer of a worker or a node: everything that this worker had sent to it before has
/// arrived. After the last answer, the departures of `group` are sent.
pub(crate) fn take_answer(local: &Local, group: u32) {
    let mut departures = local.state::<Departures>().borrow_mut();
    let (missing, _) = departures
        .waiting
        .get_mut(&group)
        .expect("the group waits until all have answered");
    *missing -= 1;
    if *missing == 0 {
        let (_, ready) = departures
            .waiting
            .remove(&group)
            .expect("the group has waited until now");
        drop(departures);
        send_now(local, ready);
    }
}

fn send_now(local: &Local, ready: Vec<Departure>) {
    let mut successors = Vec::new();
    for departure in ready {
        match departure {
            Departure::Here(to, arrive) => {
                if !successors.contains(&to) {
                    successors.push(to);
                    hand_over_detours(local, to);
                }
                local.post(to, arrive);
            }
            Departure::Away(node, message) => {
                out::send_migration_message(local.system(), node, message)
            }
        }
    }
}

/// Makes the messages that are under way via homes a leftover of the elements that move to worker
/// `to`. The leftover arrives there before the elements.
fn hand_over_detours(local: &Local, to: usize) {
    if !local.has_detours() {
        return;
    }
    let (leftover, keys) = local.with_detours(|detours| detours.hand_over(local.worker(), to));
    local.post(to, move |local| {
        local.with_detours(|detours| detours.take_over(leftover, &keys));
    });
}
