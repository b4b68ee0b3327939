//! Tests of the sync table on real threads, and in memory that is used twice, as by two processes.

use super::*;
use crate::prim::{AtomicUsize, LIGHT, Relaxed, UnsafeCell};
use crate::wait::{SpinBudget, Way};

#[test]
fn a_waiter_is_woken_by_the_first_source() {
    let rounds = if LIGHT { 20 } else { 1_000 };
    let table = SyncTable::new(2);
    let sources = [AtomicUsize::new(0), AtomicUsize::new(0)];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut budget = SpinBudget::default();
            for round in 1..=rounds {
                let has = |source: &AtomicUsize| source.load(Relaxed) == round;
                let ready = || sources.iter().position(has);
                budget.wait_until(table.cell(1), Way::Auto, || ready().is_some());
                // Only this thread makes the source false again.
                let found = ready().expect("the source is still true");
                assert_eq!(found, round % 2);
                sources[found].store(0, Relaxed);
                let _ = table.ring(0);
            }
        });
        let mut budget = SpinBudget::default();
        for round in 1..=rounds {
            let source = &sources[round % 2];
            source.store(round, Relaxed);
            let _ = table.ring(1);
            let taken = || source.load(Relaxed) == 0;
            budget.wait_until(table.cell(0), Way::Auto, taken);
        }
    });
}

#[test]
fn a_table_fills_the_bytes_that_it_asks_for() {
    #[repr(C, align(4096))]
    struct Page(UnsafeCell<[u8; 4096]>);
    // SAFETY: only the tables use it.
    unsafe impl Sync for Page {}
    let page = Arc::new(Page(UnsafeCell::new([0xFF; 4096])));
    let address = page
        .0
        .with_mut(NonNull::new)
        .expect("cells have an address");
    let address = address.cast::<u8>();
    let count = 4096 / SyncTable::bytes(1);
    assert_eq!(SyncTable::bytes(count), 4096);
    assert_eq!(4096 % SyncTable::ALIGN, 0);
    let memory: Arc<dyn Any + Send + Sync> = page;
    // SAFETY: the page is used by this table only, and the table keeps it alive.
    let table = unsafe { SyncTable::create(address, count, Arc::clone(&memory)) };
    // SAFETY: the line above created the table.
    let other = unsafe { SyncTable::attach(address, count, memory) };
    for index in table.indices() {
        assert_eq!(table.cell(index).notify(), Notified::Awake);
        assert!(other.cell(index).try_take() && !table.cell(index).try_take());
    }
}
