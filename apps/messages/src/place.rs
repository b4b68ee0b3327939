//! Chares on given workers.

use std::sync::mpsc;

use raddle::chare::{Chare, Cx};
use raddle::{Chares, Runtime};

/// Seeds go to one worker after the other and may be stolen: more than this without coming to a given one is no chance.
const TRIES_MAX: usize = 100_000;

/// Makes a chare that is in no array, on worker `worker`.
///
/// Where a chare comes up is for the runtime to decide. So `make` makes one after the other until one of them is there; those elsewhere
/// end at once. Cost: some messages for each worker.
///
/// # Panics
/// When there is no such worker, when `make` panics, and when of a hundred thousand none is there.
pub fn chare_on<T: Chare>(
    runtime: &Runtime,
    worker: usize,
    make: impl Fn() -> T + Clone + Send + 'static,
) -> T::One {
    let worker_count = runtime.worker_count();
    assert!(
        worker < worker_count,
        "there is no worker {worker}: there are {worker_count}"
    );
    for _ in 0..TRIES_MAX {
        let (tell, told) = mpsc::channel();
        let make = make.clone();
        let chare = runtime.chare(move |cx: &mut Cx<T>| {
            let chare = make();
            let is_there = cx.worker() == worker;
            if !is_there {
                cx.end();
            }
            // Whoever made it waits; if not, nobody needs to know.
            let _unheard = tell.send(is_there);
            chare
        });
        if told.recv().expect("the constructor comes to its end") {
            return chare;
        }
    }
    panic!("no {} of {TRIES_MAX} came up on worker {worker}", T::NAME);
}

#[cfg(test)]
mod tests {
    use raddle::chare;

    use super::*;

    struct Sitter;

    #[chare]
    impl Sitter {
        #[entry]
        fn place(&self, cx: &mut Cx<Self>) -> usize {
            cx.worker()
        }
    }

    #[test]
    fn a_chare_comes_up_where_it_is_wanted() {
        for workers in 1..=3 {
            let runtime = Runtime::builder()
                .workers(workers)
                .build()
                .expect("it comes up");
            for worker in (0..workers).rev() {
                let sitter = chare_on(&runtime, worker, || Sitter);
                assert_eq!(sitter.place().wait(), worker);
            }
        }
    }
}
