//! No crate that users get depends on a peer of the benchmark, not even through other crates.
//!
//! [`layers`](super::layers) looks at manifests. A default feature of a third-party
//! crate can still bring a peer with it; the tree that Cargo resolves shows that.

use super::layers::{EXCEPTION, is_forbidden};
use crate::tree::Finding;

/// The crates that users build; each is resolved on its own, since features of a workspace add up.
pub const SHIPPED: [&str; 7] = [
    "raddle",
    "raddle-cli",
    "raddle-graphics",
    "raddle-messages",
    "raddle-model",
    "raddle-numerics",
    "raddle-topology",
];

/// The crates that are parts of peers, and their peers.
const PARTS: [(&str, &str); 3] = [
    ("rayon-core", "rayon"),
    ("tokio-macros", "tokio"),
    ("tokio-util", "tokio"),
];

/// Checks what `cargo tree --prefix none --format {p}` lists for one crate: a package and its
/// version on each line.
#[must_use]
pub fn check(name: &str, listing: &str) -> Vec<Finding> {
    let mut found: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|package| {
            let is_part =
                |(part, peer): &(&str, &str)| part == package && (name, *peer) != EXCEPTION;
            is_forbidden(name, package) || PARTS.iter().any(is_part)
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let finding = |package: &str| {
        let what = format!(
            "{name} depends on {package}, a peer; `cargo tree -p {name} -i {package}` shows \
             through which crate"
        );
        Finding::new("Cargo.lock", 1, what)
    };
    found.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_and_their_parts_are_found_once() {
        let listing = "raddle-cli v0.1.0 (/somewhere)\nexr v1.74.2\n\
                       rayon-core v1.13.0\nrayon-core v1.13.0 (*)\n";
        let found = check("raddle-cli", listing);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains("-i rayon-core"), "{found:?}");
    }

    #[test]
    fn only_the_program_may_use_the_peer_of_the_live_view() {
        let listing = "tokio v1.54.0\ntokio-macros v2.7.0\nrayon v1.12.0\n";
        assert_eq!(check("raddle-cli", listing).len(), 1);
        assert_eq!(check("raddle-graphics", listing).len(), 3);
    }

    #[test]
    fn names_that_only_begin_like_a_peer_pass() {
        assert_eq!(check("raddle-cli", "rayonic v1.0.0\n\nbvh2 v1.0.0\n"), []);
    }
}
