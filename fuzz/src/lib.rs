//! Checks shared by the fuzz targets: every input quickly gives a valid value or a one-line error.
#![forbid(unsafe_code)]

mod grain;
mod model;
mod net;
mod report;
mod timeline;
mod topology;
mod volume;

use raddle_graphics::mesh::{COORDINATE_MAX, LoadOptions, Mesh};

pub use self::grain::read_grains;
pub use self::model::read_parameters;
pub use self::net::{receive_messages, receive_packets};
pub use self::report::report;
pub use self::timeline::read_timeline;
pub use self::topology::{read_affinity, read_matrix, read_topology_synthetic, read_topology_xml};
pub use self::volume::{files_in, read_detached, read_series, read_transfer, read_volume};

/// Reads `bytes` as a mesh file called `name`, with and without a known length, and checks the
/// results.
///
/// # Panics
/// If a mesh violates a guarantee of [`Mesh`], if an error takes more than one line or does not
/// name the file, or if the same bytes give two different meshes.
pub fn read_mesh(bytes: &[u8], name: &str) {
    let read = |length| {
        let options = LoadOptions::default()
            .expanded_bytes_max(16 << 20)
            .triangle_count_max(1 << 18);
        Mesh::read(bytes, length, name, &options, |_| ())
    };
    let (known, unknown) = (read(Some(bytes.len() as u64)), read(None));
    for outcome in [&known, &unknown] {
        match outcome {
            Ok(loaded) => {
                check_mesh(&loaded.mesh);
                assert_eq!(loaded.report.file_bytes, bytes.len() as u64);
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with(name), "{message}");
                assert_eq!(message.lines().count(), 1, "{message}");
                assert!(!message.contains(char::is_control), "{message:?}");
                assert!(message.contains("; expected "), "{message}");
            }
        }
    }
    // The length identifies a binary STL file. Nothing else may depend on the length.
    if let (Ok(known), Ok(unknown)) = (&known, &unknown)
        && known.report.format == unknown.report.format
    {
        assert_eq!(known.mesh, unknown.mesh);
    }
}

fn check_mesh(mesh: &Mesh) {
    let count = mesh.positions.len();
    assert!(mesh.degenerate_count() < mesh.triangles.len());
    assert!(
        mesh.triangles
            .iter()
            .flatten()
            .all(|&it| (it as usize) < count)
    );
    let is_sound = |value: f32| value.abs() <= COORDINATE_MAX;
    assert!(
        mesh.positions
            .iter()
            .all(|it| it.to_array().into_iter().all(is_sound))
    );
    let is_unit_or_zero = |length: f32| length == 0.0 || (length - 1.0).abs() < 1e-4;
    assert!(mesh.normals.is_empty() || mesh.normals.len() == count);
    assert!(
        mesh.normals
            .iter()
            .all(|normal| is_unit_or_zero(normal.length()))
    );
    let smooth = mesh.clone().with_vertex_normals();
    assert!(
        smooth
            .normals
            .iter()
            .all(|normal| is_unit_or_zero(normal.length()))
    );
    assert!(!mesh.bounds().is_empty());
}
