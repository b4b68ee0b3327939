//! Round trips between two workers, and between two threads without a runtime.

use std::hint;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use raddle_messages::pingpong::{Layer, PingPong};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::probe;
use crate::suites::Measurement;
use crate::two_threads::{self, time_round_trips};

const TRIPS: u64 = 300_000;
/// The message sizes of the reference. Other layers are measured with the first one only.
const SIZES: [usize; 4] = [16, 100, 3_456, 65_536];

/// Measures all layers, and between elements of an array all sizes.
pub(super) fn all(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for layer in Layer::ALL {
        let sizes = if layer == Layer::Array {
            &SIZES[..]
        } else {
            &SIZES[..1]
        };
        for &bytes in sizes {
            let name = format!("trip-{layer}-{bytes}");
            let case = case(&name, Unit::Microseconds, TRIPS, TRIPS);
            measurement.compare(&case, &mut on_raddle(layer, bytes), &mut bare())?;
            charm::refer(measurement, &name, &name)?;
        }
    }
    Ok(())
}

/// Measures half of a round trip.
pub(super) fn one_way(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let case = case("one-way", Unit::Nanoseconds, 2 * TRIPS, TRIPS);
    measurement.compare(&case, &mut on_raddle(Layer::Post, 16), &mut bare())
}

fn on_raddle(layer: Layer, bytes: usize) -> impl Contender {
    let mut runtimes = RaddlePools::default();
    Local::new("raddle", move |request| {
        let sides = PingPong::new(runtimes.of_workers(request.workers)?, layer, bytes);
        let time = sides.run(TRIPS).map_err(|error| failure(&error))?;
        Ok(Sample {
            time,
            result: TRIPS,
        })
    })
}

/// Returns the peers: two threads without a runtime.
fn bare() -> Vec<Box<dyn Contender>> {
    let spin = Local::new("spin", |_| {
        let (first, second) = two_threads::cpus()?;
        Ok(Sample {
            time: probe::round_trips(first, second, TRIPS as u32),
            result: TRIPS,
        })
    });
    let mpsc = Local::new("mpsc", |_| {
        let cpus = two_threads::cpus()?;
        Ok(Sample {
            time: over_channels(cpus, TRIPS),
            result: TRIPS,
        })
    });
    vec![Box::new(spin), Box::new(mpsc)]
}

/// Times round trips of a buffer over two channels, which the threads poll without sleeping.
fn over_channels(cpus: (usize, usize), trips: u64) -> Duration {
    let (to_server, at_server) = channel::<Box<[u8]>>();
    let (to_client, at_client) = channel();
    let mut buffer = vec![0; 16].into_boxed_slice();
    time_round_trips(
        Some(cpus),
        1,
        trips as u32,
        move |_| {
            let sent = to_server.send(std::mem::take(&mut buffer));
            sent.expect("the server runs until this side has ended");
            buffer = spin_for(&at_client).expect("the server answers");
        },
        move || {
            while let Some(buffer) = spin_for(&at_server) {
                to_client.send(buffer).expect("the client waits");
            }
        },
    )
}

/// Returns the next message, or `None` if there will be no more.
fn spin_for<T>(receiver: &Receiver<T>) -> Option<T> {
    use std::sync::mpsc::TryRecvError::{Disconnected, Empty};
    loop {
        match receiver.try_recv() {
            Ok(message) => return Some(message),
            Err(Empty) => hint::spin_loop(),
            Err(Disconnected) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_answer_every_round_trip() {
        let Ok(cpus) = two_threads::cpus() else {
            return;
        };
        assert!(!over_channels(cpus, 50).is_zero());
    }
}
