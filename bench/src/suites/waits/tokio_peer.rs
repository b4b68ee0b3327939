//! The two sides of the exchange as tasks of tokio, with a channel for each direction.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicUsize, Relaxed};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::round_trips::{Decision, Totals, WARM_UP};
use crate::error::BenchError;
use crate::probe;

/// Measures two tasks on a runtime of two workers.
pub(super) fn tasks(
    cpus: (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Result<Totals, BenchError> {
    let started = AtomicUsize::new(0);
    let runtime = build(
        Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_start(move || {
                // Relaxed: the numbers only have to be distinct.
                let number = started.fetch_add(1, Relaxed);
                probe::pin(if number == 0 { cpus.0 } else { cpus.1 });
            }),
    )?;
    let (client, server) = both_sides(trips, pause);
    let answered = runtime.spawn(server.play());
    let totals = runtime.spawn(client.play());
    let (totals, answered) = runtime.block_on(async { (totals.await, answered.await) });
    answered.map_err(|error| failure(&error))?;
    totals.map_err(|error| failure(&error))
}

/// Measures two threads, each with a runtime of its own for one task.
pub(super) fn threads(
    (first, second): (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Result<Totals, BenchError> {
    let runtimes = [
        build(&mut Builder::new_current_thread())?,
        build(&mut Builder::new_current_thread())?,
    ];
    let (client, server) = both_sides(trips, pause);
    Ok(thread::scope(|scope| {
        scope.spawn(|| {
            probe::pin(second);
            runtimes[1].block_on(server.play());
        });
        let totals = scope.spawn(|| {
            probe::pin(first);
            runtimes[0].block_on(client.play())
        });
        totals.join().expect("the client does not panic")
    }))
}

fn build(builder: &mut Builder) -> Result<Runtime, BenchError> {
    builder.build().map_err(|error| failure(&error))
}

fn failure(error: &dyn std::error::Error) -> BenchError {
    BenchError::contender("tokio", error)
}

/// Creates both sides: the one that sends numbers and the one that returns them.
fn both_sides(trips: u32, pause: Option<Duration>) -> (Client, Server) {
    let (to_server, at_server) = channel(1);
    let (to_client, at_client) = channel(1);
    let decision = Arc::new(Decision::default());
    let client = Client {
        to_server,
        at_client,
        decision: Arc::clone(&decision),
        trips,
        is_late: pause.is_some(),
    };
    let server = Server {
        to_client,
        at_server,
        decision,
        pause,
    };
    (client, server)
}

struct Client {
    to_server: Sender<u32>,
    at_client: Receiver<u32>,
    decision: Arc<Decision>,
    trips: u32,
    is_late: bool,
}

impl Client {
    /// Exchanges the numbers with the other task, and returns the measured times.
    ///
    /// The CPU time is not measured, because a task may continue on another thread.
    async fn play(mut self) -> Totals {
        let mut totals = Totals::default();
        let mut start = Instant::now();
        for number in 1..=WARM_UP + self.trips {
            if number == WARM_UP + 1 {
                totals = Totals::default();
                start = Instant::now();
            }
            let sent = self.to_server.send(number).await;
            sent.expect("the server runs until the end");
            let answer = self.at_client.recv().await;
            if self.is_late {
                totals.time += self.decision.elapsed();
            }
            totals.right += u64::from(answer == Some(number));
        }
        if !self.is_late {
            totals.time = start.elapsed();
        }
        totals
    }
}

struct Server {
    to_client: Sender<u32>,
    at_server: Receiver<u32>,
    decision: Arc<Decision>,
    pause: Option<Duration>,
}

impl Server {
    async fn play(mut self) {
        // The client closes the channel after the last round trip.
        while let Some(number) = self.at_server.recv().await {
            if let Some(pause) = self.pause.filter(|_| number > WARM_UP) {
                // The worker sleeps too, as the threads of the other peers do.
                thread::sleep(pause);
                self.decision.now();
            }
            let sent = self.to_client.send(number).await;
            sent.expect("the client runs until it has all answers");
        }
    }
}
