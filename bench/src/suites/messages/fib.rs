//! Fibonacci numbers with a chare for each call.

use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use raddle::{Chares, Cx, Runtime, chare};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

const ARGUMENT: u32 = 24;
const NUMBER: u64 = 46_368;

/// Measures the 24th Fibonacci number: 92,735 chares.
pub(super) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("fib24", Unit::Microseconds, 1, NUMBER);
    let mut runtimes = RaddlePools::default();
    let mut own = Local::new("raddle", move |request| {
        compute(runtimes.of_workers(request.workers)?, ARGUMENT)
    });
    measurement.compare(&case, &mut own, &mut [])?;
    charm::refer(measurement, "fib24", "fib24")?;
    Ok(())
}

fn compute(runtime: &Runtime, argument: u32) -> Result<Sample, BenchError> {
    let (reply, replies) = channel();
    let began = Instant::now();
    runtime.chare(move |cx| Fib::call(cx, argument, Caller::Outside(reply)));
    let result = replies.recv().map_err(|error| failure(&error))?;
    Ok(Sample {
        time: began.elapsed(),
        result,
    })
}

/// The receiver of a call's result.
enum Caller {
    Fib(FibProxy),
    Outside(Sender<u64>),
}

impl Caller {
    fn reply(&self, number: u64) {
        match self {
            Self::Fib(fib) => fib.add(number),
            Self::Outside(reply) => {
                // The receiver waits for the number, unless its thread has failed.
                let _closed = reply.send(number);
            }
        }
    }
}

/// A call, which waits for the results of two others.
struct Fib {
    caller: Caller,
    missing: u32,
    sum: u64,
}

#[chare]
impl Fib {
    fn call(cx: &mut Cx<Self>, n: u32, caller: Caller) -> Self {
        if n <= 2 {
            caller.reply(1);
            cx.end();
        } else {
            let this = cx.this();
            for n in [n - 1, n - 2] {
                cx.chare(move |cx| Self::call(cx, n, Caller::Fib(this)));
            }
        }
        Self {
            caller,
            missing: 2,
            sum: 0,
        }
    }

    #[entry]
    fn add(&mut self, cx: &mut Cx<Self>, number: u64) {
        self.sum += number;
        self.missing -= 1;
        if self.missing == 0 {
            self.caller.reply(self.sum);
            cx.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chares_compute_the_numbers() {
        let runtime = Runtime::builder().workers(3).build().expect("a runtime");
        let numbers = [1, 2, 3, 10, 15].map(|argument| {
            let sample = compute(&runtime, argument).expect("a result");
            sample.result
        });
        assert_eq!(numbers, [1, 1, 2, 55, 610]);
    }
}
