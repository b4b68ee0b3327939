//! Elements of node groups, which belong to no worker. Regressions: a panic in the destructor of
//! such an element propagated out of the end of the runtime, and a migration request failed with an
//! unclear message.

use raddle_chare::{Chares, Cx, chare};

use crate::bomb::Bomb;
use crate::common::runtime;
use crate::soon::soon;

struct Shared {
    _bomb: Option<Bomb>,
}

#[chare]
impl Shared {
    #[message]
    fn go();

    #[entry]
    fn receive(&mut self) {}
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
        shared.here().receive();
        runtime.quiescence().wait();
        drop(runtime);
    });
}

#[test]
fn panicking_destructors_of_pending_elements_and_messages_stay_within_the_runtime() {
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
fn a_migration_request_of_a_node_group_element_is_refused_with_a_reason() {
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
