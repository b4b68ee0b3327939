//! `join(|| value, || panic!())` ended the process if the destructor of the value panicked too: the
//! value was dropped while the panic of the second closure unwound. The same happened when a second
//! closure was dropped without being run. Now the first panic reaches the caller, and the panic of
//! the destructor is dropped.

use raddle_runtime::join;

use crate::Bomb;
use crate::checks::panic_text;
use crate::common::runtime;

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
fn panic_of_a_closure_takes_precedence_over_the_panic_of_a_destructor() {
    // On the default runtime, and then on runtimes where another worker may take the second
    // closure.
    check();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        for _ in 0..50 {
            runtime.install(check);
        }
        assert_eq!(runtime.install(|| 7), 7);
    }
}

#[test]
fn destructors_of_results_may_panic_when_nothing_else_does() {
    let text = panic_text(|| drop(join(|| Bomb, || 1)));
    assert_eq!(text, Bomb::TEXT);
}
