//! Many empty entries in a row, to one element or chare, on the same worker or on another.

use std::hint;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use raddle::chare::ArrayOptions;
use raddle::{Chares, Cx, Runtime, chare};

use super::{case, charm, failure};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::probe;
use crate::suites::Measurement;

/// Entries in a burst; the next begins when the last of them has run.
const COUNT: u64 = 1_000;
const BURSTS: u64 = 1_500;

/// Whom the bursts are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Element,
    Chare,
}

/// Both targets, on the same worker and on the last.
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
        let (gun, butt) = put_up(runtime, target, to_other);
        let (tell, told) = channel();
        gun.begin(butt, tell);
        let sample = told.recv().map_err(|gone| failure(&gone))?;
        gun.leave();
        butt.leave();
        Ok(sample)
    })
}

/// Who fires, on the first worker, and who is fired at.
fn put_up(runtime: &Runtime, target: Target, to_other: bool) -> (RangeProxy, RangeProxy) {
    let worker = if to_other {
        runtime.worker_count() - 1
    } else {
        0
    };
    match target {
        Target::Element => {
            let options = ArrayOptions::new(2).placed(move |index| index * worker);
            let both = runtime.array_with(options, |_| Range::default());
            (both.at(0), both.at(1))
        }
        Target::Chare => {
            let on = |worker| runtime.chare_on(worker, |_| Range::default());
            (on(0), on(worker))
        }
    }
}

/// One who fires, or who is fired at.
#[derive(Default)]
struct Range {
    other: Option<RangeProxy>,
    began: Option<Instant>,
    tell: Option<Sender<Sample>>,
    bursts: u64,
    hits: u64,
}

#[chare]
impl Range {
    /// Fires the first burst, which is not counted, and then the others.
    #[entry]
    fn begin(&mut self, cx: &mut Cx<Self>, butt: RangeProxy, tell: Sender<Sample>) {
        butt.meet(cx.this());
        self.other = Some(butt);
        self.tell = Some(tell);
        self.fire();
    }

    #[entry]
    fn meet(&mut self, gun: RangeProxy) {
        self.other = Some(gun);
    }

    /// An empty entry, but for the last of a burst.
    #[entry]
    fn hit(&mut self) {
        self.hits += 1;
        if self.hits.is_multiple_of(COUNT) {
            self.other().again(self.hits);
        }
    }

    #[entry]
    fn again(&mut self, hits: u64) {
        let began = *self.began.get_or_insert_with(Instant::now);
        if self.bursts < BURSTS {
            self.bursts += 1;
            self.fire();
        } else if let Some(tell) = self.tell.take() {
            let sample = Sample {
                time: began.elapsed(),
                result: hits - COUNT,
            };
            // Whoever asked for it waits; if not, nobody needs to know.
            let _unheard = tell.send(sample);
        }
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }

    fn fire(&self) {
        let butt = self.other();
        for _ in 0..COUNT {
            butt.hit();
        }
    }

    fn other(&self) -> RangeProxy {
        self.other.expect("they meet before they fire")
    }
}

/// The same over a channel between two threads, with another for the answer.
fn over_channels() -> Result<Sample, BenchError> {
    let cpus = probe::two_cpus();
    let pin = |second: bool| {
        if let Some((one, other)) = cpus {
            probe::pin(if second { other } else { one });
        }
    };
    let (fire, fired) = channel();
    let (answer, answered) = channel();
    let time = thread::scope(|scope| {
        scope.spawn(move || {
            pin(true);
            let mut hits = 0;
            while hits < (BURSTS + 1) * COUNT {
                match fired.try_recv() {
                    Ok(()) => hits += 1,
                    Err(_) => {
                        hint::spin_loop();
                        continue;
                    }
                }
                if hits.is_multiple_of(COUNT) {
                    answer.send(hits).expect("the other thread waits");
                }
            }
        });
        let gun = scope.spawn(move || {
            pin(false);
            let mut began = Instant::now();
            for burst in 0..=BURSTS {
                if burst == 1 {
                    began = Instant::now();
                }
                for _ in 0..COUNT {
                    fire.send(()).expect("the other thread listens");
                }
                while answered.try_recv().is_err() {
                    hint::spin_loop();
                }
            }
            began.elapsed()
        });
        gun.join().unwrap_or(Duration::MAX)
    });
    Ok(Sample {
        time,
        result: BURSTS * COUNT,
    })
}
