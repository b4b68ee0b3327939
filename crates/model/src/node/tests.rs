//! The fixed point against its own equations, and what it does not hold for.

use super::*;
use crate::speed::SpeedCurve;

const NODE: Node = Node {
    renderers: 3,
    render: Nanoseconds(11_777.541_714),
    handle: Nanoseconds(768.311_031),
    port: Nanoseconds(3_408.0),
    round_trip: Nanoseconds(4_314.0),
    others: Rate(0.0),
    waits: Waits::Notified,
    queues: Queues::Open,
};

fn speeds(threads: usize) -> Vec<Speed> {
    SpeedCurve::fitted(3.20, 2.67)
        .unwrap()
        .up_to(threads)
        .unwrap()
}

#[test]
fn the_cycle_satisfies_the_equation_that_it_is_the_root_of() {
    for others in [0.0, 1e-5, 6e-4] {
        let node = Node {
            others: Rate(others),
            ..NODE
        };
        let found = node.solve(&speeds(4)).unwrap();
        let open = crate::queue::Queue::new(found.arrivals, found.service).unwrap();
        let off = (node.round_trip + open.response() - found.miss).0;
        assert!(off.abs() < 1e-6, "{others}: {off}");
        let idle = (found.arrivals + node.others).interval() - found.handle;
        assert!((idle - found.idle).0.abs() < 1e-9);
    }
}

#[test]
fn others_slow_everything_down() {
    let cycle = |others| {
        let node = Node {
            others: Rate(others),
            ..NODE
        };
        node.solve(&speeds(4)).unwrap().cycle
    };
    // As long as the bytes limit the handler, others only take speed from renderers.
    assert!(cycle(0.0) < cycle(1e-5) && cycle(1e-5) < cycle(7e-4));
}

#[test]
fn others_beyond_what_is_served_are_refused() {
    let node = Node {
        others: Rate(1.0 / 700.0),
        ..NODE
    };
    let error = node.solve(&speeds(4)).unwrap_err().to_string();
    assert!(error.contains("tracer.other_requests_per_us"), "{error}");
    assert!(error.contains("below 1.301556"), "{error}");
}

#[test]
fn a_handler_that_polls_costs_renderers_speed() {
    let of = |waits| {
        let node = Node { waits, ..NODE };
        node.solve(&speeds(4)).unwrap().occupancy
    };
    let [notified, handler, all] = Waits::ALL.map(of);
    assert!(notified.renderer_speed > handler.renderer_speed);
    assert!(handler.renderer_speed > all.renderer_speed);
    assert_eq!(all.renderer_speed, speeds(4)[4]);
    assert!((handler.handler_share() - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_no_node_is_refused() {
    let told = |node: Node| node.solve(&speeds(4)).unwrap_err().to_string();
    assert!(
        told(Node {
            renderers: 0,
            ..NODE
        })
        .contains("renderers")
    );
    assert!(
        told(Node {
            render: Nanoseconds(0.0),
            ..NODE
        })
        .contains("T_r")
    );
    assert!(
        told(Node {
            handle: Nanoseconds(-1.0),
            ..NODE
        })
        .contains("T_h")
    );
    assert!(
        told(Node {
            port: Nanoseconds(f64::NAN),
            ..NODE
        })
        .contains("b is NaN")
    );
    assert!(
        told(Node {
            round_trip: Nanoseconds(-1.0),
            ..NODE
        })
        .contains("l is -1")
    );
    assert!(NODE.solve(&speeds(3)).is_err());
}

/// A fixed point was missed by a few last digits of a long cycle, and called none, since it was looked for to 10⁻⁹ ns whatever the cycle.
#[test]
fn a_long_cycle_is_found_to_its_last_digits() {
    for handle in [1e3, 1e6, 1e8] {
        let node = Node {
            renderers: 7,
            handle: Nanoseconds(handle),
            ..NODE
        };
        assert!(node.solve(&speeds(8)).unwrap().steps < 200);
    }
}

const LINKS: Links = Links {
    nodes: 32,
    request: Nanoseconds(58.0),
    response: Nanoseconds(3_350.0),
    latency: Nanoseconds(795.0),
    answer_share: 0.5,
    random_share: 0.9,
};

#[test]
fn with_links_too_a_cycle_is_what_it_takes() {
    for renderers in [1, 3, 7] {
        let node = Node {
            renderers,
            queues: Queues::Links(LINKS),
            ..NODE
        };
        let found = node.solve(&speeds(8)).unwrap();
        assert!(found.idle.0 > 0.0 && found.miss.0 > 795.0 + 3_408.0 + 768.0);
        assert!((found.render + found.miss - found.cycle).0.abs() < 1e-9);
    }
}

#[test]
fn alone_on_two_nodes_nobody_waits_much() {
    let alone = Node {
        renderers: 1,
        render: Nanoseconds(1e9),
        queues: Queues::Links(Links { nodes: 2, ..LINKS }),
        ..NODE
    };
    let found = alone.solve(&speeds(2)).unwrap();
    let least = 795.0 + 3_408.0 + found.handle.0;
    assert!((found.miss.0 - least).abs() < 1.0, "{} {least}", found.miss);
}

#[test]
fn links_that_are_full_bound_the_cycle() {
    let busy = Node {
        renderers: 7,
        render: Nanoseconds(1.0),
        queues: Queues::Links(LINKS),
        ..NODE
    };
    let found = busy.solve(&speeds(8)).unwrap();
    assert!(
        found.cycle.0 > 7.0 * 3_408.0 && found.cycle.0 < 9.0 * 3_408.0,
        "{}",
        found.cycle
    );
}
