//! Cells are in use by one at a time, and free again when they are dropped.

use std::collections::BTreeSet;

use super::*;

#[test]
fn cells_in_use_are_different_and_come_again() {
    let cells = Cells::new(2);
    let free = cells.list(1);
    let addresses = |count: usize| -> BTreeSet<usize> {
        let used: Vec<UsedCell<'_>> = (0..count).map(|_| free.take()).collect();
        used.iter()
            .map(|used| std::ptr::from_ref(used.cell).addr())
            .collect()
    };
    let first = addresses(1_000);
    assert_eq!(first.len(), 1_000);
    assert!(addresses(900).is_subset(&first));
}
