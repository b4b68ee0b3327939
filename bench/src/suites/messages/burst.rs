//! Many empty entries in a row to one element or chare, on the same worker or on another.

use std::hint;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use raddle::chare::ArrayOptions;
use raddle::{Chares, Cx, Runtime, chare};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::probe;
use crate::suites::Measurement;
use crate::two_threads::time_round_trips;

/// The number of entries in a burst. The next burst begins after the last entry has run.
const COUNT: u64 = 1_000;
const BURSTS: u64 = 1_500;

/// The kind of object that receives the bursts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Element,
    Chare,
}

/// Measures both kinds of target, on the same worker and on the last.
pub(super) fn all(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for (target, name) in [(Target::Element, "array"), (Target::Chare, "chare")] {
        for to_other in [false, true] {
            let name = format!("burst-{name}-{}", if to_other { "other" } else { "same" });
            let case = case(&name, Unit::Microseconds, BURSTS * COUNT, BURSTS * COUNT);
            let mut own = on_raddle(target, to_other);
            for workers in measurement.workers.clone() {
                if to_other && workers == 1 {
                    continue;
                }
                let mut peers: Vec<Box<dyn Contender>> = Vec::new();
                if to_other {
                    peers.push(Box::new(Local::new("mpsc", |_| over_channels())));
                }
                measurement.compare_on(workers, &case, &mut own, &mut peers)?;
            }
            charm::refer(measurement, &name, &name)?;
        }
    }
    Ok(())
}

fn on_raddle(target: Target, to_other: bool) -> impl Contender {
    let mut runtimes = RaddlePools::default();
    Local::new("raddle", move |request| {
        let runtime = runtimes.of_workers(request.workers)?;
        let (source, sink) = endpoints(runtime, target, to_other);
        let (reply, replies) = channel();
        source.begin(sink, reply);
        let sample = replies.recv().map_err(|error| failure(&error))?;
        source.leave();
        sink.leave();
        Ok(sample)
    })
}

/// Creates the endpoint that sends, on the first worker, and the one that receives.
fn endpoints(runtime: &Runtime, target: Target, to_other: bool) -> (EndpointProxy, EndpointProxy) {
    let worker = if to_other {
        runtime.worker_count() - 1
    } else {
        0
    };
    match target {
        Target::Element => {
            let options = ArrayOptions::new(2).placed(move |index| index * worker);
            let both = runtime.array_with(options, |_| Endpoint::default());
            (both.at(0), both.at(1))
        }
        Target::Chare => {
            let on = |worker| runtime.chare_on(worker, |_| Endpoint::default());
            (on(0), on(worker))
        }
    }
}

/// An object that sends or receives bursts.
#[derive(Default)]
struct Endpoint {
    other: Option<EndpointProxy>,
    began: Option<Instant>,
    reply: Option<Sender<Sample>>,
    bursts: u64,
    received: u64,
}

#[chare]
impl Endpoint {
    /// Sends the first burst, which does not count. The others follow.
    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, sink: EndpointProxy, reply: Sender<Sample>) {
        sink.connect(cx.this());
        self.other = Some(sink);
        self.reply = Some(reply);
        self.send_burst();
    }

    #[entry]
    fn connect(&mut self, source: EndpointProxy) {
        self.other = Some(source);
    }

    /// Does nothing but count. The last entry of a burst also answers.
    #[entry]
    fn receive(&mut self) {
        self.received += 1;
        if self.received.is_multiple_of(COUNT) {
            self.other().next_burst(self.received);
        }
    }

    #[entry]
    fn next_burst(&mut self, received: u64) {
        let began = *self.began.get_or_insert_with(Instant::now);
        if self.bursts < BURSTS {
            self.bursts += 1;
            self.send_burst();
        } else if let Some(reply) = self.reply.take() {
            let sample = Sample {
                time: began.elapsed(),
                result: received - COUNT,
            };
            // The receiver waits for the sample, unless its thread has failed.
            let _closed = reply.send(sample);
        }
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }

    fn send_burst(&self) {
        let sink = self.other();
        for _ in 0..COUNT {
            sink.receive();
        }
    }

    fn other(&self) -> EndpointProxy {
        self.other.expect("the endpoints are connected first")
    }
}

/// Sends the bursts over a channel between two threads, with another channel for the answers.
fn over_channels() -> Result<Sample, BenchError> {
    let (sender, receiver) = channel();
    let (answer, answers) = channel();
    let time = time_round_trips(
        probe::two_cpus(),
        1,
        BURSTS as u32,
        move |_| {
            for _ in 0..COUNT {
                sender.send(()).expect("the other thread receives");
            }
            while answers.try_recv().is_err() {
                hint::spin_loop();
            }
        },
        move || {
            let mut received = 0;
            while received < (BURSTS + 1) * COUNT {
                if receiver.try_recv().is_err() {
                    hint::spin_loop();
                    continue;
                }
                received += 1;
                if received.is_multiple_of(COUNT) {
                    answer.send(received).expect("the other thread waits");
                }
            }
        },
    );
    Ok(Sample {
        time,
        result: BURSTS * COUNT,
    })
}
