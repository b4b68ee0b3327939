//! Collective operations: broadcasts and reductions over arrays and sections, and requests for
//! quiescence.

use raddle::chare::{Section, SectionForm};
use raddle::reduce::Count;
use raddle::{Array, Chares, Cx, Failure, Runtime, chare};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Unit, timed};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

const ROUNDS: u64 = 100_000;
/// The numbers of members of the sections.
const MEMBERS: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
/// The approximate number of messages in all rounds of a section.
const MESSAGES: u64 = 500_000;

/// Measures broadcasts to all elements of an array with one element for each worker.
pub(super) fn broadcast(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for workers in measurement.workers.clone() {
        let case = case("broadcast", Unit::Microseconds, ROUNDS, workers as u64);
        let mut own = on_raddle("raddle", |runtime| {
            let array = runtime.array(runtime.worker_count(), |_| Member);
            run(array, None, ROUNDS)
        });
        measurement.compare_on(workers, &case, &mut own, &mut [])?;
    }
    charm::refer(measurement, "broadcast", "broadcast")?;
    Ok(())
}

/// Measures sections of all sizes in all forms. A section contains all elements of an array that is
/// distributed to the workers in blocks.
pub(super) fn sections(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for members in MEMBERS {
        let name = format!("section/{members}");
        let rounds = MESSAGES / members as u64;
        let case = case(&name, Unit::Microseconds, rounds, members as u64);
        let in_form = |name, form| {
            on_raddle(name, move |runtime| {
                let array = runtime.array(members, |_| Member);
                run(array, Some(array.section_with(form, 0..members)), rounds)
            })
        };
        let mut peers: Vec<Box<dyn Contender>> = Vec::new();
        for form in SectionForm::ALL {
            if form != SectionForm::Auto {
                peers.push(Box::new(in_form(form.name(), form)));
            }
        }
        let mut own = in_form("raddle", SectionForm::Auto);
        measurement.compare(&case, &mut own, &mut peers)?;
    }
    Ok(())
}

/// Measures consecutive requests from an entry that waits for each.
pub(super) fn quiescence(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("quiescence", Unit::Microseconds, ROUNDS, ROUNDS);
    let mut own = on_raddle("raddle", |runtime| {
        let watcher = runtime.chare(|_| Watcher);
        watcher.watch(ROUNDS).try_wait()
    });
    measurement.compare(&case, &mut own, &mut [])?;
    charm::refer(measurement, "quiescence", "quiescence")?;
    Ok(())
}

/// Times all rounds, including the request from an outside thread and the return of the result.
pub(super) fn on_raddle(
    name: &'static str,
    rounds: impl Fn(&Runtime) -> Result<u64, Failure>,
) -> impl Contender {
    let mut runtimes = RaddlePools::default();
    Local::new(name, move |request| {
        let runtime = runtimes.of_workers(request.workers)?;
        let mut failed = None;
        let sample = timed(1, || {
            rounds(runtime).unwrap_or_else(|error| {
                failed = Some(error);
                0
            })
        });
        failed.map_or(Ok(sample), |error| Err(failure(&error)))
    })
}

/// Executes rounds of a multicast and a reduction. Returns the result of the last reduction.
fn run(
    array: Array<Member>,
    section: Option<Section<Member>>,
    rounds: u64,
) -> Result<u64, Failure> {
    match section {
        Some(section) => {
            section.all().go(Some(section), rounds - 1);
            section.reduction().try_wait()
        }
        None => {
            array.all().go(None, rounds - 1);
            array.reduction().try_wait()
        }
    }
}

/// An element that answers multicasts.
struct Member;

#[chare]
impl Member {
    #[entry]
    fn go(&mut self, cx: &mut Cx<Self>, section: Option<Section<Member>>, left: u64) {
        match section {
            Some(section) if left == 0 => cx.contribute_to(section, Count::one()),
            Some(section) => cx.contribute_to_then(section, (), move |()| {
                section.all().go(Some(section), left - 1);
            }),
            None if left == 0 => cx.contribute(Count::one()),
            None => {
                let all = cx.all();
                cx.contribute_then((), move |()| all.go(None, left - 1));
            }
        }
    }
}

/// A chare that requests quiescence repeatedly.
struct Watcher;

#[chare]
impl Watcher {
    #[entry]
    async fn watch(&mut self, cx: &mut Cx<Self>, rounds: u64) -> u64 {
        for _ in 0..rounds {
            cx.quiescence().await;
        }
        cx.end();
        rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_answers_in_every_form() {
        for workers in 1..=3 {
            let runtime = Runtime::builder().workers(workers).build();
            let runtime = runtime.expect("a runtime");
            for members in [1, 2, 5, 20] {
                let array = runtime.array(members, |_| Member);
                for form in SectionForm::ALL {
                    let section = array.section_with(form, 0..members);
                    let count = run(array, Some(section), 100).expect("no member fails");
                    assert_eq!(count, members as u64, "{form}");
                }
                let count = run(array, None, 100).expect("no member fails");
                assert_eq!(count, members as u64);
            }
        }
    }
}
