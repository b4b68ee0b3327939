//! Programming models on a runtime: their shared state and their settings.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Arc;

use raddle_runtime::{BuildError, Runtime, Setting};

use crate::common::{runtime, runtime_with};

/// The shared state of a model.
#[derive(Debug, PartialEq)]
struct Model(u32);

fn make(runtime: &Runtime, number: u32) -> Result<Arc<Model>, String> {
    runtime.model(|_| Ok(Arc::new(Model(number))))
}

#[test]
fn a_model_is_made_once() {
    let runtime = runtime(1);
    assert_eq!(make(&runtime, 1), Ok(Arc::new(Model(1))));
    assert_eq!(make(&runtime, 2), Ok(Arc::new(Model(1))));
}

/// Reproduces a bug: the lock of the models was poisoned, so every later call panicked.
#[test]
fn a_model_can_be_made_after_one_that_failed_or_panicked() {
    let runtime = runtime(1);
    let failed = runtime.model::<Model, _>(|_| Err("on purpose"));
    assert_eq!(failed, Err("on purpose"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        runtime.model::<Model, String>(|_| panic!("on purpose"))
    }));
    assert!(panicked.is_err());
    assert_eq!(make(&runtime, 3), Ok(Arc::new(Model(3))));
    assert_eq!(runtime.install(|| 4), 4);
}

/// A setting without an environment variable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Depth(usize);

/// A setting of another type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Width(usize);

macro_rules! setting {
    ($setting:ident, $variable:literal) => {
        impl FromStr for $setting {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl Setting for $setting {
            const VARIABLE: &'static str = $variable;
            const EXPECTED: &'static str = "a number";
        }
    };
}

setting!(Depth, "RADDLE_TEST_DEPTH");
// Every process has this variable, and it is no number.
setting!(Width, "PATH");

#[test]
fn the_last_value_of_a_setting_counts_and_the_default_without_one() {
    let runtime = runtime_with(1, |builder| builder.setting(Depth(1)).setting(Depth(2)));
    assert_eq!(runtime.setting::<Depth>().ok(), Some(Depth(2)));
    let runtime = runtime_with(1, |builder| builder.setting(Width(3)));
    assert_eq!(runtime.setting::<Depth>().ok(), Some(Depth::default()));
    assert_eq!(runtime.setting::<Width>().ok(), Some(Width(3)));
}

#[test]
fn an_invalid_variable_of_a_setting_is_an_error_that_names_it() {
    let error = runtime(1)
        .setting::<Width>()
        .expect_err("a path is no number");
    assert!(matches!(
        error,
        BuildError::Environment { name: "PATH", .. }
    ));
    assert!(error.to_string().ends_with("expected a number"), "{error}");
}
