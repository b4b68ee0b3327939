//! Regression: an ended element was still in its array when a reduction no longer counted it.
//!
//! The worker first made the root expect one contribution less, and only then removed the index
//! from the table. A program that inserted a new element at this index after it had received the
//! result of the root sometimes panicked with "is there already".

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::thread::sleep;
use std::time::Duration;

use raddle_chare::reduce::Count;
use raddle_chare::{Chares, Cx, chare};
use raddle_sync::prim::{AtomicBool, Ordering::SeqCst};

use crate::common::runtime;
use crate::soon::soon;

/// True once the program has a result that does not count the ended element.
static IS_COUNTED_OUT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True on a worker while it ends an element.
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
}

/// A key with a hash that takes long while its element ends: until the program has the result, or
/// until it is clear that the result waits for the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name(usize);

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if IS_ENDING.take() {
            for _ in 0..200 {
                if IS_COUNTED_OUT.load(SeqCst) {
                    break;
                }
                sleep(Duration::from_millis(1));
            }
        }
        self.0.hash(state);
    }
}

struct Voter;

#[chare(index = Name)]
impl Voter {
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Count::one());
    }

    #[entry]
    fn vote_and_end(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Count::one());
        cx.end();
        IS_ENDING.set(true);
    }
}

#[test]
fn an_index_is_free_once_a_result_does_not_count_its_element() {
    for ended in [0, 1] {
        IS_COUNTED_OUT.store(false, SeqCst);
        soon(move || {
            let runtime = runtime(2);
            let voters = runtime.sparse_array::<Voter>();
            for on in [0, 1] {
                voters.insert_on(on, Name(on), |_| Voter);
            }
            runtime.quiescence().wait();
            voters.at(Name(1 - ended)).vote();
            voters.at(Name(ended)).vote_and_end();
            assert_eq!(voters.reduction::<u64>().wait(), 2);
            voters.all().vote();
            assert_eq!(voters.reduction::<u64>().wait(), 1);
            IS_COUNTED_OUT.store(true, SeqCst);
            voters.insert(Name(ended), |_| Voter);
            voters.all().vote();
            assert_eq!(voters.reduction::<u64>().wait(), 2);
        });
    }
}
