//! Diagnosis of a program that makes no progress: what waits, and for what
//! ([`Chares::explain_waits`](crate::Chares::explain_waits)).
//!
//! All workers are asked twice. First each worker reports the elements that wait on it, and which
//! reductions and scans lack contributions, as far as it knows. Then each worker reports its state
//! of all the reductions and scans that some worker has named: how many contributions have arrived,
//! and which of its elements have not contributed. No worker knows all of this alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::address::number::Number;
use crate::engine::local::Local;
use crate::engine::local::any_thread;
use crate::engine::local::parts::AnyPart;
use crate::engine::system::System;
use crate::reduction::{AllGathered, AllRounds};
use crate::reply::{Reply, What, reply};
use crate::scan::Scans;
use crate::state::rounds::{Group, NextRounds, name_of};

/// The maximum number of elements that a line names.
const NAMES_MAX: usize = 8;

/// The elements that wait on one worker, and the reductions and scans that lack contributions.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// One line of text for each waiting element.
    pub(crate) lines: Vec<String>,
    open: Vec<(Row, Rounds)>,
}

/// Reductions, or scans, of the elements of an array or the members of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    collection: u32,
    group: Group,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Reduction,
    Scan,
}

/// The first round of a row that lacks contributions, and the last that has any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    first: u64,
    last: u64,
}

/// A row, and its rounds that lack contributions.
pub(crate) type Open = (Row, Rounds);

/// The report of a worker about a round.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The name of the elements' type.
    of: &'static str,
    /// The number of contributions that complete the round; only in the report of the worker that
    /// knows it.
    expected: Option<u64>,
    /// The number of contributions that have arrived.
    count: u64,
    /// The first elements that have not contributed, and how many there are.
    missing: Vec<(Place, String)>,
    missing_count: u64,
}

/// The order in which elements are named: by position in a section, and by number in an array.
type Place = (usize, Number);

/// Asks all workers of a system what waits. Returns a line for each element, reduction and scan.
#[track_caller]
pub(crate) fn explain_waits(system: &Arc<System>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = BTreeMap::<Row, Rounds>::new();
    // First question: which elements wait, and which reductions and scans lack contributions.
    for waits in ask_all(system, waits) {
        lines.extend(waits.lines);
        for (row, rounds) in waits.open {
            let all = open.entry(row).or_insert(rounds);
            all.first = all.first.min(rounds.first);
            all.last = all.last.max(rounds.last);
        }
    }
    if open.is_empty() {
        return lines;
    }
    // Second question: the state of each of these rounds. The answers of all workers are combined.
    let open: Arc<[Open]> = open.into_iter().collect();
    let asked = Arc::clone(&open);
    let known = ask_all(system, move |local| look_at(local, &asked));
    let mut known: Vec<_> = known.into_iter().map(Vec::into_iter).collect();
    for &(row, rounds) in &*open {
        let of_row = known.iter_mut().filter_map(Iterator::next);
        lines.push(line(row, rounds, of_row.fold(Known::default(), Known::and)));
    }
    lines
}

/// Asks all workers, and returns their answers. Workers answer even after failures. A worker that
/// has ended drops the question.
#[track_caller]
fn ask_all<R: Send + 'static>(
    system: &Arc<System>,
    ask: impl Fn(&Local) -> R + Clone + Send + 'static,
) -> Vec<R> {
    let what = What {
        chare: "Runtime",
        entry: "explain_waits",
    };
    let ask = |worker| {
        let (replier, answer) = reply(system.id(), None, what);
        let ask = ask.clone();
        any_thread::post(system, worker, move |local| replier.give(Ok(ask(local))));
        answer
    };
    let answers: Vec<_> = (0..system.worker_count()).map(ask).collect();
    let answers = answers.into_iter().map(Reply::wait_through_failures);
    answers.flatten().collect()
}

/// Describes a round that lacks contributions.
fn line(row: Row, rounds: Rounds, known: Known) -> String {
    let Known {
        of,
        expected,
        count,
        missing,
        missing_count,
    } = known;
    let kind = match row.kind {
        Kind::Reduction => "reduction",
        Kind::Scan => "scan",
    };
    let mut line = format!("{kind} {} of {}", rounds.first, name_of(row.group, of));
    line += &match expected {
        Some(expected) => format!(" has {count} of {expected} contributions"),
        // The root of the reduction is on another node.
        None => format!(" has {count} contributions of this node"),
    };
    let others = expected.map_or(missing_count, |expected| expected.saturating_sub(count));
    if others > 0 {
        let whole = match row.group {
            None => format!("Array<{of}>#{}", row.collection),
            Some(section) => format!("Section<{of}>#{section}"),
        };
        line += &format!("; {whole} lacks {}", names(&missing, others));
    }
    match rounds.last - rounds.first {
        0 => {}
        1 => line += &format!("; 1 later {kind} has begun"),
        later => line += &format!("; {later} later {kind}s have begun"),
    }
    line
}

/// Lists the first missing elements, of which there are `count`.
fn names(missing: &[(Place, String)], count: u64) -> String {
    let names: Vec<_> = missing.iter().map(|one| one.1.as_str()).collect();
    let names = names.join(", ");
    match count.saturating_sub(missing.len() as u64) {
        0 => format!("those of {names}"),
        more if names.is_empty() => format!("{more}"),
        more => format!("those of {names} and {more} more"),
    }
}

