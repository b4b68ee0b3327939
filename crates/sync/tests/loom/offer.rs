//! Models of the offer: one side runs the job, and each side sees what the other has left.

use loom::sync::Arc;
use loom::thread;
use raddle_sync::offer::Offer;
use raddle_sync::prim::{AtomicBool, Relaxed, UnsafeCell};

struct Fork {
    offer: Offer,
    /// Models the pool, but orders nothing, so that the orderings of the offer must suffice.
    in_pool: AtomicBool,
    job: UnsafeCell<u32>,
    result: UnsafeCell<u32>,
}

// SAFETY: loom checks every access to the two cells.
unsafe impl Sync for Fork {}
// SAFETY: as above.
unsafe impl Send for Fork {}

/// Checks F1, F2 and F3: either the thief runs the job and the owner reads the result, or the owner
/// runs the job and the thief disposes of the cell.
#[test]
fn one_side_runs_the_job() {
    loom::model(|| {
        let fork = Arc::new(Fork {
            offer: Offer::new(),
            in_pool: AtomicBool::new(false),
            job: UnsafeCell::new(0),
            result: UnsafeCell::new(0),
        });
        let thief = {
            let fork = Arc::clone(&fork);
            thread::spawn(move || {
                // Relaxed: see the field.
                if !fork.in_pool.load(Relaxed) {
                    return;
                }
                if fork.offer.try_take() {
                    let job = fork.job.with(|job| unsafe { *job });
                    fork.result.with_mut(|result| unsafe { *result = job + 1 });
                    fork.offer.finish();
                } else {
                    // Writing models the disposal of the cell.
                    fork.job.with_mut(|job| unsafe { *job = 0 });
                }
            })
        };
        fork.job.with_mut(|job| unsafe { *job = 6 });
        fork.offer.offer();
        // Relaxed: see the field.
        fork.in_pool.store(true, Relaxed);
        // The owner's last access to the cell comes before it takes the offer back.
        assert_eq!(fork.job.with(|job| unsafe { *job }), 6);
        if !fork.offer.try_reclaim() {
            while !fork.offer.is_done() {
                thread::yield_now();
            }
            assert_eq!(fork.result.with(|result| unsafe { *result }), 7);
        }
        thief.join().expect("no panic");
    });
}
