//! Renders a knot with all workers: from a mesh to a tree to a picture in a file.
//!
//! Run it with `cargo run --release -p raddle-graphics --example picture [FILE]`. It writes `FILE`,
//! or `knot.png` in the directory for temporary files. It prints the path of the picture, the
//! quality of the tree, and the number of rays per second. A `FILE` may end in .png, .ppm or .exr.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::path::PathBuf;

use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::picture;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::render_mesh::{RenderOptions, render};
use raddle_graphics::scene::{Scene, generate};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join("knot.png"), PathBuf::from);
    // Check the path before the work begins.
    picture::check_path(&path)?;

    let mesh = generate(Scene::Knot, 100_000);
    let tree = KdTree::build(&mesh, &Parameters::default())?;
    let statistics = tree.statistics();
    let frame = FrameOptions {
        size: (800, 600),
        samples: 4,
        ..FrameOptions::default()
    };
    let options = RenderOptions {
        frame,
        ..RenderOptions::default()
    };
    let rendering = render(&mesh, &tree, &options, |_| ())?;
    rendering.picture.save(&path)?;

    let report = rendering.report;
    println!("picture   {}", path.display());
    println!(
        "tree      {} nodes, {} levels, expected cost of a ray {:.1}",
        statistics.node_count, statistics.depth, statistics.expected_cost
    );
    println!(
        "rays      {:.2} million per second",
        report.rays_per_second() / 1e6
    );
    assert!(report.rays_hit > 0, "the knot is in the picture");
    Ok(())
}
