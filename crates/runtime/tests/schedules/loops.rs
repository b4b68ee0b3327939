//! Loops: every item runs once, and the result does not depend on the schedule.

use raddle_runtime::model::explore::explore;
use raddle_runtime::{for_each_mut, map_reduce};

#[test]
fn every_item_of_a_loop_is_visited_once() {
    explore(|setting| {
        let mut items = [0_u32; 12];
        setting
            .runtime()
            .install(|| for_each_mut(&mut items, |index, item| *item += index as u32));
        assert!(items.iter().zip(0..).all(|(item, index)| *item == index));
    });
}

#[test]
fn reduction_combines_in_the_order_of_the_items() {
    explore(|setting| {
        let digits = setting.runtime().install(|| {
            let text = |index: usize| index.to_string();
            map_reduce(0..10, String::new, text, |left, right| left + &right)
        });
        assert_eq!(digits, "0123456789");
    });
}
