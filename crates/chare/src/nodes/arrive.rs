//! The processing of incoming wire messages.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::handler::Copies;
use crate::address::directory::Site;
use crate::address::number::Number;
use crate::array;
use crate::balance::{self, over_nodes};
use crate::checkpoint::{self, save};
use crate::engine::elements::collection::Collection;
use crate::engine::elements::moves::Mover;
use crate::engine::elements::part::Part;
use crate::engine::handler::{Asker, ReplyTo};
use crate::engine::local::any_thread;
use crate::engine::local::sender::FarSender;
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::{Outcome, System};
use crate::failure::Failure;
use crate::migration::{self, crossing, departures, mover, wide};
use crate::outside;
use crate::reduction::{self, Goes, Share};
use crate::remote::{
    self, Away, MigratingElement, MigrationMessage, Reachable, SavedPart, WireMessage, out, quiet,
};
use crate::reply::{Reply, What, reply};
use crate::scan::break_scans_here;
use crate::state::measured::Measured;
use crate::state::merged::Merged;
use crate::unpack::{deliver_waiting, handlers_of, unpack};

type Arrived = Result<(), Failure>;

impl<T: Chare> Reachable for Collection<T> {
    fn id(&self) -> u32 {
        Self::id(self)
    }

    fn one(
        &self,
        (number, priority): (Number, i32),
        from: Option<FarSender>,
        handler: u16,
        reply_to: ReplyTo,
        args: &[u8],
    ) -> Arrived {
        let parcel = unpack(self, handler, args, reply_to)?;
        let one = One::new(self.system_id(), self.id(), number);
        outside::send_from_node(one.with_priority(priority), parcel, from);
        Ok(())
    }

    fn mover(&self) -> Box<dyn Mover> {
        mover::<T>()
    }

    fn node_of(&self, number: Number, me: u16) -> Option<u16> {
        let (_, new) = self.directory().place(number).route().sites()?;
        Some(match new {
            Site::Worker(_) => me,
            Site::Node(node) => node,
        })
    }

    fn arrive(&self, system: &System, number: Number, element: Option<MigratingElement>) {
        let id = self.id();
        let sites = self.directory().place(number).route().sites();
        let worker = match sites {
            Some((_, Site::Worker(worker))) => worker,
            // The element has no route any more if its array has been destroyed.
            _ => 0,
        };
        any_thread::post(system, worker, move |local| {
            crossing::arrive_from_node::<T>(
                local,
                &Part::of(local, id),
                number,
                element,
                deliver_waiting,
            );
        });
    }

    fn lose_scans(&self, system: &System, from: u64, why: Failure) {
        let id = self.id();
        any_thread::post(system, self.root(), move |local| {
            break_scans_here(local, &Part::<T>::of(local, id), None, from, &why);
        });
    }

    fn measure(&self, system: &System) {
        let id = self.id();
        for worker in 0..system.worker_count() {
            any_thread::post(system, worker, move |local| {
                over_nodes::report_measured::<T>(local, &Part::of(local, id));
            });
        }
    }

    fn measured(&self, system: &System, measured: Measured) {
        let id = self.id();
        any_thread::post(system, self.root(), move |local| {
            balance::take_measured::<T>(local, &Part::of(local, id), measured);
        });
    }

    fn balancing_is_due(&self, system: &System) {
        let id = self.id();
        any_thread::post(system, self.root(), move |local| {
            over_nodes::balancing_is_due::<T>(local, &Part::of(local, id));
        });
    }

    fn all(&self, priority: i32, epoch: u32, handler: u16, args: &[u8]) -> Arrived {
        let spread = Copies {
            system: self.system_id(),
            handler: handlers_of(self).find(handler)?,
            args: args.into(),
            of: PhantomData,
        };
        let all = All::new(self.system_id(), self.id(), None);
        outside::spread_from_node(all.at_priority(priority), spread, Some(epoch));
        Ok(())
    }

    fn share(
        &self,
        system: &System,
        round: u64,
        count: u64,
        goes: u8,
        merged: Result<Box<dyn Merged>, String>,
    ) -> Arrived {
        let goes = Goes::from_number(goes).ok_or_else(|| {
            Failure::new(
                "another node has sent a share of an unknown kind: \
                          the nodes run different programs",
            )
        })?;
        let share = Share::from_elsewhere(count, goes, merged);
        let id = self.id();
        any_thread::post(system, self.root(), move |local| {
            reduction::take_in::<T>(local, &Part::of(local, id), None, round, share);
        });
        Ok(())
    }

