//! The two sides of the exchange as tasks of tokio, with a channel for each direction.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicUsize, Relaxed};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::round_trips::{Decision, END, Totals, WARM_UP};
use crate::error::BenchError;
use crate::probe;

/// Two tasks on a runtime of two workers.
pub(super) fn tasks(
    cpus: (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Result<Totals, BenchError> {
    let started = AtomicUsize::new(0);
    let runtime = built(
        Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_start(move || {
                // Relaxed: the numbers only have to be distinct.
                let number = started.fetch_add(1, Relaxed);
                probe::pin(if number == 0 { cpus.0 } else { cpus.1 });
            }),
    )?;
    let (server, returner) = sides(trips, pause);
    let returned = runtime.spawn(returner.play());
    let served = runtime.spawn(server.play());
    let (totals, returned) = runtime.block_on(async { (served.await, returned.await) });
    returned.map_err(|error| failure(&error))?;
    totals.map_err(|error| failure(&error))
}

/// Two threads, each with a runtime of its own for one task.
pub(super) fn threads(
    (first, second): (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Result<Totals, BenchError> {
    let runtimes = [
        built(&mut Builder::new_current_thread())?,
        built(&mut Builder::new_current_thread())?,
    ];
    let (server, returner) = sides(trips, pause);
    Ok(thread::scope(|scope| {
        scope.spawn(|| {
            probe::pin(second);
            runtimes[1].block_on(returner.play());
        });
        let served = scope.spawn(|| {
            probe::pin(first);
            runtimes[0].block_on(server.play())
        });
        served.join().expect("the server does not panic")
    }))
}

fn built(builder: &mut Builder) -> Result<Runtime, BenchError> {
    builder.build().map_err(|error| failure(&error))
}

fn failure(error: &dyn std::error::Error) -> BenchError {
    BenchError::contender("tokio", error)
}

/// Creates both sides: the one that sends numbers and the one that returns them.
fn sides(trips: u32, pause: Option<Duration>) -> (Server, Returner) {
    let (to_returner, at_returner) = channel(1);
    let (to_server, at_server) = channel(1);
    let decided = Arc::new(Decision::default());
    let server = Server {
        to_returner,
        at_server,
        decided: Arc::clone(&decided),
        trips,
        is_late: pause.is_some(),
    };
    let returner = Returner {
        to_server,
        at_returner,
        decided,
        pause,
    };
    (server, returner)
}

struct Server {
    to_returner: Sender<u32>,
    at_server: Receiver<u32>,
    decided: Arc<Decision>,
    trips: u32,
    is_late: bool,
}

impl Server {
    /// The CPU time is not measured: a task may continue on another thread.
    async fn play(mut self) -> Totals {
        let mut totals = Totals::default();
        let mut start = Instant::now();
        for number in 1..=WARM_UP + self.trips {
            if number == WARM_UP + 1 {
                totals = Totals::default();
                start = Instant::now();
            }
            let sent = self.to_returner.send(number).await;
            sent.expect("the returner runs until the end");
            let answer = self.at_server.recv().await;
            if self.is_late {
                totals.time += self.decided.elapsed();
            }
            totals.right += u64::from(answer == Some(number));
        }
        if !self.is_late {
            totals.time = start.elapsed();
        }
        let sent = self.to_returner.send(END).await;
        sent.expect("the returner runs until the end");
        totals
    }
}

struct Returner {
    to_server: Sender<u32>,
    at_returner: Receiver<u32>,
    decided: Arc<Decision>,
    pause: Option<Duration>,
}

impl Returner {
    async fn play(mut self) {
        while let Some(number) = self
            .at_returner
            .recv()
            .await
            .filter(|&number| number != END)
        {
            if let Some(pause) = self.pause.filter(|_| number > WARM_UP) {
                // The worker sleeps too, as the threads of the other peers do.
                thread::sleep(pause);
                self.decided.now();
            }
            let sent = self.to_server.send(number).await;
            sent.expect("the server runs until it has all answers");
        }
    }
}
