//! Typical uses of chares, arrays, replies, reductions and asynchronous entries.

use raddle_chare::reduce::Sum;
use raddle_chare::{Chares, Cx, chare};

use crate::common::runtime;

/// Adds up the numbers that it receives.
#[derive(Debug)]
struct Cell {
    value: f64,
    received: u32,
}

#[chare]
impl Cell {
    #[entry]
    fn receive(&mut self, cx: &mut Cx<Self>, neighbour: f64) {
        self.value += neighbour;
        self.received += 1;
        if self.received == 2 {
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
            array.at(9).receive(f64::from(count) + index as f64 * 0.0);
        });
    }
}

#[test]
fn elements_receive_and_contribute() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let cells = runtime.array(10, |index| Cell {
            value: index as f64,
            received: 0,
        });
        for index in 0..10 {
            cells.at(index).receive(0.5);
        }
        cells.all().receive(1.0);
        let total: f64 = cells.reduction().wait();
        assert_eq!(total, 45.0 + 15.0);
        assert_eq!(cells.at(3).value().wait(), 4.5);
        cells.all().count();
        runtime.quiescence().wait();
        assert_eq!(cells.at(9).value().wait(), 9.0 + 1.5 + 10.0);
    }
}

#[test]
fn a_panic_fails_the_reduction_with_the_name_of_the_chare() {
    let runtime = runtime(2);
    let cells = runtime.array(3, |_| Cell {
        value: 7.0,
        received: 0,
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

/// Computes Fibonacci numbers with one chare per call.
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
fn recursion_creates_one_chare_per_call() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let main = runtime.chare(|_| Main);
        assert_eq!(main.fib(15).wait(), 610);
        assert_eq!(main.fib(10).wait(), 55);
    }
}

/// An element of a three-dimensional grid.
struct Voxel;

#[chare(index = [usize; 3])]
impl Voxel {
    #[entry]
    fn place(&mut self, cx: &mut Cx<Self>) -> [usize; 3] {
        cx.index()
    }

    #[entry]
    fn neighbours(&mut self, cx: &mut Cx<Self>) {
        let [x, y, z] = cx.index();
        let array = cx.array();
        let around = [[x + 1, y, z], [x, y + 1, z], [x, y, z + 1]];
        let count = around.iter().filter(|&&place| array.get(place).is_some());
        cx.contribute(Sum(count.count()));
    }
}

#[test]
fn grids_may_have_several_dimensions() {
    for workers in 1..=4 {
        let runtime = runtime(workers);
        let voxels = runtime.array([3, 4, 5], |_| Voxel);
        assert_eq!(voxels.at([2, 3, 4]).place().wait(), [2, 3, 4]);
        assert!(voxels.get([2, 4, 0]).is_none());
        voxels.all().neighbours();
        let faces: usize = voxels.reduction().wait();
        assert_eq!(faces, 2 * 4 * 5 + 3 * 3 * 5 + 3 * 4 * 4);
    }
}

/// Counts down and then ends the program.
struct Bomb;

#[chare]
impl Bomb {
    #[entry]
    fn tick(&mut self, cx: &mut Cx<Self>, left: u32) {
        match left {
            0 => cx.exit(),
            _ => cx.this().tick(left - 1),
        }
    }

    #[entry]
    fn fail(&mut self) {
        panic!("too early");
    }
}

#[test]
fn an_entry_ends_the_program() {
    let runtime = runtime(2);
    let bomb = runtime.chare(|_| Bomb);
    bomb.tick(100);
    runtime.until_exit();
}

#[test]
#[should_panic(expected = "a Bomb panicked in `fail`: too early")]
fn waiting_for_the_exit_reports_a_panic() {
    let runtime = runtime(2);
    runtime.chare(|_| Bomb).fail();
    runtime.until_exit();
}

/// A chare that is generic over its value.
struct Holder<T> {
    held: Vec<T>,
}

#[chare]
impl<T: Clone + Send + 'static> Holder<T> {
    #[entry]
    fn hold(&mut self, what: T) {
        self.held.push(what);
    }

    #[entry]
    fn held(&self) -> Vec<T> {
        self.held.clone()
    }

    #[message]
    fn late(what: T);

    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) -> Vec<T> {
        let late = cx.next(Self::late).await;
        self.held.push(late);
        self.held.clone()
    }
}

#[test]
fn chares_may_have_type_parameters() {
    let runtime = runtime(2);
    let words = runtime.array(2, |_| Holder::<String> { held: Vec::new() });
    let numbers = runtime.array(2, |_| Holder::<u8> { held: Vec::new() });
    words.all().hold("a".to_owned());
    numbers.at(1).hold(7);
    assert_eq!(words.at(1).held().wait(), ["a"]);
    let waiting = numbers.at(1).wait();
    numbers.at(1).late(8);
    assert_eq!(waiting.wait(), [7, 8]);
}
