//! The house rules of Raddle that no lint knows, as functions from a source tree to findings.
//!
//! `cargo run -p raddle-tidy` prints the layers of all crates and what breaks a rule.
//! `tests/checkout.rs` runs each rule on the checkout; its own tests run it on made-up trees
//! that break it, so that no rule can fall silent unnoticed.
//!
//! | rule | it checks |
//! |---|---|
//! | [`layers`](rules::layers) | crates depend on lower ones; peers stay in `bench` |
//! | [`unsafety`](rules::unsafety) | `unsafe` only where the architecture allows it |
//! | [`atomics`](rules::atomics) | atomics come from `prim`; every ordering has a reason |
//! | [`files`](rules::files) | headers, lengths |
//! | [`testing`](rules::testing) | no test asserts a time or is ignored |
//! | [`shipped`](rules::shipped) | no shipped crate depends on a peer through other crates |
//! | [`cycles`](rules::cycles) | modules import each other in layers |
//! | [`text`](rules::text) | width, words and summaries of comments and texts |
//! | [`printing`](rules::printing) | libraries never print |
//! | [`variables`](rules::variables) | every environment variable that is read is known |
//! | [`words`](rules::words) | no paths of one machine, no registry hosts |
#![forbid(unsafe_code)]

pub mod code;
pub mod rules;
pub mod tree;

pub use tree::{Finding, Tree};

/// The programs in the documents that a newcomer reads first compile and run.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../CONTRIBUTING.md")]
    struct Contributing;
}
