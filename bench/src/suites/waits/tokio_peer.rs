//! The same two sides as tasks of tokio, with a channel for each direction.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicUsize, Relaxed};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::rally::{Decided, END, Tally, WARM_UP};
use crate::error::BenchError;
use crate::probe;

/// Two tasks on a runtime of two workers.
pub(super) fn tasks(
    cpus: (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Result<Tally, BenchError> {
    let started = AtomicUsize::new(0);
    let runtime = built(
        Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_start(move || {
                // Relaxed: all that counts is that no number comes twice.
                let number = started.fetch_add(1, Relaxed);
                probe::pin(if number == 0 { cpus.0 } else { cpus.1 });
            }),
    )?;
    let (server, returner) = sides(trips, pause);
    let returned = runtime.spawn(returner.play());
    let served = runtime.spawn(server.play());
    let (tally, returned) = runtime.block_on(async { (served.await, returned.await) });
    returned.map_err(|error| refused(&error))?;
    tally.map_err(|error| refused(&error))
}

/// Two threads, each with a runtime of its own for one task.
pub(super) fn threads(
    (first, second): (usize, usize),
    trips: u32,
    pause: Option<Duration>,
) -> Result<Tally, BenchError> {
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
        served.join().expect("who serves panics nowhere")
    }))
}

fn built(builder: &mut Builder) -> Result<Runtime, BenchError> {
    builder.build().map_err(|error| refused(&error))
}

fn refused(error: &dyn std::error::Error) -> BenchError {
    BenchError::Contender {
        contender: "tokio".to_owned(),
        message: error.to_string(),
    }
}

/// Who throws, and who throws back.
fn sides(trips: u32, pause: Option<Duration>) -> (Server, Returner) {
    let (to_returner, at_returner) = channel(1);
    let (to_server, at_server) = channel(1);
    let decided = Arc::new(Decided::default());
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
    decided: Arc<Decided>,
    trips: u32,
    is_late: bool,
}

impl Server {
    /// A task may go on in another thread: its CPU time is nobody's.
    async fn play(mut self) -> Tally {
        let mut tally = Tally::default();
        let mut start = Instant::now();
        for number in 1..=WARM_UP + self.trips {
            if number == WARM_UP + 1 {
                tally = Tally::default();
                start = Instant::now();
            }
            let sent = self.to_returner.send(number).await;
            sent.expect("the returner is here until the end");
            let answer = self.at_server.recv().await;
            if self.is_late {
                tally.time += self.decided.elapsed();
            }
            tally.right += u64::from(answer == Some(number));
        }
        if !self.is_late {
            tally.time = start.elapsed();
        }
        let sent = self.to_returner.send(END).await;
        sent.expect("the returner is here until the end");
        tally
    }
}

struct Returner {
    to_server: Sender<u32>,
    at_returner: Receiver<u32>,
    decided: Arc<Decided>,
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
                // Its worker sleeps with it, as the other peers' threads do.
                thread::sleep(pause);
                self.decided.now();
            }
            let sent = self.to_server.send(number).await;
            sent.expect("who serves is here until it has all answers");
        }
    }
}
