//! Work for libraries that use rayon: `raddle-rayon-libraries CASE [FILE]`.
//!
//! The program writes results to standard output, from which the benchmark sees that both builds
//! have computed the same.
#![forbid(unsafe_code)]

mod curves;
mod matrices;
mod pictures;
mod points;
mod trees;
mod worlds;

use std::error::Error;
use std::path::PathBuf;

/// The result of a case.
type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().ok_or("expected CASE [FILE]")?;
    let file = arguments.next().map(PathBuf::from);
    let file = || file.ok_or("expected a file");
    match case.as_str() {
        "ark" => curves::transform_and_multiply(),
        "bvh" => trees::bounding_volumes(&file()?),
        "faer" => matrices::decompose(&file()?),
        "hnsw" => trees::neighbours(&file()?),
        "imageproc" => pictures::filter(&file()?),
        "ndarray" => matrices::relax(&file()?),
        "rapier" => worlds::stack(),
        "resize" => pictures::resize(&file()?),
        _ => Err(format!("no case {case}").into()),
    }
}
