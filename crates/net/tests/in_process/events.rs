//! A port in an event loop: as a future, and by a file descriptor.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use raddle_net::{
    Flags, Message, NetError, Node, NodeId, Port, PortId, SendError, Shape, TransportKind,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

const PAIR: Shape = Shape { nodes: 2, ports: 1 };
const FIRST: PortId = PortId {
    node: NodeId(0),
    index: 0,
};

/// Wakes a thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn pair(kind: TransportKind) -> [Node; 2] {
    let nodes = Node::in_process_by(kind, PAIR).expect("memory");
    nodes.try_into().expect("two nodes")
}

fn ring(port: &mut Port, number: u32) {
    let message = Message {
        flags: Flags {
            doorbell: true,
            cache_hint: false,
        },
        user: number,
        metadata: b"",
    };
    // The receiver may be slow.
    while let Err(error) = port.send(FIRST, message, b"") {
        assert_eq!(error, SendError::Full);
        thread::yield_now();
    }
}

/// Takes all messages that are there, and appends their numbers.
fn take(port: &mut Port, numbers: &mut Vec<u32>) {
    while port
        .poll(|arrival| numbers.push(arrival.message.user))
        .expect("no node ends")
        > 0
    {}
}

fn is_readable(port: &mut Port, time: Duration) -> bool {
    let event = port.event().expect("a descriptor");
    let mut fds = [PollFd::new(&event, PollFlags::IN)];
    let time = Timespec::try_from(time).expect("a short time");
    poll(&mut fds, Some(&time)).expect("poll(2) works") == 1
}

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_future_waits_for_messages() {
    for &kind in TransportKind::WITHIN {
        let [first, second] = pair(kind);
        let mut receiver = first.port(0);
        let sender = thread::spawn(move || {
            let mut port = second.port(0);
            for number in 0..200 {
                if number % 20 == 0 {
                    thread::sleep(SHORT);
                }
                ring(&mut port, number);
            }
            // The node ends with this thread.
            second
        });
        let mut numbers = Vec::new();
        while numbers.len() < 200 {
            block_on(receiver.arrived()).expect("a thread");
            take(&mut receiver, &mut numbers);
        }
        assert!(numbers.iter().copied().eq(0..200), "{kind}");
        drop(sender.join().expect("the sender does not panic"));
        // The end of a node is news as well.
        block_on(receiver.arrived()).expect("a thread");
        let ended = receiver.poll(|_| ());
        assert!(
            matches!(ended, Err(NetError::Left(NodeId(1)))),
            "{kind}: {ended:?}"
        );
    }
}

#[test]
fn the_event_becomes_readable_once_after_each_arming() {
    for &kind in TransportKind::WITHIN {
        let [first, second] = pair(kind);
        let (mut receiver, mut sender) = (first.port(0), second.port(0));
        let mut numbers = Vec::new();
        assert!(!receiver.arm().expect("a thread"));
        assert!(!is_readable(&mut receiver, SHORT), "{kind}");
        for number in 0..20 {
            ring(&mut sender, number);
            assert!(is_readable(&mut receiver, LONG), "{kind}");
            take(&mut receiver, &mut numbers);
            assert!(!receiver.arm().expect("a thread"), "{kind}");
            assert!(!is_readable(&mut receiver, Duration::ZERO), "{kind}");
        }
        assert!(numbers.iter().copied().eq(0..20), "{kind}");
        // With news at once, the event is not needed.
        ring(&mut sender, 20);
        assert!(is_readable(&mut receiver, LONG));
        assert!(receiver.arm().expect("a thread"), "{kind}");
        assert!(!is_readable(&mut receiver, SHORT), "{kind}");
    }
}

#[test]
fn a_dropped_future_leaves_the_port_usable() {
    for &kind in TransportKind::WITHIN {
        let [first, second] = pair(kind);
        let (mut receiver, mut sender) = (first.port(0), second.port(0));
        let mut numbers = Vec::new();
        for number in 0..50 {
            {
                let mut context = Context::from_waker(Waker::noop());
                let mut arrived = pin!(receiver.arrived());
                assert!(arrived.as_mut().poll(&mut context).is_pending());
                // Polled again without a change.
                assert!(arrived.as_mut().poll(&mut context).is_pending());
            }
            match number % 3 {
                // The thread of the port takes the cell back.
                0 => {
                    thread::scope(|scope| {
                        scope.spawn(|| {
                            thread::sleep(SHORT / 8);
                            ring(&mut sender, number);
                        });
                        while numbers.len() <= number as usize {
                            receiver.wait();
                            take(&mut receiver, &mut numbers);
                        }
                    });
                }
                // A message comes, and the next future sees it.
                1 => {
                    ring(&mut sender, number);
                    block_on(receiver.arrived()).expect("a thread");
                }
                // The port is armed with an old view.
                _ => {
                    ring(&mut sender, number);
                    while numbers.len() <= number as usize {
                        take(&mut receiver, &mut numbers);
                    }
                    assert!(!receiver.arm().expect("a thread"));
                }
            }
            while numbers.len() <= number as usize {
                take(&mut receiver, &mut numbers);
            }
        }
        assert!(numbers.iter().copied().eq(0..50), "{kind}");
    }
}

#[test]
fn a_port_that_is_dropped_while_it_is_armed_ends_its_thread() {
    for &kind in TransportKind::WITHIN {
        let [first, second] = pair(kind);
        let mut receiver = first.port(0);
        assert!(!receiver.arm().expect("a thread"));
        drop(receiver);
        drop((first, second));
    }
}

/// A waker that panics.
struct Fails;

impl Wake for Fails {
    fn wake(self: Arc<Self>) {
        std::panic::resume_unwind(Box::new("a waker"));
    }
}

#[test]
fn a_waker_that_panics_leaves_the_port_usable() {
    for &kind in TransportKind::WITHIN {
        let [first, second] = pair(kind);
        let (mut receiver, mut sender) = (first.port(0), second.port(0));
        let mut numbers = Vec::new();
        for number in 0..3 {
            let waker = Waker::from(Arc::new(Fails));
            {
                let mut arrived = pin!(receiver.arrived());
                let polled = arrived.as_mut().poll(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
            }
            ring(&mut sender, number);
            block_on(receiver.arrived()).expect("a thread");
            take(&mut receiver, &mut numbers);
        }
        assert_eq!(numbers, [0, 1, 2], "{kind}");
    }
}

/// Checks that the event is unreadable after a call that says that there is news, even if the
/// thread of the port notices the same news at that moment.
#[test]
fn the_event_stays_unreadable_if_there_is_news_already() {
    for &kind in TransportKind::WITHIN {
        let [first, second] = pair(kind);
        let (mut receiver, mut sender) = (first.port(0), second.port(0));
        let mut numbers = Vec::new();
        for number in 0..200 {
            assert!(!receiver.arm().expect("a thread"), "{kind}");
            ring(&mut sender, number);
            while !receiver.arm().expect("a thread") {
                thread::yield_now();
            }
            assert!(!is_readable(&mut receiver, Duration::ZERO), "{kind}");
            while numbers.len() <= number as usize {
                take(&mut receiver, &mut numbers);
            }
        }
    }
}
