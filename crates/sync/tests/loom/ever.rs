//! Models of the flag. One thread makes something, and another one changes so that it is no longer
//! concerned. At least one of the two sees the other.

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

/// Checks E2: if two threads make something at once, the second may skip the fence, and sees what
/// the fence of the first has shown.
#[test]
fn each_of_two_makers_or_the_changing_thread_sees_the_other() {
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
