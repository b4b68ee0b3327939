//! Chares, arrays, replies, reductions and asynchronous entries as programs use them.

#![cfg(not(any(loom, shuttle)))]

use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, chare};
use raddle_runtime::Runtime;

fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("it comes up")
}

/// Adds what it hears.
#[derive(Debug)]
struct Cell {
    value: f64,
    heard: u32,
}

#[chare]
impl Cell {
    #[entry]
    fn hear(&mut self, cx: &mut Cx<Self>, neighbour: f64) {
        self.value += neighbour;
        self.heard += 1;
        if self.heard == 2 {
            cx.contribute(Sum(self.value));
        }
    }

    #[entry]
    fn value(&self) -> f64 {
        self.value
    }

    #[entry]
    fn fall(&mut self) {
        panic!("it was pushed at {}", self.value);
    }

    #[entry]
    fn count(&mut self, cx: &mut Cx<Self>) {
        let (array, index) = (cx.array(), cx.index());
        cx.contribute_then(Sum(1_u32), move |count| {
            assert_eq!(count, 10);
            array.at(9).hear(f64::from(count) + index as f64 * 0.0);
        });
    }
}

#[test]
fn elements_hear_and_contribute() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let cells = runtime.array(10, |index| Cell {
            value: index as f64,
            heard: 0,
        });
        for index in 0..10 {
            cells.at(index).hear(0.5);
        }
        cells.all().hear(1.0);
        let total: f64 = cells.reduction().wait();
        assert_eq!(total, 45.0 + 15.0);
        assert_eq!(cells.at(3).value().wait(), 4.5);
        cells.all().count();
        runtime.quiescence().wait();
        assert_eq!(cells.at(9).value().wait(), 9.0 + 1.5 + 10.0);
    }
}

#[test]
fn a_panic_reaches_who_waits_with_the_name_of_the_chare() {
    let runtime = runtime(2);
    let cells = runtime.array(3, |_| Cell {
        value: 7.0,
        heard: 0,
    });
    cells.at(2).fall();
    let failure = cells
        .reduction::<f64>()
        .try_wait()
        .expect_err("it never comes");
    assert_eq!(
        failure.to_string(),
        "Cell[2] panicked in `fall`: it was pushed at 7"
    );
}

/// Fibonacci, a chare for each call.
struct Fib {
    parent: Option<FibProxy>,
    missing: u32,
    sum: u64,
    asked: Option<raddle_chare::One<Main>>,
}

#[chare]
impl Fib {
    #[entry]
    fn result(&mut self, cx: &mut Cx<Self>, value: u64) {
        self.sum += value;
        self.missing -= 1;
        if self.missing == 0 {
            self.tell();
            cx.end();
        }
    }

    fn tell(&self) {
        if let Some(parent) = self.parent {
            parent.result(self.sum);
        }
        if let Some(main) = self.asked {
            MainProxy::from(main).done(self.sum);
        }
    }

    fn new(
        cx: &mut Cx<Self>,
        n: u32,
        parent: Option<FibProxy>,
        asked: Option<raddle_chare::One<Main>>,
    ) -> Self {
        let mut fib = Self {
            parent,
            missing: 2,
            sum: u64::from(n),
            asked,
        };
        if n < 2 {
            fib.tell();
            cx.end();
        } else {
            fib.sum = 0;
            let this = cx.this();
            cx.chare(move |cx| Self::new(cx, n - 1, Some(this), None));
            cx.chare(move |cx| Self::new(cx, n - 2, Some(this), None));
        }
        fib
    }
}

/// Waits for a number.
struct Main;

#[chare]
impl Main {
    #[message]
    fn done(value: u64);

    #[entry]
    async fn fib(&mut self, cx: &mut Cx<Self>, n: u32) -> u64 {
        let this = cx.this();
        let one = raddle_chare::One::from(this);
        cx.chare(move |cx| Fib::new(cx, n, None, Some(one)));
        cx.next(Self::done).await
    }
}

#[test]
fn a_chare_for_each_call() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let main = runtime.chare(|_| Main);
        assert_eq!(main.fib(15).wait(), 610);
        assert_eq!(main.fib(10).wait(), 55);
    }
}
