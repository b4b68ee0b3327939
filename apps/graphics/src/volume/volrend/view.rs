//! The views of the original, and its light.

use glam::{DMat3, DVec3};

/// The angles of the first frame, in degrees.
const ANGLE_X: f64 = 90.0;
const ANGLE_Y: f64 = -36.0;
/// The tilt of the camera, in degrees.
const TILT: f64 = 30.0;
/// The angle between two frames, in degrees.
const STEP: f64 = 3.0;

/// The largest number on the axes of the table of shades.
pub(super) const TABLE_MAX: i32 = 31;
/// The number of shades, which is 63 × 63 × 2, rounded up to a power of two.
pub(super) const TABLE_LEN: usize = 8192;
/// The entry for a normal of (0, 0, 0) that faces neither way.
const TABLE_MIDDLE: i32 = 3968;
/// The entry for voxels without a gradient.
pub(super) const NO_NORMAL: u16 = (TABLE_MIDDLE + (TABLE_MAX * 63 + 2) * 2 + 1) as u16;

/// The parts of light, up to 255.
const AMBIENT: f32 = 30.0;
const DIFFUSE: f32 = 100.0;
const SPECULAR: f32 = 130.0;
const SPECULAR_EXPONENT: i32 = 10;

/// The view of a frame: two angles in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameView {
    /// The rotation about the x axis.
    pub angle_x: f64,
    /// The rotation about the y axis.
    pub angle_y: f64,
}

impl FrameView {
    /// Returns the view of a frame as Splash-3 numbers it: `axis * steps + step`.
    ///
    /// There are `steps` frames about each of x, y and z, 3 degrees apart. The frames about z are
    /// all equal, since the original does not use that angle. Larger numbers are taken modulo the
    /// number of frames.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::volume::volrend::FrameView;
    ///
    /// assert_eq!(FrameView::of_frame(4, 0), FrameView { angle_x: 90.0, angle_y: -36.0 });
    /// assert_eq!(FrameView::of_frame(4, 7), FrameView { angle_x: 99.0, angle_y: -27.0 });
    /// ```
    #[must_use]
    pub fn of_frame(steps: u32, frame: u32) -> Self {
        let steps = steps.max(1);
        let frame = frame % steps.saturating_mul(3);
        let turns = |axis: u32| f64::from(frame.saturating_sub(axis * steps).min(steps - 1));
        Self {
            angle_x: ANGLE_X + STEP * turns(0),
            angle_y: ANGLE_Y + STEP * turns(1),
        }
    }
}

/// The rays and the light of a frame.
#[derive(Debug)]
pub(super) struct Camera {
    /// The width and the height of the picture; one more than the number of steps along a ray.
    pub(super) edge: u32,
    /// The place of pixel (0, 0), and the steps to the right, upwards and along a ray.
    pub(super) origin: DVec3,
    pub(super) steps: [DVec3; 3],
    /// The shade of each normal.
    pub(super) shades: Box<[u8; TABLE_LEN]>,
}

/// Returns the width of a picture of a map of some size.
pub(super) fn edge(size: [usize; 3]) -> u64 {
    diagonal(size).length().round() as u64 + 1
}

/// Returns the diagonal of a map.
fn diagonal(size: [usize; 3]) -> DVec3 {
    DVec3::from_array(size.map(|len| (len - 1) as f64))
}

impl Camera {
    pub(super) fn new(size: [usize; 3], view: FrameView) -> Self {
        let diagonal = diagonal(size);
        let half = DVec3::splat(0.5 * diagonal.length());
        let (tilt, x, y) = (TILT, -view.angle_x, -view.angle_y);
        // The original multiplies row vectors from the left, so the first rotation is the
        // innermost.
        let turn = about_x(x) * about_y(y) * about_x(tilt);
        let place = |point: DVec3| turn * (point - half) + 0.5 * diagonal;
        let shades = shades(
            place(DVec3::new(0.5, 0.7, -1.0).normalize()),
            place(DVec3::NEG_Z),
        );
        Self {
            edge: edge(size) as u32,
            origin: place(DVec3::ZERO),
            steps: [turn.x_axis, turn.y_axis, turn.z_axis],
            shades,
        }
    }
}

/// Returns the rotation about x that the original applies to row vectors, for column vectors.
fn about_x(degrees: f64) -> DMat3 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    DMat3::from_cols(
        DVec3::X,
        DVec3::new(0.0, cos, sin),
        DVec3::new(0.0, -sin, cos),
    )
}

/// Returns the rotation about y, like [`about_x`].
fn about_y(degrees: f64) -> DMat3 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    DMat3::from_cols(
        DVec3::new(cos, 0.0, -sin),
        DVec3::Y,
        DVec3::new(sin, 0.0, cos),
    )
}

/// Computes the shade of each normal.
///
/// The original transforms the directions of light and eye like points, with the translation, which
/// outweighs them by far. Its pictures depend on that.
fn shades(light: DVec3, eye: DVec3) -> Box<[u8; TABLE_LEN]> {
    let light = light.normalize().as_vec3();
    let half = (light + eye.normalize().as_vec3()).normalize();
    let mut shades = Box::new([0; TABLE_LEN]);
    let range = TABLE_MAX as f32;
    for z in -TABLE_MAX..=TABLE_MAX {
        for y in -TABLE_MAX..=TABLE_MAX {
            let (normal_z, normal_y) = (z as f32 / range, y as f32 / range);
            let rest = 1.0 - normal_z * normal_z - normal_y * normal_y;
            if rest <= -2.0 / (range * range) {
                continue;
            }
            let normal_x = rest.max(0.0).sqrt();
            let entry = (TABLE_MIDDLE + (z * 63 + y) * 2) as usize;
            for (side, normal_x) in [-normal_x, normal_x].into_iter().enumerate() {
                let normal = glam::Vec3::new(normal_x, normal_y, normal_z);
                let diffuse = normal.dot(light).max(0.0);
                let specular = normal.dot(half).max(0.0).powi(SPECULAR_EXPONENT);
                let shade = AMBIENT + DIFFUSE * diffuse + SPECULAR * specular;
                shades[entry + side] = shade.min(255.0).round() as u8;
            }
        }
    }
    shades[usize::from(NO_NORMAL)] = AMBIENT as u8;
    shades
}

/// Returns the entry of the table of shades for a gradient, which is not zero.
pub(super) fn entry_of(gradient: [f32; 3]) -> u16 {
    let [x, y, z] = gradient;
    let scale = -(TABLE_MAX as f32) / (x * x + y * y + z * z).sqrt();
    let (z, y) = ((z * scale) as i32, (y * scale) as i32);
    (TABLE_MIDDLE + (z * 63 + y) * 2 + i32::from(x * scale > 0.0)) as u16
}