impl Known {
    fn and(mut self, other: Self) -> Self {
        if self.of.is_empty() {
            self.of = other.of;
        }
        self.expected = self.expected.or(other.expected);
        self.count += other.count;
        self.missing_count += other.missing_count;
        self.missing.extend(other.missing);
        self.shorten();
        self
    }

    fn shorten(&mut self) {
        self.missing.sort();
        self.missing.truncate(NAMES_MAX);
    }
}

impl Waits {
    fn note(&mut self, row: Row, (first, last): (u64, u64)) {
        self.open.push((row, Rounds { first, last }));
    }
}

/// Collects the waits on this worker.
fn waits(local: &Local) -> Waits {
    let mut waits = Waits::default();
    for part in local.all_parts() {
        waits.lines.extend(part.explain(local));
        note_open(&*part, local, &mut waits);
    }
    waits
}

fn look_at(local: &Local, open: &[Open]) -> Vec<Known> {
    let look = |&(row, rounds): &Open| {
        let part = local.known_part(row.collection);
        part.map_or_else(Known::default, |part| know(&*part, local, (row, rounds)))
    };
    open.iter().map(look).collect()
}

/// Adds the reductions and scans of a part that lack contributions, as far as this worker knows.
fn note_open(part: &dyn AnyPart, local: &Local, waits: &mut Waits) {
    let row = |group, kind| Row {
        collection: part.id(),
        group,
        kind,
    };
    let mut all = part.states().of::<AllRounds>().borrow_mut();
    for group in all.groups() {
        let is_root = part.is_root(local, group);
        if let Some(rounds) = all.incomplete(group, is_root) {
            waits.note(row(group, Kind::Reduction), rounds);
        }
    }
    drop(all);
    let gathered = part.states().of::<AllGathered>().borrow();
    for (section, round) in gathered.iter().flat_map(|of| of.keys()) {
        waits.note(row(Some(*section), Kind::Reduction), (*round, *round));
    }
    let scans = part.states().of::<Scans>().borrow();
    for (group, scan) in scans.incomplete() {
        waits.note(row(group, Kind::Scan), (scan, scan));
    }
    part.for_elements(&mut |element| {
        if let Some((group, scan)) = element.awaited_scan {
            waits.note(row(group, Kind::Scan), (scan, scan));
        }
    });
}

/// Reports this worker's state of a round that lacks contributions.
fn know(part: &dyn AnyPart, local: &Local, (row, rounds): Open) -> Known {
    let (group, round) = (row.group, rounds.first);
    let mut known = Known {
        of: part.of(),
        ..Known::default()
    };
    let Ok(population) = part.population_of_group(group) else {
        return known;
    };
    let next = |rounds: &NextRounds| match (row.kind, group) {
        (Kind::Scan, group) => rounds.scan_of(group),
        (Kind::Reduction, None) => rounds.array(),
        (Kind::Reduction, Some(section)) => rounds.of_section(section),
    };
    let mut has_contributed = 0;
    part.for_elements(&mut |element| {
        let Some(position) = part.position_in(group, element.number) else {
            return;
        };
        if next(&element.rounds) > round {
            has_contributed += 1;
            return;
        }
        let name = (element.name)().unwrap_or_else(|| format!("member {position}"));
        known.missing_count += 1;
        known.missing.push(((position, element.number), name));
    });
    known.shorten();
    match row.kind {
        Kind::Scan => {
            known.count = has_contributed;
            known.expected = Some(population);
        }
        Kind::Reduction => {
            let mut all = part.states().of::<AllRounds>().borrow_mut();
            known.count = all.count_of(group, round) + gathered_of(part, group, round);
            if part.is_root(local, group) {
                known.expected = Some(all.expected(group, round, population));
            }
        }
    }
    known
}

/// Returns the number of contributions to a section's reduction that wait at members of its tree.
fn gathered_of(part: &dyn AnyPart, group: Group, round: u64) -> u64 {
    let Some(section) = group else { return 0 };
    let gathered = part.states().of::<AllGathered>().borrow();
    let shares = gathered.iter().filter_map(|of| of.get(&(section, round)));
    shares.map(|(_, share)| share.count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(count: u64, missing: &[u32]) -> Known {
        let name = |&index: &u32| ((0, Number::new(0, 0, index)), format!("Cell[{index}]"));
        Known {
            of: "Cell",
            expected: Some(20),
            count,
            missing: missing.iter().map(name).collect(),
            missing_count: missing.len() as u64,
        }
    }

    #[test]
    fn a_line_names_the_first_elements_that_are_missing() {
        let row = Row {
            collection: 5,
            group: None,
            kind: Kind::Reduction,
        };
        let rounds = Rounds { first: 2, last: 4 };
        let both = known(8, &[19, 3]).and(known(2, &[17, 2, 12, 11, 10, 9, 8, 1]));
        assert_eq!(
            line(row, rounds, both),
            "reduction 2 of Cell has 10 of 20 contributions; \
             Array<Cell>#5 lacks those of Cell[1], Cell[2], Cell[3], \
             Cell[8], Cell[9], Cell[10], Cell[11], Cell[12] and 2 more; \
             2 later reductions have begun"
        );
    }

    #[test]
    fn a_line_counts_the_missing_elements_that_no_worker_knows() {
        let row = Row {
            collection: 5,
            group: Some(3),
            kind: Kind::Scan,
        };
        let rounds = Rounds { first: 0, last: 0 };
        assert_eq!(
            line(row, rounds, known(18, &[])),
            "scan 0 of section 3 of Cell has 18 of 20 contributions; Section<Cell>#3 lacks 2"
        );
    }
}