    fn result(&self, system: &Arc<System>, round: u64, of: u64, output: &[u8]) {
        let id = self.id();
        let output: Arc<[u8]> = output.into();
        for worker in 0..system.worker_count() {
            let output = Arc::clone(&output);
            any_thread::post(system, worker, move |local| {
                reduction::receive_result::<T>(local, &Part::of(local, id), round, of, &output);
            });
        }
    }

    fn population(&self, system: &System, from: u64, by: i64) {
        let id = self.id();
        any_thread::post(system, self.root(), move |local| {
            reduction::change_population::<T>(local, &Part::of(local, id), from, by);
        });
    }

    fn save_part(&self, system: &System, worker: usize) -> Reply<Result<SavedPart, Failure>> {
        let what = What {
            chare: T::NAME,
            entry: "checkpoint",
        };
        let (replier, saved) = reply(system.id(), None, what);
        let id = self.id();
        any_thread::post(system, worker, move |local| {
            replier.give(Ok(save::save_part::<T>(&Part::of(local, id))));
        });
        saved
    }
}

/// The receiver's next step after a wire message: to continue, or to stop because the program is
/// over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    GoOn,
    Stop,
}

/// Processes a wire message of node `from`.
///
/// # Errors
/// If the wire message is invalid.
pub(crate) fn arrive(system: &Arc<System>, from: u16, bytes: &[u8]) -> Result<Then, Failure> {
    let (wire_message, body) = WireMessage::read(bytes).map_err(|error| {
        Failure::new(format!("a message of node {from} cannot be read: {error}"))
    })?;
    let is_counted = wire_message.is_counted();
    let then = open(system, from, wire_message, body)?;
    if is_counted {
        remote::away(system)
            .expect("wire messages have arrived")
            .count_received();
    }
    Ok(then)
}

/// Returns the collection that a message of node `from` is for.
///
/// # Errors
/// If this node has not made the collection, because the nodes do not do the same in their set-up.
fn find_collection(away: &Away, from: u16, collection: u32) -> Result<Arc<dyn Reachable>, Failure> {
    away.collection(collection).ok_or_else(|| {
        Failure::new(format!(
            "node {from} sends to collection {collection}, which node {} has not made: all nodes \
             make the same in the set-up",
            away.me
        ))
    })
}

/// Calls the function of the feature that a wire message belongs to.
///
/// # Errors
/// If the message makes no sense to this node.
fn open(
    system: &Arc<System>,
    from: u16,
    wire_message: WireMessage<'_>,
    body: &[u8],
) -> Result<Then, Failure> {
    let away = remote::away(system).expect("there are other nodes");
    let find = |collection| find_collection(away, from, collection);
    match wire_message {
        WireMessage::One {
            collection,
            number,
            priority,
            epoch,
            handler,
            reply,
            crossing,
        } => {
            let asker = reply.map(|reply| Asker::new(system.id(), from, reply));
            let reply_to = asker.map_or(ReplyTo::None, ReplyTo::Asker);
            let number = Number::from_bits(number);
            let to = (number, priority);
            let sender = FarSender { epoch, crossing };
            find(collection)?.one(to, Some(sender), handler, reply_to, body)?;
        }
        WireMessage::All {
            collection,
            priority,
            epoch,
            handler,
        } => find(collection)?.all(priority, epoch, handler, body)?,
        WireMessage::Migration(message) => receive_migration_message(system, from, message),
        WireMessage::ScanLoss {
            collection,
            from,
            why,
        } => find(collection)?.lose_scans(system, from, Failure::new(why)),
        WireMessage::Reply {
            reply,
            outcome,
            panicked,
        } => away.reply(reply, Outcome::of(outcome.map(|()| body), panicked)),
        WireMessage::Share {
            collection,
            round,
            count,
            goes,
            merged,
        } => {
            let merged = match merged {
                Ok(kind) => Ok(away.reducers.read_merged(system.id(), kind, body)?),
                Err(misfit) => Err(misfit.to_owned()),
            };
            find(collection)?.share(system, round, count, goes, merged)?;
        }
        WireMessage::Result {
            collection,
            round,
            of,
        } => find(collection)?.result(system, round, of, body),
        WireMessage::Population {
            collection,
            from,
            by,
        } => find(collection)?.population(system, from, by),
        WireMessage::Destroy { collection } => {
            let id = find(collection)?.id();
            remote::forget_wide(system, collection);
            array::destroy_here(system, id);
        }
        WireMessage::AskQuiet { reply } => {
            quiet::asked(system, Asker::new(system.id(), from, reply))
        }
        WireMessage::Count { wave } => quiet::count(system, wave),
        WireMessage::Counted {
            wave,
            sent,
            received,
        } => quiet::counted(system, wave, (sent, received)),
        WireMessage::Checkpoint {
            collection,
            folder,
            tag,
            reply,
        } => {
            let asker = Asker::new(system.id(), from, reply);
            let folder = Path::new(OsStr::from_bytes(folder));
            checkpoint::answer(system, find(collection)?, folder, tag, asker);
        }
        WireMessage::Failed { text, is_panic } => system.fail_here(failure_of(text, is_panic)),
        WireMessage::Exit => system.exit_here(),
        WireMessage::Stop => return Ok(Then::Stop),
        WireMessage::Readonly => return Err(unexpected_readonly(from)),
    }
    Ok(Then::GoOn)
}

