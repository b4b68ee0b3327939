//! Writes the elements of an array: the parts of the workers and of the nodes.

use std::path::Path;
use std::sync::Arc;

use raddle_sync::prim::thread;

use super::CheckpointError;
use super::file::{self, Elements, Manifest, PartFile};
use crate::address::index::Index;
use crate::array::Array;
use crate::chares::quiescence;
use crate::codec::Crossing;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::{Part, Slot};
use crate::engine::handler::Asker;
use crate::engine::local;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::remote::{self, Reachable, SavedPart, WireMessage, out};
use crate::reply::{Reply, What, reply};

pub(crate) fn save_part<T: Chare>(part: &Part<T>) -> Result<SavedPart, Failure> {
    let mut saved = SavedPart {
        elements: Vec::new(),
        next: None,
    };
    part.try_for_slots(|slot| save_slot(part, slot, &mut saved))?;
    Ok(saved)
}

/// Serialises one element. Fails if the element has state that a checkpoint does not contain.
fn save_slot<T: Chare>(
    part: &Part<T>,
    slot: &Slot<T>,
    saved: &mut SavedPart,
) -> Result<(), Failure> {
    let fail = |why: String| {
        let name = part.collection().name(slot.index());
        Failure::new(format!("{name} cannot be written: {why}"))
    };
    let body = slot.at_rest().map_err(|why| fail(why.to_owned()))?;
    if let Some(kind) = slot.waits_in_inbox() {
        return Err(fail(format!("it has not received `{kind}`")));
    }
    // All elements must have contributed to the same reductions and scans.
    let rounds = body.cx.rounds();
    let next = (rounds.array(), rounds.scan_of(None));
    if *saved.next.get_or_insert(next) != next {
        return Err(fail(different(saved.next.unwrap_or(next), next)));
    }
    let state = T::STATE.expect("the caller has checked that the state can be written");
    let value = state
        .bytes_of(&body.me)
        .map_err(|error| fail(error.to_string()))?;
    saved.elements.push((slot.number().index().into(), value));
    Ok(())
}

fn different(one: (u64, u64), other: (u64, u64)) -> String {
    format!(
        "it contributes next to reduction {} and scan {}, others to reduction {} and scan {}",
        other.0, other.1, one.0, one.1
    )
}

/// Writes the elements of this node. Returns the file, and the next reduction and scan.
fn save_here(
    system: &System,
    collection: &dyn Reachable,
    folder: &Path,
    name: String,
) -> Result<NodesPart, CheckpointError> {
    let mut file = Elements::create(folder, name)?;
    let mut next = None;
    for worker in 0..system.worker_count() {
        let part = collection
            .save_part(system, worker)
            .wait_through_failures()?;
        let part = part?;
        if let (Some(one), Some(other)) = (next, part.next)
            && one != other
        {
            return Err(not_alike(one, other));
        }
        next = next.or(part.next);
        for (position, element) in part.elements {
            file.put(position, &element)?;
        }
    }
    Ok((file.finish()?, next))
}

fn not_alike(one: (u64, u64), other: (u64, u64)) -> CheckpointError {
    let text = different(one, other);
    CheckpointError::Failed(Failure::new(format!(
        "an element cannot be written: {text}"
    )))
}

/// A node's file, and the reduction and the scan to which its elements contribute next.
type NodesPart = (PartFile, Option<(u64, u64)>);

/// Writes all elements of an array. Called on any node, by a thread that is not a worker.
pub(super) fn save<T: Chare<Index: Index>>(
    array: Array<T>,
    folder: &Path,
) -> Result<u64, CheckpointError> {
    assert!(
        !local::is_own_thread(array.system),
        "a worker waits for a checkpoint, in which all workers take part"
    );
    if T::STATE.is_none() {
        return Err(CheckpointError::NoState(T::NAME));
    }
    let ended = || Failure::new("the runtime has ended");
    let system = System::find(array.system).ok_or_else(ended)?;
    quiescence(&system).try_wait()?;
    let collection = Collection::<T>::of(&system, array.collection);
    let shape = collection.shape().ok_or_else(|| {
        Failure::new(format!(
            "an array of {} without a shape cannot be written",
            T::NAME
        ))
    })?;
    // The tag makes the file names different from those of all other checkpoints in this folder.
    let tag = file::tag();
    let parts = ask_others(&system, collection.wide(), folder, &tag);
    let own = save_here(&system, &*collection, folder, name_of(&system, &tag));
    let mut saved = vec![own];
    saved.extend(parts.into_iter().map(|part| {
        let part = part.wait_through_failures()?;
        part.map_err(|text| CheckpointError::Failed(Failure::new(text)))
    }));
    // The checkpoint fails if a node failed, or if the nodes' elements have not contributed to the
    // same reductions and scans. Then the complete files are removed.
    let failed = saved.extract_if(.., |part| part.is_err()).next();
    let parts: Vec<_> = saved.into_iter().flatten().collect();
    let mut next = parts.iter().filter_map(|part| part.1);
    let first = next.next();
    let unlike = first.and_then(|first| Some(not_alike(first, next.find(|&next| next != first)?)));
    let failed = failed.and_then(Result::err).or(unlike);
    let files: Vec<_> = parts.into_iter().map(|part| part.0).collect();
    if let Some(error) = failed {
        files.iter().for_each(|file| file.remove(folder));
        return Err(error);
    }
    let manifest = Manifest::new(T::NAME, shape, files);
    manifest.write(folder)?;
    Ok(manifest.elements)
}

fn name_of(system: &System, tag: &str) -> String {
    let node = remote::away(system).map_or(0, |away| away.me);
    file::name_of(tag, node)
}

/// Requests the other nodes to write their parts.
fn ask_others(
    system: &System,
    wide: Option<u32>,
    folder: &Path,
    tag: &str,
) -> Vec<Reply<Result<NodesPart, String>>> {
    let (Some(collection), Some(away)) = (wide, remote::away(system)) else {
        return Vec::new();
    };
    let folder = folder.as_os_str().as_encoded_bytes();
    let ask = |node| {
        let what = What {
            chare: "Runtime",
            entry: "checkpoint",
        };
        let (replier, saved) = reply(system.id(), None, what);
        let number = replier.cross_to(system, node, Crossing::new());
        out::send_away(
            system,
            node,
            &WireMessage::Checkpoint {
                collection,
                folder,
                tag,
                reply: number.expect("there are other nodes"),
            },
        );
        saved
    };
    away.others().map(ask).collect()
}

/// Writes this node's part of a checkpoint that another node has asked for. Runs on a thread of its
/// own, because it blocks.
pub(crate) fn answer(
    system: &Arc<System>,
    collection: Arc<dyn Reachable>,
    folder: &Path,
    tag: &str,
    asker: Asker,
) {
    let (folder, name) = (folder.to_owned(), name_of(system, tag));
    let own = Arc::clone(system);
    let started = thread::Builder::new()
        .name("raddle-checkpoint".to_owned())
        .spawn(move || {
            let saved = save_here(&own, &*collection, &folder, name);
            let saved = saved.map_err(|error| error.to_string());
            match postcard::to_allocvec(&saved) {
                Ok(bytes) => asker.answer(Ok(bytes), false),
                Err(error) => asker.answer(Err(&Failure::new(error.to_string())), false),
            }
        });
    // If no thread could be started, the asker was dropped, which reports the failure.
    drop(started);
}
