//! The speed of the model and of the simulator of the notification study. There are no peers.
//!
//! - `chapter`: the whole of the study's chapter 8, in ms: every question, its table and its
//!   picture.
//! - `tracer-512x7`: the simulated ray tracer on 512 nodes with 7 renderers, for two frames, in
//!   millions of events per second.
//!
//! Both always run on one thread.

use std::time::Instant;

use raddle_model::simulate::Silent;
use raddle_model::simulate::tracer::Tracer;
use raddle_model::study::Question;
use raddle_model::{Parameters, Scenario};

use crate::error::BenchError;
use crate::harness::{Case, Local, Sample, Unit};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 2] = ["chapter", "tracer-512x7"];

const FRAMES: u32 = 2;
const SEED: u64 = 7;

/// Runs the suite, on one thread.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![1];
    let [chapter, tracer] = CASES;
    if measurement.wants(chapter) {
        let case = case(chapter, Unit::Milliseconds, answer()?);
        let mut raddle = Local::new("raddle", |_| {
            let start = Instant::now();
            let result = answer()?;
            let time = start.elapsed();
            Ok(Sample { time, result })
        });
        measurement.compare(&case, &mut raddle, &mut [])?;
    }
    if measurement.wants(tracer) {
        let events = simulate()?;
        let name = "million events/s";
        let case = case(tracer, Unit::MillionsPerSecond { name, events }, events);
        let mut raddle = Local::new("raddle", |_| {
            let start = Instant::now();
            let result = simulate()?;
            let time = start.elapsed();
            Ok(Sample { time, result })
        });
        measurement.compare(&case, &mut raddle, &mut [])?;
    }
    Ok(())
}

const fn case(name: &'static str, unit: Unit, expected: u64) -> Case<'static> {
    Case {
        suite: "model",
        name,
        unit,
        repetitions: 1,
        file: None,
        expected,
        tolerance: 0,
    }
}

/// Answers every question of the chapter. Returns the number of characters of the answers.
fn answer() -> Result<u64, BenchError> {
    let parameters = Parameters::study();
    let mut characters = 0;
    for question in Question::ALL {
        for chart in question.answer(&parameters, Scenario::new(32, 3))? {
            characters += chart.table().len() + chart.svg()?.len();
        }
    }
    Ok(characters as u64)
}

/// Simulates the frames. Returns the number of events.
fn simulate() -> Result<u64, BenchError> {
    let tracer = Tracer::new(Scenario::new(512, 7), FRAMES, SEED);
    let (found, Silent) = tracer.run(&Parameters::study(), Silent, |_| ())?;
    Ok(found.counts.events)
}