/// Creates the failure that another node has reported.
fn failure_of(text: &str, is_panic: bool) -> Failure {
    if is_panic {
        Failure::of_panic(text)
    } else {
        Failure::new(text)
    }
}

/// Creates the failure for a read-only value that arrives after the set-up.
fn unexpected_readonly(from: u16) -> Failure {
    Failure::new(format!(
        "node {from} has a read-only value that this node does not ask for: \
         all nodes must do the same in the set-up"
    ))
}

/// Processes a wire message about migration. Runs on the receiving thread.
fn receive_migration_message(system: &Arc<System>, from: u16, message: MigrationMessage) {
    match message {
        MigrationMessage::EnterEpoch { epoch } => wide::enter_epoch_outside(system, epoch),
        MigrationMessage::Marker { epoch } => wide::pass_marker_on(system, epoch),
        MigrationMessage::Ask { worker, group } => {
            out::send_migration_message(system, from, MigrationMessage::Answer { worker, group });
        }
        MigrationMessage::Answer { worker, group } => {
            any_thread::post(system, worker.into(), move |local| {
                departures::take_answer(local, group)
            });
        }
        MigrationMessage::Arrive {
            collection,
            number,
            element,
        } => {
            let away = remote::away(system).expect("wire messages have arrived");
            match away.collection(collection) {
                Some(found) => found.arrive(system, Number::from_bits(number), element),
                // The array was destroyed meanwhile.
                None => {
                    out::send_migration_message(system, 0, MigrationMessage::Arrived { count: 1 })
                }
            }
        }
        MigrationMessage::RequestMoves {
            collection,
            requests,
            are_frozen,
            reply,
        } => {
            let asker = reply.map(|reply| Asker::new(system.id(), from, reply));
            wide::at_coordinator(system, move |local| {
                wide::take_move_requests(local, collection, requests, are_frozen, asker);
            });
        }
        MigrationMessage::RequestMovesWithin => {
            wide::at_coordinator(system, move |local| wide::take_request_within(local, from))
        }
        MigrationMessage::Prepare {
            epoch,
            sources,
            groups,
        } => wide::at_coordinator(system, move |local| {
            wide::prepare(local, epoch, sources, groups)
        }),
        MigrationMessage::Acknowledge { count } => wide::at_coordinator(system, move |local| {
            wide::count_acknowledgement(local, count)
        }),
        MigrationMessage::Arrived { count } => {
            wide::at_coordinator(system, move |local| wide::count_arrivals(local, count))
        }
        MigrationMessage::End => wide::at_coordinator(system, migration::end_batch),
        MigrationMessage::Measure { collection } => {
            with_wide(system, collection, |found| found.measure(system));
        }
        MigrationMessage::Measured {
            collection,
            measured,
        } => with_wide(system, collection, |found| found.measured(system, measured)),
        MigrationMessage::BalancingIsDue { collection } => {
            with_wide(system, collection, |found| found.balancing_is_due(system));
        }
    }
}

/// Calls `call` with a collection over nodes, unless it was destroyed.
fn with_wide(system: &System, collection: u32, call: impl FnOnce(&dyn Reachable)) {
    let away = remote::away(system).expect("wire messages have arrived");
    if let Some(found) = away.collection(collection) {
        call(&*found);
    }
}
