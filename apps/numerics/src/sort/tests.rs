//! Tests that need private items: the notes add up, and hard inputs need few comparisons.

use std::sync::Mutex;

use super::*;
use crate::common::runtime;

fn random_items(len: usize, seed: u64) -> Vec<i32> {
    let mut items = vec![0; len];
    random::fill(&mut items, seed);
    items
}

#[track_caller]
fn check_notes(sort: impl Fn(&mut [i32], usize, &(dyn Fn(usize) + Sync))) {
    for (len, cutoff) in [(0, 10), (1, 10), (10, 10), (11, 10), (5_000, 1), (5_000, 0)] {
        let mut items = random_items(len, 3);
        let notes = Mutex::new(Vec::new());
        sort(&mut items, cutoff, &|settled| {
            notes.lock().expect("no panic here").push(settled);
        });
        assert!(items.is_sorted());
        let notes = notes.into_inner().expect("no panic here");
        assert_eq!(notes.iter().sum::<usize>(), len, "{len} items");
    }
}

#[test]
fn the_notes_add_up_to_all_items() {
    check_notes(|items, cutoff, note| sort_with(items, cutoff, note));
    check_notes(|items, cutoff, note| sort_tasks(items, cutoff, note));
}

#[test]
fn a_pool_task_sorts_each_part() {
    let runtime = runtime(1);
    let mut items = random_items(100_000, 1);
    let tasks = Mutex::new(0_u64);
    let before = runtime.report().total.tasks;
    runtime.install(|| {
        sort_tasks(&mut items, CUTOFF, |_| {
            *tasks.lock().expect("no panic here") += 1;
        });
    });
    let ran = runtime.report().total.tasks - before;
    let noted = tasks.into_inner().expect("no panic here");
    // The call from outside is also a task of the runtime.
    assert!(
        noted > 100 && (noted..=noted + 1).contains(&ran),
        "{noted} noted, {ran} ran"
    );
}

// Hard inputs stay below a fixed number of comparisons.
#[test]
fn no_input_takes_more_than_a_few_comparisons_per_item_and_level() {
    use std::cell::Cell;
    use std::cmp::Ordering;

    thread_local! {
        static COMPARED: Cell<u64> = const { Cell::new(0) };
    }
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Counted(i64);
    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARED.with(|compared| compared.set(compared.get() + 1));
            self.0.cmp(&other.0)
        }
    }
    const LEN: i64 = 1 << 15;
    type Input = (&'static str, fn(i64) -> i64);
    let inputs: [Input; 8] = [
        ("random", |index| random::number(1, index as u64) as i64),
        ("sorted", |index| index),
        ("reversed", |index| -index),
        ("equal", |_| 7),
        ("two values", |index| {
            random::number(1, index as u64) as i64 & 1
        }),
        ("few values", |index| index * index % 23),
        ("organ pipe", |index| index.min(LEN - index)),
        ("saw", |index| index % 181),
    ];
    for (name, value) in inputs {
        let mut items: Vec<Counted> = (0..LEN).map(|index| Counted(value(index))).collect();
        COMPARED.set(0);
        sort_sequential(&mut items);
        assert!(items.is_sorted(), "{name}");
        let per_item = COMPARED.get() as f64 / LEN as f64;
        // There are fifteen levels, and a leaf compares each item with sixteen lanes.
        assert!(per_item < 50.0, "{name}: {per_item} comparisons per item");
    }
}

// M. D. McIlroy's opponent chooses the value of an item only when it is compared, and always so
// that the pivot is bad.
#[test]
fn an_opponent_that_sees_every_comparison_does_not_make_it_quadratic() {
    use std::cell::RefCell;
    use std::cmp::Ordering;

    struct Opponent {
        values: Vec<Option<u32>>,
        frozen: u32,
        candidate: u32,
        compared: u64,
    }
    thread_local! {
        static OPPONENT: RefCell<Opponent> = const {
            RefCell::new(Opponent { values: Vec::new(), frozen: 0, candidate: 0, compared: 0 })
        };
    }
    impl Opponent {
        fn freeze(&mut self, item: u32) {
            self.values[item as usize] = Some(self.frozen);
            self.frozen += 1;
        }

        fn compare(&mut self, a: u32, b: u32) -> Ordering {
            self.compared += 1;
            let unknown = |opponent: &Self, item: u32| opponent.values[item as usize].is_none();
            if a != b && unknown(self, a) && unknown(self, b) {
                self.freeze(if a == self.candidate { a } else { b });
            }
            for item in [a, b] {
                if unknown(self, item) {
                    self.candidate = item;
                }
            }
            // An item that is not frozen is larger than all frozen items.
            let value = |item: u32| self.values[item as usize].unwrap_or(u32::MAX);
            value(a).cmp(&value(b))
        }
    }
    #[derive(Clone, Copy, PartialEq, Eq)]
    struct Gas(u32);
    impl PartialOrd for Gas {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Gas {
        fn cmp(&self, other: &Self) -> Ordering {
            OPPONENT.with_borrow_mut(|opponent| opponent.compare(self.0, other.0))
        }
    }
    const LEN: u32 = 1 << 14;
    OPPONENT.with_borrow_mut(|opponent| opponent.values = vec![None; LEN as usize]);
    let mut items: Vec<Gas> = (0..LEN).map(Gas).collect();
    sort_sequential(&mut items);
    assert!(items.is_sorted());
    let per_item = OPPONENT.with_borrow(|opponent| opponent.compared) / u64::from(LEN);
    // Without the limit of splits, a quicksort takes hundreds of comparisons per item at this
    // length, and twice as many at twice the length.
    assert!(per_item < 150, "{per_item} comparisons per item");
}
