//! Tests of the order of events, the radix sort and the merge.

use proptest::prelude::*;

use super::*;

fn kind_of(number: u32) -> Kind {
    [Kind::End, Kind::Planar, Kind::Start][number as usize % 3]
}

fn event() -> impl Strategy<Value = (f32, Kind, u32)> {
    let position = prop_oneof![-4_i32..4, any::<i32>(),].prop_map(|position| position as f32 / 4.0);
    (position, 0_u32..3, 0_u32..1 << 26)
        .prop_map(|(position, kind, reference)| (position, kind_of(kind), reference))
}

fn packed(events: &[(f32, Kind, u32)]) -> Vec<Event> {
    events
        .iter()
        .map(|&(position, kind, reference)| Event::new(position, kind, reference))
        .collect()
}

proptest! {
    #[test]
    fn unpacking_inverts_packing((position, kind, reference) in event()) {
        let event = Event::new(position, kind, reference);
        prop_assert_eq!(event.position(), position);
        prop_assert_eq!(event.kind(), kind as u32);
        prop_assert_eq!(event.reference(), reference);
        let other = event.with_reference(7);
        let fields = (other.position(), other.kind(), other.reference());
        prop_assert_eq!(fields, (position, kind as u32, 7));
    }

    #[test]
    fn events_are_ordered_by_position_kind_and_reference(a in event(), b in event()) {
        let expected = a.partial_cmp(&b).expect("no position is NaN");
        let pack = |(position, kind, reference)| Event::new(position, kind, reference);
        let [a, b] = [a, b].map(pack);
        prop_assert_eq!(a.cmp(&b), expected);
    }

    #[test]
    fn merging_gives_the_sorted_union(
        first in proptest::collection::vec(event(), 0..60),
        second in proptest::collection::vec(event(), 0..60),
    ) {
        let (mut first, mut second) = (packed(&first), packed(&second));
        first.sort_unstable();
        second.sort_unstable();
        let mut expected = [first.clone(), second.clone()].concat();
        expected.sort_unstable();
        prop_assert_eq!(merge(&first, &second), expected);
    }

    #[test]
    fn moving_down_changes_the_reference_alone(
        (position, kind, reference) in event(),
        share in 0.0_f64..1.0,
    ) {
        let distance = (f64::from(reference) * share) as u32;
        let moved = Event::new(position, kind, reference).moved_down(distance);
        prop_assert_eq!(moved, Event::new(position, kind, reference - distance));
    }
}

#[test]
fn both_zeros_are_one_position() {
    assert_eq!(
        Event::new(-0.0, Kind::Start, 1),
        Event::new(0.0, Kind::Start, 1)
    );
}

#[test]
fn infinities_are_first_and_last() {
    let mut events: Vec<_> = [
        f32::INFINITY,
        -1.0,
        f32::NEG_INFINITY,
        f32::MIN_POSITIVE,
        0.0,
    ]
    .map(|position| Event::new(position, Kind::Start, 0))
    .to_vec();
    events.sort_unstable();
    let positions: Vec<_> = events.iter().map(|event| event.position()).collect();
    assert_eq!(
        positions,
        [
            f32::NEG_INFINITY,
            -1.0,
            0.0,
            f32::MIN_POSITIVE,
            f32::INFINITY
        ]
    );
}

#[test]
fn the_radix_sort_gives_the_one_sorted_order() {
    // A small multiplicative generator. The positions have many ties, both signs, and some
    // outliers.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u32
    };
    for spread in [1_u32, 3, 1000, u32::MAX] {
        let mut events: Vec<_> = (0..3 * RADIX_LEN_MIN as u32)
            .map(|index| {
                let position = (next() % spread) as f32 - (spread / 2) as f32;
                Event::new(position * 0.37, kind_of(next()), index)
            })
            .collect();
        let mut expected = events.clone();
        expected.sort_unstable();
        sort(&mut events, &mut Vec::new());
        assert_eq!(events, expected, "spread {spread}");
    }
}
