//! kNeighbor on Raddle, and on bare threads.

use std::collections::VecDeque;
use std::sync::Barrier;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use std::{hint, thread};

use raddle::chare::balance::{Balancing, ByTraffic};
use raddle::{MailboxKind, Runtime};
use raddle_messages::kneighbor::{KNeighbor, Shape};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::probe;
use crate::suites::Measurement;

/// The approximate number of messages in a run. The run takes a tenth of a second, so that the load
/// by other processes is measurable.
const MESSAGES: u64 = 1_500_000;
/// The maximum number of bytes that each element sends in a run if all are written and read.
const BYTES: u64 = 300_000_000;
/// The message sizes for which a mailbox is measured.
const SIZES: [usize; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];

/// Measures all numbers of elements, numbers of neighbours and sizes for which the reference has
/// figures.
pub(super) fn kneighbor(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for elements in [2, 8] {
        for k in 1..=3 {
            for bytes in [16, 1_024, 65_536] {
                let shape = Shape {
                    elements,
                    k,
                    bytes,
                    touch: false,
                };
                let name = format!("kneighbor-{elements}-k{k}");
                compare(measurement, &format!("{name}-{bytes}"), shape)?;
                charm::refer(measurement, &format!("{name}-{bytes}"), &name)?;
            }
        }
    }
    Ok(())
}

fn compare(measurement: &mut Measurement<'_>, name: &str, shape: Shape) -> Result<(), BenchError> {
    let iterations = MESSAGES / shape.messages();
    let expected = shape.messages() * iterations;
    let case = case(name, Unit::Microseconds, iterations, expected);
    let mut own = on_raddle("raddle", Runtime::builder(), shape);
    let bare = Local::new("mpsc", move |request| {
        Ok(on_threads(shape, request.repetitions, request.workers))
    });
    measurement.compare(&case, &mut own, &mut [Box::new(bare)])
}

/// Measures the cost of observing the traffic between elements.
pub(super) fn observed(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for elements in [2, 8] {
        let shape = Shape {
            elements,
            k: 3,
            bytes: 16,
            touch: false,
        };
        let iterations = MESSAGES / shape.messages();
        let expected = shape.messages() * iterations;
        let name = format!("observed-{elements}-k3-16");
        let case = case(&name, Unit::Microseconds, iterations, expected);
        let mut own = on_raddle("raddle", Runtime::builder(), shape);
        let mut runtimes = RaddlePools::of(Runtime::builder());
        let observed = Local::new("raddle-observed", move |request| {
            let balancing = Balancing::new(ByTraffic::default());
            let runtime = runtimes.of_workers(request.workers)?;
            sample(
                &KNeighbor::balanced(runtime, shape, balancing),
                request.repetitions,
            )
        });
        measurement.compare(&case, &mut own, &mut [Box::new(observed)])?;
    }
    Ok(())
}

/// Measures each size through each kind of mailbox, with an element for each worker.
pub(super) fn mailboxes(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for workers in measurement.workers.clone() {
        for bytes in SIZES {
            let shape = Shape {
                elements: workers,
                k: 3,
                bytes,
                touch: true,
            };
            let bytes_sent = 2 * shape.k as u64 * bytes as u64;
            let iterations = (MESSAGES / shape.messages()).min(BYTES / bytes_sent);
            let name = format!("mailbox/{bytes}");
            let expected = shape.messages() * iterations;
            let case = case(&name, Unit::Microseconds, iterations, expected);
            let through =
                |name, mailbox| on_raddle(name, Runtime::builder().mailbox(mailbox), shape);
            let mut peers: Vec<Box<dyn Contender>> = Vec::new();
            for mailbox in MailboxKind::ALL {
                if mailbox != MailboxKind::default() {
                    peers.push(Box::new(through(mailbox.name(), mailbox)));
                }
            }
            let mut own = through("raddle", MailboxKind::default());
            measurement.compare_on(workers, &case, &mut own, &mut peers)?;
        }
    }
    Ok(())
}

fn on_raddle(name: &'static str, builder: raddle::Builder, shape: Shape) -> impl Contender {
    let mut runtimes = RaddlePools::of(builder);
    Local::new(name, move |request| {
        let ring = KNeighbor::new(runtimes.of_workers(request.workers)?, shape);
        sample(&ring, request.repetitions)
    })
}

fn sample(ring: &KNeighbor<'_>, iterations: u64) -> Result<Sample, BenchError> {
    let exchange = ring.run(iterations).map_err(|error| failure(&error))?;
    Ok(Sample {
        time: exchange.time,
        result: exchange.messages,
    })
}

/// A message to an element.
struct Message {
    to: usize,
    iteration: u64,
    buffer: Box<[u8]>,
}

