//! A model of the flag: of who makes something and who changes so that it no longer concerns him, one sees the other.

#![cfg(loom)]

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
