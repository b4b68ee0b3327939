//! Keys with unusual `Hash` and `Eq` implementations. Regression: both were called under the lock
//! of the keys of the array. An implementation that accessed the array deadlocked, and one that
//! panicked made the array unusable.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::catch_unwind;
use std::sync::OnceLock;

use raddle_chare::{Array, Chares, chare};

use crate::common::runtime;
use crate::soon::soon;

thread_local! {
    static NEXT: Cell<Deed> = const { Cell::new(Deed::Nothing) };
}

static ARRAY: OnceLock<Array<Element>> = OnceLock::new();

#[derive(Clone, Copy, Debug)]
enum Deed {
    Nothing,
    Panic,
    Look,
    PutIn,
}

impl Deed {
    fn is_done() {
        let array = ARRAY.get().copied();
        match NEXT.replace(Self::Nothing) {
            Self::Nothing => {}
            Self::Panic => panic!("a key"),
            Self::Look => assert!(array.is_some_and(|array| array.get(Wild(1)).is_some())),
            Self::PutIn => {
                if let Some(array) = array {
                    array.insert(Wild(7), |_| Element);
                }
            }
        }
    }
}

/// A key type with the same hash for all values.
#[derive(Clone, Copy, Debug)]
struct Wild(u32);

impl PartialEq for Wild {
    fn eq(&self, other: &Self) -> bool {
        Deed::is_done();
        self.0 == other.0
    }
}

impl Eq for Wild {}

impl Hash for Wild {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        if self.0 % 2 == 1 {
            Deed::is_done();
        }
        1.hash(hasher);
    }
}

struct Element;

#[chare(index = Wild)]
impl Element {
    #[entry]
    fn receive(&mut self) -> u32 {
        1
    }
}

struct Looker;

#[chare]
impl Looker {
    #[entry]
    fn look(&mut self, deed: Deed, key: u32) -> bool {
        let array = *ARRAY.get().expect("it is made");
        NEXT.set(deed);
        let found = array.get(Wild(key)).is_some();
        NEXT.set(Deed::Nothing);
        found
    }
}

#[test]
fn keys_may_access_their_array_and_panic() {
    soon(|| {
        let runtime = runtime(2);
        let array = *ARRAY.get_or_init(|| runtime.sparse_array());
        for key in 1..=4 {
            array.insert(Wild(key), |_| Element);
        }
        runtime.quiescence().wait();
        for key in [1, 2] {
            NEXT.set(Deed::Panic);
            assert!(catch_unwind(|| array.get(Wild(key))).is_err());
            assert!(array.get(Wild(key)).is_some());
            NEXT.set(Deed::Look);
            assert!(array.get(Wild(key)).is_some());
        }
        let looker = runtime.chare_on(0, |_| Looker);
        for _ in 0..2 {
            for key in [1, 2, 3, 4] {
                assert!(looker.look(Deed::Look, key).wait());
            }
        }
        // The comparison of the key inserts the same key.
        NEXT.set(Deed::PutIn);
        assert!(catch_unwind(|| array.insert(Wild(7), |_| Element)).is_err());
        for key in [1, 2, 3, 4, 7] {
            assert_eq!(array.at(Wild(key)).receive().wait(), 1);
            array.remove(Wild(key));
        }
        runtime.quiescence().wait();
        assert!(
            [1, 2, 3, 4, 7]
                .iter()
                .all(|&key| array.get(Wild(key)).is_none())
        );
    });
}
