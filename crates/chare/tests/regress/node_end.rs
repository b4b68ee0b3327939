//! Elements of node groups, where others are on a worker: a destructor that panicked came out of the end of the runtime, and one that asked to be
//! moved was told nothing that it could understand.

use raddle_chare::{Chares, Cx, chare};

use crate::common::{runtime, soon};

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a destructor");
        }
    }
}

struct Shared {
    _bomb: Option<Bomb>,
}

#[chare]
impl Shared {
    #[message]
    fn go();

    #[entry]
    fn hear(&mut self) {}
    #[entry]
    fn take(&mut self, _bomb: Bomb) {}
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) {
        cx.next(Self::go).await;
    }
    #[entry]
    fn move_on(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.migrate_to(0);
        1
    }
}

#[test]
fn a_destructor_that_panics_stays_within_the_runtime() {
    soon(|| {
        let runtime = runtime(2);
        let shared = runtime.node_group(|_| Shared { _bomb: Some(Bomb) });
        shared.here().hear();
        runtime.quiescence().wait();
        drop(runtime);
    });
}

#[test]
fn so_do_those_of_an_element_that_was_never_made_and_of_messages_that_wait() {
    soon(|| {
        let runtime = runtime(2);
        let bomb = Bomb;
        let _ = runtime.node_group(move |_| Shared { _bomb: Some(bomb) });
        let shared = runtime.node_group(|_| Shared { _bomb: None });
        shared.here().wait();
        shared.here().take(Bomb);
        shared.here().take(Bomb);
        runtime.quiescence().wait();
        drop(runtime);
    });
}

#[test]
fn an_element_that_would_move_is_told_why_it_cannot() {
    let failure = soon(|| {
        let runtime = runtime(2);
        let moved = runtime
            .node_group(|_| Shared { _bomb: None })
            .here()
            .move_on();
        moved.try_wait().expect_err("it stays")
    });
    assert!(
        failure
            .to_string()
            .contains("elements of a group stay where they are"),
        "{failure}"
    );
}
