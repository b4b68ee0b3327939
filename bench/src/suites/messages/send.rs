//! The sender's cost of a message, over its size.
//!
//! An element sends a batch of buffers, one per message, to an element on another worker. That
//! element returns all of them in one message. Only the sends are timed.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use raddle::chare::ArrayOptions;
use raddle::{Chares, Cx, chare};

use super::{case, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

const SIZES: [usize; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];
const BATCH: usize = 256;
/// The number of batches. With more, copying the largest ones would take long.
const BATCHES: u64 = 200;

/// Measures each size, with moved and with copied buffers.
pub(super) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for bytes in SIZES {
        let name = format!("send/{bytes}");
        let messages = BATCHES * BATCH as u64;
        let case = case(&name, Unit::Nanoseconds, messages, messages);
        let mut own = on_raddle("raddle", bytes, false);
        let copied = on_raddle("copied", bytes, true);
        measurement.compare(&case, &mut own, &mut [Box::new(copied)])?;
    }
    Ok(())
}

fn on_raddle(name: &'static str, bytes: usize, copies: bool) -> impl Contender {
    let mut runtimes = RaddlePools::default();
    Local::new(name, move |request| {
        let runtime = runtimes.of_workers(request.workers)?;
        let last = runtime.worker_count() - 1;
        let options = ArrayOptions::new(2).placed(move |index| index * last);
        let both = runtime.array_with(options, move |_| Side::new(copies));
        let (reply, replies) = channel();
        let batch = (0..BATCH).map(|_| vec![0; bytes].into_boxed_slice());
        both.at(0).begin(batch.collect(), reply);
        let sample = replies.recv().map_err(|error| failure(&error))?;
        both.remove(0);
        both.remove(1);
        Ok(sample)
    })
}

/// The element that sends, or the one that receives.
struct Side {
    copies: bool,
    /// The received buffers.
    taken: Vec<Box<[u8]>>,
    /// The number of batches that have returned.
    batches: u64,
    time: Duration,
    reply: Option<Sender<Sample>>,
}

impl Side {
    fn new(copies: bool) -> Self {
        Self {
            copies,
            taken: Vec::with_capacity(BATCH),
            batches: 0,
            time: Duration::ZERO,
            reply: None,
        }
    }
}

#[chare]
impl Side {
    /// Sends the first batch, which does not count. The others follow.
    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, batch: Vec<Box<[u8]>>, reply: Sender<Sample>) {
        self.reply = Some(reply);
        self.send(cx, batch);
    }

    #[entry]
    fn take(&mut self, cx: &mut Cx<Self>, buffer: Box<[u8]>) {
        self.taken.push(buffer);
        if self.taken.len() == BATCH {
            let next = Vec::with_capacity(BATCH);
            cx.array()
                .at(0)
                .again(std::mem::replace(&mut self.taken, next));
        }
    }

    #[entry]
    fn again(&mut self, cx: &mut Cx<Self>, batch: Vec<Box<[u8]>>) {
        if self.batches == 0 {
            self.time = Duration::ZERO;
        }
        self.batches += 1;
        if self.batches <= BATCHES {
            self.send(cx, batch);
        } else if let Some(reply) = self.reply.take() {
            let sample = Sample {
                time: self.time,
                result: (self.batches - 1) * BATCH as u64,
            };
            // The receiver waits for the sample, unless its thread has failed.
            let _closed = reply.send(sample);
        }
    }

    fn send(&mut self, cx: &mut Cx<Self>, batch: Vec<Box<[u8]>>) {
        let other = cx.array().at(1);
        let began = Instant::now();
        if self.copies {
            for buffer in &batch {
                other.take(buffer.clone());
            }
        } else {
            for buffer in batch {
                other.take(buffer);
            }
        }
        self.time += began.elapsed();
    }
}
