//! Every message comes, in its iteration, with the bytes that were sent, whoever has the elements.

use raddle::MailboxKind;
use raddle::chare::nodes::{Job, Progress};
use raddle::net::TransportKind;

use super::*;

fn runtime(workers: usize, mailbox: MailboxKind) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .mailbox(mailbox)
        .build()
        .expect("it comes up")
}

#[test]
fn all_messages_come_whatever_the_mailboxes_are() {
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
        |runtime, ring| {
            check(&KNeighbor {
                runtime,
                shape,
                ring,
            });
        },
    );
    ran.expect("all nodes agree");
}

#[test]
fn all_messages_come_over_nodes_whoever_receives() {
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
                    // Letters of one piece and of several.
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
fn bytes_that_nobody_sent_are_found_out_at_another_node() {
    let shape = Shape {
        elements: 2,
        k: 1,
        bytes: 8,
        touch: true,
    };
    over_nodes(Job::new(2), shape, |ring| {
        ring.ring.at(1).hear(0, vec![0, 1].into());
        let failure = ring.run(10).expect_err("the second byte is no zero");
        assert!(failure.to_string().contains("nobody sent"), "{failure}");
    });
}

#[test]
fn buffers_go_round_and_stay_as_many() {
    let mut element = Element::new(Shape {
        elements: 2,
        k: 3,
        bytes: 5,
        touch: false,
    });
    assert_eq!(element.buffers.len(), 6);
    assert!(element.buffers.iter().all(|buffer| buffer.len() == 5));
    let room = element.buffers.capacity();
    // Those of a neighbour that is one iteration ahead.
    for _ in 0..6 {
        element.buffers.push(Box::default());
    }
    assert_eq!(element.buffers.capacity(), room);
}

#[test]
fn a_message_that_comes_too_early_is_found_out() {
    let runtime = runtime(1, MailboxKind::LockFree);
    let shape = Shape {
        elements: 3,
        k: 1,
        bytes: 8,
        touch: false,
    };
    let ring = KNeighbor::new(&runtime, shape);
    ring.ring.at(1).hear(2, Box::default());
    let failure = ring.run(10).expect_err("iteration 2 is too early");
    let text = failure.to_string();
    assert!(text.contains("iteration 2 came in iteration 0"), "{text}");
}

#[test]
fn bytes_that_nobody_sent_are_found_out() {
    let runtime = runtime(2, MailboxKind::LockFree);
    let shape = Shape {
        elements: 2,
        k: 1,
        bytes: 8,
        touch: true,
    };
    let ring = KNeighbor::new(&runtime, shape);
    ring.ring.at(1).hear(0, vec![0, 1].into());
    let failure = ring.run(10).expect_err("the second byte is no zero");
    assert!(failure.to_string().contains("nobody sent"), "{failure}");
}

#[test]
fn sizes_are_told_before_anything_is_made() {
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
