//! Tests that a cell has one user at a time, and is reused after it was dropped.

use std::collections::BTreeSet;

use super::*;

#[test]
fn used_cells_are_distinct_and_are_reused() {
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
