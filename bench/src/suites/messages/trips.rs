//! Round trips between two workers, and between two bare threads.

use std::hint;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use raddle_messages::pingpong::{Layer, PingPong};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::probe;
use crate::suites::Measurement;

const TRIPS: u64 = 300_000;
/// The sizes of the reference's messages; other layers are measured with the first alone.
const SIZES: [usize; 4] = [16, 100, 3_456, 65_536];

/// All layers, and all sizes between elements of an array.
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

/// Half of a round trip.
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

/// Two threads without a runtime.
fn bare() -> Vec<Box<dyn Contender>> {
    let spin = Local::new("spin", |_| {
        let (first, second) = two_cpus()?;
        Ok(Sample {
            time: probe::round_trips(first, second, TRIPS as u32),
            result: TRIPS,
        })
    });
    let mpsc = Local::new("mpsc", |_| {
        let cpus = two_cpus()?;
        Ok(Sample {
            time: over_channels(cpus, TRIPS),
            result: TRIPS,
        })
    });
    vec![Box::new(spin), Box::new(mpsc)]
}

fn two_cpus() -> Result<(usize, usize), BenchError> {
    probe::two_cpus().ok_or_else(|| BenchError::Contender {
        contender: "two threads".to_owned(),
        message: "there are no two CPUs".to_owned(),
    })
}

/// The time of so many round trips of a buffer over two channels, into which nobody sleeps.
fn over_channels((first, second): (usize, usize), trips: u64) -> Duration {
    let (to_returner, at_returner) = channel::<Box<[u8]>>();
    let (to_server, at_server) = channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            probe::pin(second);
            while let Some(ball) = spin_for(&at_returner) {
                // A server that has seen enough catches no more.
                let _unheard = to_server.send(ball);
            }
        });
        let server = scope.spawn(move || {
            probe::pin(first);
            let mut ball = vec![0; 16].into_boxed_slice();
            let mut began = Instant::now();
            for trip in 0..=trips {
                to_returner.send(ball).expect("the returner waits");
                ball = spin_for(&at_server).expect("the returner returns");
                if trip == 0 {
                    // The first waits for the other thread to come up.
                    began = Instant::now();
                }
            }
            began.elapsed()
        });
        server.join().expect("the server panics nowhere")
    })
}

/// The next message; none when there will be no more.
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
