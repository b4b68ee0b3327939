//! Restores an array from the files of a checkpoint.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use raddle_sync::prim::Mutex;

use super::CheckpointError;
use super::file::Manifest;
use crate::address::index::Index;
use crate::array::{Array, ArrayOptions, Plan};
use crate::codec::reading;
use crate::engine::handler::Handlers;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;

/// Restores an array. With `handlers`, it is over nodes and all nodes restore it.
///
/// Each node reads all files, and keeps the elements that are placed on it.
pub(crate) fn restore<T: Chare<Index: Index>>(
    system: &Arc<System>,
    folder: &Path,
    handlers: Option<Handlers<T>>,
    with: impl FnOnce(ArrayOptions<T::Index>) -> ArrayOptions<T::Index>,
) -> Result<Array<T>, CheckpointError> {
    let state = T::STATE.ok_or(CheckpointError::NoState(T::NAME))?;
    let manifest = Manifest::read(folder)?;
    let path = folder.join("manifest.json");
    if manifest.chare != T::NAME {
        let found = format!("elements of {}", manifest.chare);
        return Err(CheckpointError::broken(&path, found, T::NAME));
    }
    // The manifest must describe an array of `T` with a valid shape.
    let shape = T::Index::of_lengths(&manifest.shape);
    let shape = shape.filter(|&shape| T::Index::count(shape).is_some_and(|count| count < 1 << 31));
    let shape = shape.ok_or_else(|| {
        let found = format!("an array of lengths {:?}", manifest.shape);
        let expected = format!(
            "those of an array that is indexed by {}",
            std::any::type_name::<T::Index>()
        );
        CheckpointError::broken(&path, found, expected)
    })?;
    let mut plan = Plan::new(system, with(ArrayOptions::new(shape)), handlers);
    // Read the elements that this node gets, and note which positions of the array exist.
    let (mut values, mut is_present) = (HashMap::new(), vec![false; plan.len()]);
    for file in &manifest.files {
        let path = folder.join(&file.name);
        file.read(folder, |position, bytes| {
            let at = usize::try_from(position).ok();
            let present = at.and_then(|at| is_present.get_mut(at));
            match present {
                Some(present) if !*present => *present = true,
                found => {
                    let what = if found.is_some() {
                        "for the second time"
                    } else {
                        "which is outside of the array"
                    };
                    return Err(CheckpointError::broken(
                        &path,
                        format!("an element at position {position}, {what}"),
                        format!("one at each position below {}, at most", plan.len()),
                    ));
                }
            }
            if plan.is_here(position as usize) {
                let value = reading(system.id(), || state.read(&mut &*bytes));
                let value = value.map_err(|error| {
                    let found = format!("the element at position {position}: {error}");
                    CheckpointError::broken(&path, found, format!("a {}", T::NAME))
                })?;
                values.insert(position, value);
            }
            Ok(())
        })?;
    }
    // Elements that had ended before the checkpoint get no place.
    plan.vacate(&is_present);
    let values = Mutex::new(values);
    Ok(plan.make(system, move |index: T::Index| {
        let position = index.position(shape).expect("it is in the array");
        let mut values = values.lock().expect("nothing panics under this lock");
        values.remove(&position).expect("it was read")
    }))
}
