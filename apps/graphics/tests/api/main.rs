//! Trees, meshes, pictures and rays, by the public interface; and bugs of the past.

#[path = "../common/mod.rs"]
mod common;
#[path = "../kdtree_support/mod.rs"]
mod kdtree_support;
#[path = "../mesh_support/mod.rs"]
mod mesh_support;
#[path = "../volume_support/mod.rs"]
mod volume_support;

mod dirt_pictures;
mod kdtree_build;
mod kdtree_messages;
mod mesh_errors;
mod mesh_formats;
mod picture_files;
mod ray_hits;
mod regress_kdtree_adversarial;
mod regress_mesh_far;
mod regress_mesh_fuzz;
mod regress_mesh_gltf;
mod regress_mesh_readers;
mod render_pictures;
mod volume_bricks;
mod volume_detached;
mod volume_dicom;
mod volume_formats;
