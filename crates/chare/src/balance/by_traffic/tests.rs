//! Placements by traffic, without a runtime.

use super::*;
use crate::balance::strategy::{ElementLoad, Traffic};

/// Creates a view with elements on these workers, 1 ms each, and with the number of messages that
/// each of the pairs exchanges.
fn view(worker_count: usize, workers: &[usize], pairs: &[(usize, usize, u64)]) -> LoadView {
    LoadView {
        worker_count,
        elements: workers
            .iter()
            .map(|&worker| ElementLoad {
                worker,
                load: Duration::from_millis(1),
            })
            .collect(),
        traffic: pairs
            .iter()
            .map(|&(from, to, message_count)| Traffic {
                from,
                to,
                message_count,
                bytes: 16 * message_count,
            })
            .collect(),
        ..LoadView::default()
    }
}

fn moved(view: &LoadView, placed: &[usize]) -> usize {
    let elements = view.elements.iter().zip(placed);
    elements
        .filter(|(element, to)| element.worker != **to)
        .count()
}

#[test]
fn pairs_come_together_and_no_worker_has_more_to_do() {
    for worker_count in 2..6 {
        let count = 4 * worker_count;
        let workers: Vec<usize> = (0..count).map(|element| element % worker_count).collect();
        let pairs: Vec<_> = (0..count / 2)
            .map(|pair| (2 * pair, 2 * pair + 1, 10_000))
            .collect();
        let view = view(worker_count, &workers, &pairs);
        let strategy = ByTraffic::default();
        let placed = strategy.place(&view);
        for (left, right, _) in pairs {
            assert_eq!(placed[left], placed[right], "{placed:?}");
        }
        assert!(
            view.loads_when(&placed)
                .iter()
                .all(|load| load.as_millis() == 4),
            "{placed:?}"
        );
        assert!(moved(&view, &placed) <= count / 2 + 2, "{placed:?}");
        assert!(strategy.gain(&view, &placed) > Duration::from_millis(1));
    }
}

#[test]
fn well_placed_elements_stay() {
    let view = view(
        2,
        &[0, 0, 1, 1],
        &[(0, 1, 1_000), (2, 3, 1_000), (1, 2, 10)],
    );
    let strategy = ByTraffic::default();
    let placed = strategy.place(&view);
    assert_eq!(placed, [0, 0, 1, 1]);
    assert_eq!(strategy.gain(&view, &placed), Duration::ZERO);
}

#[test]
fn two_elements_that_are_apart_move_no_others() {
    let workers: Vec<usize> = (0..64).map(|element| element / 32).collect();
    let mut pairs: Vec<_> = (0..32)
        .map(|pair| (2 * pair, 2 * pair + 1, 1_000))
        .collect();
    // Elements 0 and 63 changed partners.
    pairs[0] = (0, 62, 1_000);
    pairs[31] = (1, 63, 1_000);
    let view = view(2, &workers, &pairs);
    let placed = ByTraffic::default().place(&view);
    assert_eq!(moved(&view, &placed), 2, "{placed:?}");
}

#[test]
fn names_of_groups_follow_where_their_elements_are() {
    assert_eq!(renamed(2, &[1, 1, 0, 0], &[0, 0, 1, 1]), [0, 0, 1, 1]);
    assert_eq!(renamed(3, &[2, 2, 0, 1], &[0, 0, 0, 1]), [0, 0, 2, 1]);
}

#[test]
fn no_elements_and_no_workers_are_accepted() {
    for worker_count in [0, 1, 3] {
        let none = view(worker_count, &[], &[]);
        assert!(ByTraffic::default().place(&none).is_empty());
        assert_eq!(ByTraffic::default().gain(&none, &[]), Duration::ZERO);
    }
    let silent = view(2, &[0, 1], &[]);
    assert_eq!(ByTraffic::default().place(&silent), [0, 1]);
}
