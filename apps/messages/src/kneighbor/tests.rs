//! Every message arrives in its iteration with the bytes that were sent, on workers and on nodes.

use raddle::MailboxKind;
use raddle::chare::nodes::{Job, Progress};
use raddle::net::TransportKind;

use super::*;
use crate::common::runtime;

#[test]
fn all_messages_arrive_with_every_kind_of_mailbox() {
    for mailbox in MailboxKind::ALL {
        for workers in 1..=3 {
            let runtime = runtime(workers, mailbox);
            for (elements, k) in [(1, 1), (2, 1), (2, 3), (3, 2), (7, 3), (40, 5)] {
                let shape = Shape {
                    elements,
                    k,
                    bytes: 33,
                    touch: true,
                };
                let ring = KNeighbor::new(&runtime, shape);
                for iterations in [300, 1, 20] {
                    let exchange = ring.run(iterations).expect("nothing is lost");
                    assert_eq!(
                        exchange.messages,
                        shape.messages() * iterations,
                        "{shape:?}"
                    );
                }
            }
        }
    }
}

/// Runs `check` with a ring over nodes that are threads of this process.
fn over_nodes(job: Job, shape: Shape, check: impl FnOnce(&KNeighbor<'_>) + Send) {
    let ran = job.run_within(
        |setup| jobs::set_up(setup, shape),
        |runtime, of_nodes| check(&KNeighbor::over_nodes(runtime, shape, of_nodes)),
    );
    ran.expect("no node fails");
}

#[test]
fn all_messages_arrive_over_nodes_with_every_kind_of_progress() {
    for kind in [TransportKind::Memory, TransportKind::Sockets] {
        for progress in Progress::ALL {
            for (nodes, workers, elements, k) in [(1, 2, 2, 3), (2, 1, 2, 3), (3, 2, 7, 2)] {
                let shape = Shape {
                    elements,
                    k,
                    bytes: 16,
                    touch: true,
                };
                let builder = Runtime::builder().workers(workers);
                let job = Job::new(nodes).transport(kind).progress(progress);
                over_nodes(job.runtime(builder), shape, |ring| {
                    // Wire messages of one piece and of several.
                    for bytes in [16, 0, 3_000, 100_000] {
                        let exchange = ring.run_with(bytes, 20).expect("nothing is lost");
                        let expected = shape.messages() * 20;
                        assert_eq!(exchange.messages, expected, "{kind} {progress} {shape:?}");
                    }
                });
            }
        }
    }
}

#[test]
fn all_messages_arrive_in_every_variant() {
    let variants = [Buffers::Reused, Buffers::New, Buffers::NewLocked]
        .into_iter()
        .flat_map(|buffers| [false, true].map(|is_send_locked| (buffers, is_send_locked)))
        .flat_map(|(buffers, is_send_locked)| {
            let forms = [None].into_iter().chain(PrivateForm::ALL.map(Some));
            forms.map(move |private| Variant {
                buffers,
                is_send_locked,
                private,
            })
        });
    let runtime = runtime(2, MailboxKind::Locked);
    for variant in variants {
        for touch in [false, true] {
            let shape = Shape {
                elements: 7,
                k: 3,
                bytes: 16,
                touch,
            };
            let ring = KNeighbor::of_variant(&runtime, shape, variant);
            for bytes in [16, 0, 3_000] {
                let exchange = ring.run_with(bytes, 20).expect("nothing is lost");
                assert_eq!(exchange.messages, shape.messages() * 20, "{variant:?}");
            }
        }
    }
}

#[test]
fn private_variables_are_updated_for_each_message_sent_and_received() {
    let shape = Shape {
        elements: 7,
        k: 3,
        bytes: 16,
        touch: true,
    };
    for form in PrivateForm::ALL {
        let runtime = runtime(2, MailboxKind::LockFree);
        let variant = Variant {
            private: Some(form),
            ..Variant::default()
        };
        let extras = Extras::of(variant, &runtime).map(Arc::new);
        let ring = KNeighbor::with_extras(&runtime, shape, extras.clone(), |options| options);
        ring.run(50).expect("nothing is lost");
        // The workers drop their elements, which share the variables.
        drop(ring);
        drop(runtime);
        let extras = extras.and_then(Arc::into_inner);
        let sum = extras.expect("the elements are gone").private_sum();
        assert_eq!(sum, 2 * 4 * shape.messages() * (WARM_UP + 50), "{form:?}");
    }
}

#[test]
fn elements_that_allocate_keep_no_buffers() {
    let runtime = runtime(1, MailboxKind::LockFree);
    let variant = Variant {
        buffers: Buffers::New,
        ..Variant::default()
    };
    let shape = Shape {
        elements: 2,
        k: 3,
        bytes: 5,
        touch: true,
    };
    let extras = Extras::of(variant, &runtime).map(Arc::new);
    let mut element = Element::of(shape, extras);
    assert!(element.buffers.is_empty());
    element.keep(Box::from([1; 5]));
    assert!(element.buffers.is_empty());
    assert!(Extras::of(Variant::default(), &runtime).is_none());
}

#[test]
fn wrong_bytes_are_an_error_at_another_node() {
    let shape = Shape {
        elements: 2,
        k: 1,
        bytes: 8,
        touch: true,
    };
    over_nodes(Job::new(2), shape, |ring| {
        ring.ring.at(1).receive(0, vec![0, 1].into());
        let failure = ring.run(10).expect_err("the second byte is not zero");
        assert!(failure.to_string().contains("wrong bytes"), "{failure}");
    });
}

#[test]
fn the_list_of_buffers_holds_two_iterations_without_growing() {
    let mut element = Element::new(Shape {
        elements: 2,
        k: 3,
        bytes: 5,
        touch: false,
    });
    assert_eq!(element.buffers.len(), 6);
    assert!(element.buffers.iter().all(|buffer| buffer.len() == 5));
    let capacity = element.buffers.capacity();
    // The messages of neighbours that are one iteration ahead.
    for _ in 0..6 {
        element.buffers.push(Box::default());
    }
    assert_eq!(element.buffers.capacity(), capacity);
}

#[test]
fn a_message_that_arrives_too_early_is_an_error() {
    let runtime = runtime(1, MailboxKind::LockFree);
    let shape = Shape {
        elements: 3,
        k: 1,
        bytes: 8,
        touch: false,
    };
    let ring = KNeighbor::new(&runtime, shape);
    ring.ring.at(1).receive(2, Box::default());
    let failure = ring.run(10).expect_err("iteration 2 is too early");
    let text = failure.to_string();
    assert!(
        text.contains("iteration 2 arrived in iteration 0"),
        "{text}"
    );
}

#[test]
fn wrong_bytes_are_an_error() {
    let runtime = runtime(2, MailboxKind::LockFree);
    let shape = Shape {
        elements: 2,
        k: 1,
        bytes: 8,
        touch: true,
    };
    let ring = KNeighbor::new(&runtime, shape);
    ring.ring.at(1).receive(0, vec![0, 1].into());
    let failure = ring.run(10).expect_err("the second byte is not zero");
    assert!(failure.to_string().contains("wrong bytes"), "{failure}");
}

#[test]
fn the_memory_estimate_saturates_and_covers_all_messages() {
    let shape = Shape {
        elements: usize::MAX,
        k: 3,
        bytes: 7,
        touch: false,
    };
    assert_eq!(shape.memory_bytes(), u64::MAX);
    let shape = Shape {
        elements: 4,
        bytes: 1_000_000,
        ..shape
    };
    assert_eq!(shape.messages(), 24);
    assert!((24_000_000..24_100_000).contains(&shape.memory_bytes()));
}
