//! The trees of the peer `parkd` for a real mesh of `RADDLE_DATA` equal Raddle's, node for node.

use std::path::PathBuf;

use raddle_graphics::kdtree::{DepthLimit, KdTree, Parameters};
use raddle_graphics::mesh::Mesh;

/// The program's own sources. A program has no library for tests to link to.
#[path = "../src"]
mod program {
    pub(crate) mod parkd;
}

use program::parkd;

#[test]
fn the_bunnys_tree_is_the_same() {
    let folder = std::env::var_os("RADDLE_DATA").expect(
        "RADDLE_DATA must name the folder with the real test data: this test loads \
         mesh/*.ply.zst from it",
    );
    let path = PathBuf::from(folder).join("mesh/stanford_bunny_69k.ply.zst");
    let mesh = Mesh::load(&path).unwrap_or_else(|error| panic!("{error}"));
    for depth_limit in [DepthLimit::At(8), DepthLimit::At(15), DepthLimit::Automatic] {
        let parameters = Parameters {
            depth_limit,
            ..Parameters::default()
        };
        let expected = KdTree::build_sequential(&mesh, &parameters).unwrap();
        for (thread_count, grain) in [(1, 4096), (2, 1024), (2, 16 * 1024), (16, 4096)] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(thread_count)
                .build()
                .unwrap();
            let (tree, _) =
                pool.install(|| parkd::build(parkd::prepare(&mesh), &parameters, grain));
            assert!(
                tree.is_same_as(&expected),
                "{thread_count} threads, grain {grain}, at {depth_limit:?}"
            );
        }
    }
}
