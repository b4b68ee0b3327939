//! The build script of the unit tests: includes them into our crate.

fn main() {
    println!("cargo::rustc-cfg=rayon_suite");
    println!("cargo::rerun-if-env-changed=RAYON_SUITE");
}
