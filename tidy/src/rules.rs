//! The rules, one module each: a function from a [`Tree`](crate::Tree) to its findings.

pub mod atomics;
pub mod files;
pub mod layers;
pub mod printing;
pub mod shipped;
pub mod testing;
pub mod unsafety;
pub mod variables;
pub mod words;
