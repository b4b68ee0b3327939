//! The attribute `indexes=`, which numbers the objects of a level.
//!
//! It has three forms: numbers (`0,2,1,3`), loops of a step and a count (`2*2:1*2`), and kinds of
//! enclosing levels (`numa:core`). The loops are nested, and the first one is the innermost, which
//! counts fastest. A kind is a loop over the objects of its level.
//!
//! hwloc gets plain numbers instead, one for each object. Otherwise it would silently ignore a list
//! that it cannot use, allocate a set as long as the largest number, and abort the process if the
//! product of the loops overflows.

use std::collections::HashSet;

use super::kind::Kind;
use super::{Level, Machine, Problem, whole_number};
use crate::cpu_set::CPU_NUMBER_LIMIT;

/// Converts every list of the machine into numbers.
pub(super) fn number(machine: &mut Machine<'_>) -> Result<(), Problem> {
    for position in 1..machine.levels.len() {
        let (enclosing, rest) = machine.levels.split_at_mut(position);
        let level = &mut rest[0];
        if let Some(list) = level.attributes.indexes {
            level.attributes.numbers = numbers(list, enclosing, level.width)?;
        }
    }
    number_attached(machine)
}

/// Assigns indexes to the memories in brackets. They share one list, which each of them may repeat.
fn number_attached(machine: &mut Machine<'_>) -> Result<(), Problem> {
    let lists: Vec<_> = machine
        .attached()
        .filter_map(|(memory, _)| Some((memory.word, memory.attributes.indexes?)))
        .collect();
    let Some(&(_, list)) = lists.first() else {
        return Ok(());
    };
    if let Some((word, _)) = lists.iter().find(|(_, other)| *other != list) {
        return Err(Problem::new(
            format!("indexes at {word:?} that differ from the previous ones"),
            "one list for all memories in brackets",
        ));
    }
    let total = machine.attached().map(|(_, count)| count).sum();
    // A list of kinds is possible only if all memories are attached to one level. Otherwise the
    // enclosing levels are ambiguous.
    let mut places =
        (0..machine.levels.len()).filter(|&at| !machine.levels[at].memories.is_empty());
    let enclosing = match (places.next(), places.next()) {
        (Some(place), None) => &machine.levels[..=place],
        _ => &[],
    };
    let numbers = numbers(list, enclosing, total)?;
    let mut memories = machine
        .levels
        .iter_mut()
        .flat_map(|level| &mut level.memories);
    if let Some(first) = memories.next() {
        first.attributes.numbers = numbers;
    }
    Ok(())
}

/// Converts a list for `width` objects inside the `enclosing` levels into numbers.
fn numbers(list: &str, enclosing: &[Level<'_>], width: u64) -> Result<Vec<u32>, Problem> {
    let numbers = if !list.starts_with(|first: char| first.is_ascii_digit()) {
        nest(list, &loops_over_kinds(list, enclosing, width)?, width)?
    } else if list.contains('*') {
        nest(list, &loops(list)?, width)?
    } else {
        plain(list)?
    };
    if numbers.len() as u64 != width {
        return Err(Problem::new(
            format!("{} indexes of {width} objects", numbers.len()),
            "one for each object",
        ));
    }
    Ok(numbers)
}

/// Parses a list of numbers, which must differ from each other.
fn plain(list: &str) -> Result<Vec<u32>, Problem> {
    let mut seen = HashSet::new();
    list.split(',')
        .map(|digits| {
            let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits
                .parse()
                .ok()
                .filter(|&number: &u32| is_digits && number < CPU_NUMBER_LIMIT)
                .ok_or_else(|| {
                    Problem::new(
                        format!("{digits:?} as an index"),
                        format!("a whole number below {CPU_NUMBER_LIMIT}"),
                    )
                })?;
            if seen.insert(number) {
                Ok(number)
            } else {
                Err(Problem::new(
                    format!("the index {number} a second time"),
                    "a different number for each object",
                ))
            }
        })
        .collect()
}

/// One of the nested loops: over `count` groups of `step` adjacent objects.
struct Loop {
    step: u64,
    count: u64,
}

/// Parses a list of loops.
fn loops(list: &str) -> Result<Vec<Loop>, Problem> {
    list.split(':')
        .map(|one_loop| {
            one_loop
                .split_once('*')
                .and_then(|(step, count)| whole_number(step).zip(whole_number(count)))
                .map(|(step, count)| Loop {
                    step: step.into(),
                    count: count.into(),
                })
                .ok_or_else(|| {
                    Problem::new(
                        format!("{one_loop:?} as a loop of indexes"),
                        "a step and a count, such as \"4*2\"",
                    )
                })
        })
        .collect()
}

/// Converts a list of kinds into loops.
///
/// The loop of a kind runs over the objects of this kind inside one object of the nearest enclosing
/// level in the list.
fn loops_over_kinds(list: &str, enclosing: &[Level<'_>], width: u64) -> Result<Vec<Loop>, Problem> {
    // Find the level of each kind.
    let mut positions = Vec::new();
    for name in list.split(':') {
        let kind = Kind::read(name)?;
        let position = enclosing.iter().position(|level| level.kind == Some(kind));
        match position.filter(|position| !positions.contains(position)) {
            Some(position) => positions.push(position),
            None => {
                return Err(Problem::new(
                    format!("{name:?} among the indexes {list:?}"),
                    "kinds of enclosing levels, each once",
                ));
            }
        }
    }
    // Divide by the width of the nearest enclosing level in the list, to get the count per object.
    let width_at = |position: usize| enclosing[position].width;
    Ok(positions
        .iter()
        .map(|&position| {
            let nearest = positions.iter().filter(|&&other| other < position).max();
            Loop {
                step: width / width_at(position),
                count: width_at(position) / nearest.map_or(1, |&nearest| width_at(nearest)),
            }
        })
        .collect())
}

/// Returns the indexes of `width` objects, which nested loops describe.
///
/// If the loops do not cover all objects, an outermost loop over adjacent objects is added.
fn nest(list: &str, loops: &[Loop], width: u64) -> Result<Vec<u32>, Problem> {
    let product = loops
        .iter()
        .fold(1_u64, |product, one| product.saturating_mul(one.count));
    // The loops cover all objects, or exactly one loop over adjacent objects is missing.
    let is_complete = product == width;
    let smallest = loops.iter().map(|one| one.step).min();
    if !is_complete && (product > width || smallest.is_none_or(|step| step * product != width)) {
        return Err(Problem::new(
            format!("loops of {product} indexes for {width} objects"),
            "one index for each object",
        ));
    }
    let neighbours = Loop {
        step: 1,
        count: width / product,
    };
    let mut seen = HashSet::new();
    (0..width)
        .map(|object| {
            let mut number = 0;
            let mut factor = 1;
            for one in loops.iter().chain([&neighbours]) {
                number += object / one.step % one.count * factor;
                factor *= one.count;
            }
            u32::try_from(number)
                .ok()
                .filter(|&number| seen.insert(number))
                .ok_or_else(|| {
                    Problem::new(
                        format!("loops {list:?} that produce the index {number} twice"),
                        "loops over all objects",
                    )
                })
        })
        .collect()
}
