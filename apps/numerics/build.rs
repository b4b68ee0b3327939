//! Links OpenBLAS if the feature `openblas` is enabled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_OPENBLAS").is_some() {
        println!("cargo::rustc-link-lib=openblas");
    }
}
