//! Models of the flag: of a thread that makes something and one that changes so that it no longer concerns
//! it, one sees the other.

#![cfg(loom)]

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use raddle_sync::ever::Ever;
use raddle_sync::prim::{AtomicBool, Relaxed};

#[test]
fn one_sees_the_other() {
    loom::model(|| {
        let shared = Arc::new((Ever::new(), AtomicBool::new(false)));
        let maker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (ever, is_gone) = &*shared;
                ever.note();
                // Relaxed: the fences of the flag order it.
                is_gone.load(Relaxed)
            })
        };
        let (ever, is_gone) = &*shared;
        // Relaxed: as above.
        is_gone.store(true, Relaxed);
        let was_noted = ever.was_noted();
        let was_gone = maker.join().expect("no panic");
        assert!(was_noted || was_gone);
    });
}

/// E2: of two that make something at once, the second may save the fence, and sees what the first saw.
#[test]
fn each_of_two_makers_sees_what_it_must() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let shared = Arc::new((Ever::new(), AtomicBool::new(false)));
        let makers: Vec<_> = (0..2)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (ever, is_gone) = &*shared;
                    ever.note();
                    // Relaxed: as above.
                    is_gone.load(Relaxed)
                })
            })
            .collect();
        let (ever, is_gone) = &*shared;
        // Relaxed: as above.
        is_gone.store(true, Relaxed);
        let was_noted = ever.was_noted();
        for maker in makers {
            let was_gone = maker.join().expect("no panic");
            assert!(was_noted || was_gone);
        }
    });
}
