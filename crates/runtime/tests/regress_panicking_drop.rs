//! `join(|| value, || panic!())`, where the destructor of the value panics too, ended the process:
//! the value was dropped while the second closure's panic unwound. So did a second closure that was
//! dropped without being run. The first panic reaches the caller now, and that of the destructor is
//! dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_runtime::{Runtime, join};

/// Its destructor panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the destructor");
    }
}

fn panic_text<R>(call: impl FnOnce() -> R) -> &'static str {
    let result = catch_unwind(AssertUnwindSafe(call)).map(|result| std::mem::forget(result));
    let panic = result.expect_err("it panics");
    panic.downcast_ref::<&str>().expect("a text")
}

/// Joins in every way in which a destructor can panic beside another panic.
fn check() {
    let second = || -> u32 { panic!("the second") };
    assert_eq!(panic_text(|| join(|| Bomb, second)), "the second");
    let held = Bomb;
    let holds = move || {
        let _held = &held;
    };
    let first = || -> u32 { panic!("the first") };
    assert_eq!(panic_text(|| join(first, holds)), "the first");
    let nested = || join(|| join(|| 1, || Bomb), second);
    assert_eq!(panic_text(nested), "the second");
}

#[test]
fn panic_of_a_closure_goes_before_that_of_a_destructor() {
    // On the default runtime, and inside of runtimes in which another worker may take the second
    // closure.
    check();
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build();
        let runtime = runtime.expect("a runtime");
        for _ in 0..50 {
            runtime.install(check);
        }
        assert_eq!(runtime.install(|| 7), 7);
    }
}

#[test]
fn destructors_of_results_may_panic_where_nothing_else_does() {
    let text = panic_text(|| drop(join(|| Bomb, || 1)));
    assert_eq!(text, "in the destructor");
}