/// Runs kNeighbor without a runtime. Each thread has its elements, and a channel that it polls
/// without sleeping.
fn on_threads(shape: Shape, iterations: u64, threads: usize) -> Sample {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| channel()).unzip();
    let together = Barrier::new(threads);
    let cpus = probe::two_cpus();
    let results: Vec<(Duration, u64)> = thread::scope(|scope| {
        let threads: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(own, receiver)| {
                let (senders, together) = (senders.clone(), &together);
                scope.spawn(move || {
                    if let Some((first, second)) = cpus {
                        probe::pin(if own % 2 == 0 { first } else { second });
                    }
                    let mut elements = Elements::new(shape, own, senders, receiver);
                    together.wait();
                    let began = Instant::now();
                    let messages = elements.run(iterations);
                    (began.elapsed(), messages)
                })
            })
            .collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        ends.map(|end| end.expect("no thread panics")).collect()
    });
    Sample {
        time: results
            .iter()
            .map(|result| result.0)
            .max()
            .unwrap_or_default(),
        result: results.iter().map(|result| result.1).sum(),
    }
}

/// The elements of one thread.
struct Elements {
    shape: Shape,
    own: usize,
    senders: Vec<Sender<Message>>,
    receiver: Receiver<Message>,
    /// Messages between elements of this thread.
    local: VecDeque<Message>,
    elements: Vec<Element>,
}

/// The state of an element; see [`raddle_messages::kneighbor`].
struct Element {
    index: usize,
    iteration: u64,
    received: [usize; 2],
    buffers: Vec<Box<[u8]>>,
}

impl Elements {
    fn new(
        shape: Shape,
        own: usize,
        senders: Vec<Sender<Message>>,
        receiver: Receiver<Message>,
    ) -> Self {
        let buffer = || vec![0; shape.bytes].into_boxed_slice();
        let threads = senders.len();
        let of_thread = |&index: &usize| thread_of(index, shape.elements, threads) == own;
        let elements = (0..shape.elements).filter(of_thread).map(|index| Element {
            index,
            iteration: 0,
            received: [0; 2],
            buffers: (0..2 * shape.k).map(|_| buffer()).collect(),
        });
        Self {
            shape,
            own,
            senders,
            receiver,
            local: VecDeque::new(),
            elements: elements.collect(),
        }
    }

    /// Runs all iterations of the elements. Returns the number of received messages.
    fn run(&mut self, iterations: u64) -> u64 {
        let mut left = self.elements.len();
        for at in 0..left {
            self.send(at);
        }
        let mut messages = 0;
        while left > 0 {
            let Some(message) = self
                .local
                .pop_front()
                .or_else(|| self.receiver.try_recv().ok())
            else {
                hint::spin_loop();
                continue;
            };
            messages += 1;
            let at = message.to - self.elements[0].index;
            let element = &mut self.elements[at];
            element.buffers.push(message.buffer);
            element.received[(message.iteration & 1) as usize] += 1;
            while self.elements[at].has_all(2 * self.shape.k) {
                if self.elements[at].iteration == iterations {
                    left -= 1;
                    break;
                }
                self.send(at);
            }
        }
        messages
    }

    fn send(&mut self, at: usize) {
        let (count, threads) = (self.shape.elements, self.senders.len());
        for distance in 1..=self.shape.k {
            let distance = distance % count;
            for to in [count - distance, distance] {
                let element = &mut self.elements[at];
                let to = (element.index + to) % count;
                let message = Message {
                    to,
                    iteration: element.iteration,
                    buffer: element.buffers.pop().expect("as many arrive as are sent"),
                };
                let thread = thread_of(to, count, threads);
                if thread == self.own {
                    self.local.push_back(message);
                } else {
                    let sent = self.senders[thread].send(message);
                    sent.expect("a thread runs until it has received all messages");
                }
            }
        }
    }
}

impl Element {
    /// Advances to the next iteration if all messages of this one have arrived.
    fn has_all(&mut self, expected: usize) -> bool {
        let received = &mut self.received[(self.iteration & 1) as usize];
        if *received < expected {
            return false;
        }
        *received = 0;
        self.iteration += 1;
        true
    }
}

/// Returns the thread of an element. Elements are distributed in blocks, as in arrays.
fn thread_of(index: usize, elements: usize, threads: usize) -> usize {
    index * threads / elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_messages_arrive_on_bare_threads() {
        for threads in 1..=3 {
            for (elements, k) in [(3, 1), (4, 3), (8, 2)] {
                let shape = Shape {
                    elements,
                    k,
                    bytes: 3,
                    touch: false,
                };
                let sample = on_threads(shape, 50, threads);
                assert_eq!(sample.result, 50 * shape.messages(), "{shape:?}");
            }
        }
    }
}
