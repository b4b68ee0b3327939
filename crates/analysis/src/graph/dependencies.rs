//! The dependencies between strands of different runs ([`super`], rules 2 to 6).

use std::collections::HashMap;

use raddle_trace::events::Thread;

use super::outside;
use super::strands::{Found, Section, StolenJoin};
use crate::dense::Dense;
use crate::links::Links;
use crate::recording::Recording;

/// Adds all dependencies between strands of different runs.
pub(super) fn add(recording: &Recording, links: &Links, found: &mut Found) {
    outside::add(links, found);
    let causes = add_causes(recording, links, found);
    add_waits(found, &causes);
    add_sections(found);
    add_objects(found);
}

/// Makes tasks, forks and messages depend on what has put, made or sent them (rules 2 and 3).
/// Returns the strand that has caused each run.
fn add_causes(recording: &Recording, links: &Links, found: &mut Found) -> Dense {
    let mut causes = Dense::default();
    for joins in found.stolen.values_mut() {
        joins.sort_by_key(|join| join.from_ns);
    }
    for (effect, first) in found.begins_at.iter() {
        let Some(cause) = links.cause_of(effect) else {
            continue;
        };
        let run = found.strands[first].run as usize;
        let of_run = found.runs[run];
        let first = first as u32;
        if let Some(join) = stolen_join(recording, found, cause) {
            found.edges.push((join.fork, first));
            let last = if of_run.first == first {
                of_run.last
            } else {
                first
            };
            found.edges.push((last, join.after));
            causes.insert(run, join.fork as usize);
        } else if let Some(ended) = found.ends_at.get(cause) {
            found.edges.push((ended as u32, first));
            if causes.get(run).is_none() {
                causes.insert(run, ended);
            }
        }
    }
    causes
}

/// Returns the join that a published fork belongs to.
fn stolen_join(recording: &Recording, found: &Found, publish: usize) -> Option<StolenJoin> {
    let event = &recording.timeline().events()[publish];
    if recording.timeline().text(event.category()) != "publish" {
        return None;
    }
    let owner = recording.number(publish, "owner")?;
    let depth = recording.number(publish, "depth")?;
    let thread = recording.thread_of(event.track())?;
    let Thread::Worker { runtime, .. } = thread.thread else {
        return None;
    };
    let key = (thread.process, runtime, usize::try_from(owner).ok()?);
    let joins = found.stolen.get(&key)?;
    let before = joins.partition_point(|join| join.from_ns <= event.from_ns());
    let mut open = joins[..before].iter().rev();
    let is_it = |join: &&StolenJoin| join.depth == depth && join.to_ns >= event.from_ns();
    open.find(is_it).copied()
}

/// Makes the strand after a wait depend on the tasks of its run (rule 4).
fn add_waits(found: &mut Found, causes: &Dense) {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (run, cause) in causes.iter() {
        let parent = found.strands[cause].run;
        children.entry(parent).or_default().push(run as u32);
    }
    let end_of =
        |found: &Found, run: u32| found.strands[found.runs[run as usize].last as usize].until_ns();
    found.waits.sort_by_key(|wait| wait.until_ns);
    for wait in std::mem::take(&mut found.waits) {
        let mut ended: Vec<u32> = Vec::new();
        let mut open = vec![wait.run];
        while let Some(run) = open.pop() {
            let Some(of_run) = children.get_mut(&run) else {
                continue;
            };
            let is_over = |child: &mut u32| end_of(found, *child) <= wait.until_ns;
            // A task that one wait has seen need not be seen by later ones.
            let over: Vec<u32> = match wait.is_for_all {
                true => of_run.extract_if(.., is_over).collect(),
                false => of_run
                    .iter()
                    .copied()
                    .filter(|child| end_of(found, *child) <= wait.until_ns)
                    .collect(),
            };
            if wait.is_for_all {
                open.extend(&over);
            }
            ended.extend(over);
        }
        if !wait.is_for_all {
            // A handle waits for one task: the last one that has ended.
            ended = ended
                .into_iter()
                .max_by_key(|run| end_of(found, *run))
                .into_iter()
                .collect();
        }
        for run in ended {
            found
                .edges
                .push((found.runs[run as usize].last, wait.after));
        }
    }
}

/// Makes a section depend on the last writer, and a writer also on the readers since then (rule 6).
fn add_sections(found: &mut Found) {
    for sections in found.sections.values_mut() {
        sections.sort_by_key(|section| section.from_ns);
        let mut writer: Option<Section> = None;
        let mut readers: Vec<Section> = Vec::new();
        for section in sections {
            match section.is_write {
                true => {
                    let before = readers.drain(..).chain(writer);
                    found
                        .edges
                        .extend(before.map(|before| (before.last, section.first)));
                    writer = Some(*section);
                }
                false => {
                    let before = writer.map(|writer| (writer.last, section.first));
                    found.edges.extend(before);
                    readers.push(*section);
                }
            }
        }
    }
}

/// Makes messages to one object run in the order of the recording (rule 5).
fn add_objects(found: &mut Found) {
    for served in found.objects.values_mut() {
        served.sort_by_key(|served| served.from_ns);
        let pairs = served.windows(2).filter(|pair| pair[0].run != pair[1].run);
        found
            .edges
            .extend(pairs.map(|pair| (pair[0].last, pair[1].first)));
    }
}
