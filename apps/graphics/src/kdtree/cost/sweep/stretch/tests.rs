//! Wherever a list of events is cut into stretches, and whatever is skipped, the lightest plane is
//! that of weighing all planes.

use proptest::prelude::*;

use super::*;
use crate::kdtree::cells::extent::Extent;

/// Generates the sorted events of flat and other triangles along an axis. The grid is so coarse
/// that many events share a position, or so fine that few do.
fn events() -> impl Strategy<Value = (Vec<Event>, u32)> {
    let edges = |positions: i32, shortest: i32| {
        proptest::collection::vec((0..positions, shortest..4), 1..300)
    };
    let with_planar = prop_oneof![edges(3, 0), edges(40, 0), edges(100_000, 0)];
    let without = prop_oneof![edges(3, 1), edges(40, 1), edges(100_000, 1)];
    // Longer than a short stretch.
    let long = proptest::collection::vec((0..100_000, 1_i32..4), 4 * 1024..6 * 1024);
    // Blocks with planar events next to blocks without.
    let mixed = (edges(2000, 1), edges(100, 0)).prop_map(|(most, few)| [most, few].concat());
    prop_oneof![10 => with_planar, 10 => without, 10 => mixed, 1 => long].prop_map(|edges| {
        let mut events = Vec::new();
        for (&(low, len), index) in edges.iter().zip(0..) {
            let (low, high) = (low as f32 * 0.1, (low + len) as f32 * 0.1);
            if low == high {
                events.push(Event::new(low, Kind::Planar, index));
            } else {
                events.push(Event::new(low, Kind::Start, index));
                events.push(Event::new(high, Kind::End, index));
            }
        }
        events.sort_unstable();
        (events, edges.len() as u32)
    })
}

/// Weighs every plane, one event after the other.
fn by_weighing_all(events: &[Event], count: u32, surface: &Surface) -> Lightest {
    let all = Stretch {
        events,
        before: None,
        after: None,
    };
    let mut lightest = Lightest::none();
    let sides = Sides {
        below: 0,
        above: count,
    };
    all.weigh_events(0..events.len(), sides, surface, &mut lightest);
    lightest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn stretches_find_the_same_plane_as_weighing_all(
        (events, count) in events(),
        cuts in proptest::collection::vec(0.0_f64..1.0, 0..4),
        margin in 0_i32..2,
        flat in any::<bool>(),
    ) {
        let (first, last) = (events[0].position(), events[events.len() - 1].position());
        let width = if flat { 0.0 } else { 3.0 };
        let extent = Extent {
            low: [first, 0.0, 0.0],
            high: [last + margin as f32, 2.0, width],
        };
        let surface = Surface::new(&extent, 0);
        let expected = by_weighing_all(&events, count, &surface);
        let end = |share: &f64| (share * events.len() as f64) as usize;
        let mut ends: Vec<usize> = cuts.iter().map(end).collect();
        ends.push(events.len());
        ends.sort_unstable();
        let (mut passed, mut begin, mut found) = (Passed::default(), 0, Lightest::none());
        for end in ends {
            let stretch = Stretch {
                events: &events[begin..end],
                before: begin.checked_sub(1).map(|index| events[index]),
                after: events.get(end).copied(),
            };
            let mut sums = Vec::new();
            let all = super::count(stretch.events, &mut sums);
            found = found.or(stretch.lightest(&surface, passed, count, &sums, &mut Vec::new()));
            passed = passed + all;
            begin = end;
        }
        prop_assert_eq!(passed, Passed { met: count, left: count });
        prop_assert_eq!(found.weight, expected.weight);
        prop_assert_eq!((found.event, found.planar_side), (expected.event, expected.planar_side));
    }
}
