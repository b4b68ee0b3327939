//! Cameras: perspective, orthographic, and given by a matrix; and the choice of a position.
//!
//! A [`View`] contains the user's wishes, each of which is optional. The rest is chosen so that the
//! mesh or the box makes a good picture. An object is seen in a three-quarter view from slightly
//! above, and fills the frame. A room is seen from inside, along the longest unobstructed line.

use glam::{DMat4, DVec3, Vec3};
use thiserror::Error;

use crate::bounds::Bounds;
use crate::kdtree::KdTree;
use crate::mesh::Mesh;
use crate::ray::Ray;

mod framing;
mod lens;
mod room;
#[cfg(test)]
mod tests;

use self::lens::Lens;

/// The field of view for an object, in degrees. The lens is long enough not to distort.
const FOV_OBJECT_DEGREES: f32 = 32.0;
/// The field of view for a room, in degrees.
const FOV_ROOM_DEGREES: f32 = 68.0;
/// The field of view for a box, in degrees.
const FOV_BOX_DEGREES: f32 = 45.0;
/// The direction from the centre of a box to the eye, and the distance in units of the longest
/// side.
const BOX_DIRECTION: DVec3 = DVec3::new(0.6, 0.45, 0.66);
const BOX_DISTANCE: f64 = 1.9;

/// A camera: a position, a direction, and a projection.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::camera::Camera;
///
/// let camera = Camera::look(Vec3::new(0.0, 0.0, 5.0), Vec3::ZERO, Vec3::Y, 40.0)?;
/// let ray = camera.ray([320.0, 240.0], (640, 480));
/// assert_eq!(ray.direction, Vec3::NEG_Z);
/// # Ok::<(), raddle_graphics::camera::CameraError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    eye: Vec3,
    forward: Vec3,
    right: Vec3,
    up: Vec3,
    lens: Lens,
}

/// The reasons why a camera cannot be set up.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum CameraError {
    /// The eye is at the point to look at.
    #[error("eye and point to look at are both at {0}; expected two different points")]
    NoDirection(DVec3),
    /// The up direction is parallel to the line of sight.
    #[error("the up direction {0} is parallel to the line of sight; expected another direction")]
    NoUpright(Vec3),
    /// The field of view is not a possible angle of a picture.
    #[error("the field of view is {0} degrees; expected more than 0 and less than 180")]
    FieldOfView(f32),
    /// The height of the picture is not a possible length.
    #[error("the height of the picture is {0}; expected a positive number")]
    Height(f32),
    /// The matrix of a camera cannot be used.
    #[error(
        "the matrix of the camera has no direction of view, or is not finite; expected one that \
             maps pixels to points"
    )]
    Matrix,
    /// A coordinate is not a finite number.
    #[error("{name} is {value}; expected finite coordinates")]
    NotFinite {
        /// The name of the point.
        name: &'static str,
        /// The point.
        value: Vec3,
    },
}

impl CameraError {
    /// Returns the error with its point moved by `offset`. This converts it to the coordinates of a
    /// file with a [`MeshReport::offset`](crate::mesh::MeshReport::offset).
    #[must_use]
    pub fn moved_by(self, offset: DVec3) -> Self {
        match self {
            Self::NoDirection(point) => Self::NoDirection(point + offset),
            other => other,
        }
    }
}

impl Camera {
    /// Creates a camera at `eye` that looks at a point, with the vertical field of view in degrees.
    ///
    /// # Errors
    /// Returns a [`CameraError`] if the points coincide, if `up` is along the line of sight, or if
    /// a number is out of range.
    pub fn look(eye: Vec3, at: Vec3, up: Vec3, fov_degrees: f32) -> Result<Self, CameraError> {
        let point = ("the point to look at", at);
        for (name, value) in [("eye", eye), point, ("the up direction", up)] {
            if !value.is_finite() {
                return Err(CameraError::NotFinite { name, value });
            }
        }
        // In f64, since the points may be huge or close to each other.
        let sight = (at.as_dvec3() - eye.as_dvec3())
            .try_normalize()
            .ok_or(CameraError::NoDirection(eye.as_dvec3()))?;
        Self::along(eye, sight.as_vec3(), up, fov_degrees)
    }

    /// Creates a camera at a point that looks along a unit vector.
    fn along(eye: Vec3, forward: Vec3, up: Vec3, fov_degrees: f32) -> Result<Self, CameraError> {
        if !(fov_degrees > 0.0 && fov_degrees < 180.0) {
            return Err(CameraError::FieldOfView(fov_degrees));
        }
        let right = forward.cross(up.normalize_or_zero());
        if right.length() < 1e-4 {
            return Err(CameraError::NoUpright(up));
        }
        let right = right.normalize();
        Ok(Self {
            eye,
            forward,
            right,
            up: right.cross(forward),
            lens: Lens::Perspective {
                tangent: (fov_degrees.to_radians() * 0.5).tan(),
            },
        })
    }

    /// Creates a camera with parallel rays, at `eye` and towards a point. `height` is the height of
    /// the picture, in the unit of the points.
    ///
    /// # Errors
    /// As for [`look`](Self::look), and [`CameraError::Height`].
    pub fn orthographic(eye: Vec3, at: Vec3, up: Vec3, height: f32) -> Result<Self, CameraError> {
        if !(height > 0.0 && height.is_finite()) {
            return Err(CameraError::Height(height));
        }
        let lens = Lens::Orthographic {
            half_height: 0.5 * height,
        };
        // Any possible field of view, since it is replaced.
        Ok(Self {
            lens,
            ..Self::look(eye, at, up, FOV_OBJECT_DEGREES)?
        })
    }

    /// Creates a camera from the matrix that maps a point of the picture to a point of the world.
    ///
    /// The point of the picture is `(x, y, depth)`: pixels from the upper left corner, and any unit
    /// of depth. The matrix is affine, so its rays are parallel. The size of the picture does not
    /// matter.
    ///
    /// # Errors
    /// [`CameraError::Matrix`] if the matrix maps the depth to nothing, is not affine, or has
    /// numbers that are not finite.
    pub fn from_matrix(world_of_image: DMat4) -> Result<Self, CameraError> {
        let is_affine = world_of_image.row(3) == DVec3::ZERO.extend(1.0);
        let [right, down, depth, eye] =
            [0, 1, 2, 3].map(|axis| world_of_image.col(axis).truncate());
        let forward = depth.try_normalize().ok_or(CameraError::Matrix)?;
        if !(is_affine && world_of_image.is_finite()) {
            return Err(CameraError::Matrix);
        }
        Ok(Self {
            eye: eye.as_vec3(),
            forward: forward.as_vec3(),
            right: right.normalize_or_zero().as_vec3(),
            up: -down.normalize_or_zero().as_vec3(),
            lens: Lens::Matrix {
                right: right.as_vec3(),
                down: down.as_vec3(),
                depth: depth.as_vec3(),
            },
        })
    }

    /// Returns a camera with parallel rays that shows the plane through `point` in the same size as
    /// this perspective camera does. Other cameras stay as they are.
    #[must_use]
    pub fn parallel_at(self, point: Vec3) -> Self {
        let Lens::Perspective { tangent } = self.lens else {
            return self;
        };
        let distance = (point - self.eye).dot(self.forward).abs();
        let half_height = (distance * tangent).max(f32::MIN_POSITIVE);
        Self {
            lens: Lens::Orthographic { half_height },
            ..self
        }
    }

    /// Returns the ray through a point of a picture, in pixels from its upper left corner.
    ///
    /// With perspective, the direction extends to the plane at distance 1. It is a unit vector only
    /// if the rays are parallel, and the image of a unit of depth for a matrix.
    #[inline]
    #[must_use]
    pub fn ray(&self, [x, y]: [f32; 2], (width, height): (u32, u32)) -> Ray {
        let (right, up) = (x - 0.5 * width as f32, 0.5 * height as f32 - y);
        match self.lens {
            Lens::Perspective { tangent } => {
                let pixel = 2.0 * tangent / height as f32;
                let (right, up) = (right * pixel, up * pixel);
                Ray::new(self.eye, self.forward + right * self.right + up * self.up)
            }
            Lens::Orthographic { half_height } => {
                let pixel = 2.0 * half_height / height as f32;
                let (right, up) = (right * pixel, up * pixel);
                Ray::new(self.eye + right * self.right + up * self.up, self.forward)
            }
            Lens::Matrix { right, down, depth } => Ray::new(self.eye + x * right + y * down, depth),
        }
    }

    /// Returns the smallest rectangle of a picture that contains a box in front of the camera:
    /// left, top, right and bottom in pixels.
    ///
    /// `middle` and `half` are the centre and half the extent of the box to the right, upwards and
    /// along the line of sight. Returns `None` if the box reaches behind the eye, or if the camera
    /// is given by a matrix.
    #[inline]
    pub(crate) fn footprint(
        &self,
        [x, y, depth]: [f32; 3],
        half: [f32; 3],
        (width, height): (u32, u32),
    ) -> Option<[f32; 4]> {
        let (right, up) = ([x - half[0], x + half[0]], [y - half[1], y + half[1]]);
        let (right, up) = match self.lens {
            Lens::Perspective { tangent } => {
                if depth - half[2] <= 0.0 {
                    return None;
                }
                let pixels = height as f32 / (2.0 * tangent);
                let scales = [pixels / (depth - half[2]), pixels / (depth + half[2])];
                let scaled = |[low, high]: [f32; 2]| {
                    let low = (low * scales[0]).min(low * scales[1]);
                    [low, (high * scales[0]).max(high * scales[1])]
                };
                (scaled(right), scaled(up))
            }
            Lens::Orthographic { half_height } => {
                let pixels = height as f32 / (2.0 * half_height);
                (right.map(|it| it * pixels), up.map(|it| it * pixels))
            }
            Lens::Matrix { .. } => return None,
        };
        let (middle_x, middle_y) = (0.5 * width as f32, 0.5 * height as f32);
        Some([
            middle_x + right[0],
            middle_y - up[1],
            middle_x + right[1],
            middle_y - up[0],
        ])
    }

    /// Returns the position of the camera.
    #[must_use]
    pub fn eye(&self) -> Vec3 {
        self.eye
    }

    /// Returns the unit vectors along the line of sight, to the right and up in the picture.
    #[must_use]
    pub fn axes(&self) -> [Vec3; 3] {
        [self.forward, self.right, self.up]
    }

    /// Returns the vertical field of view in degrees; 0 if the rays are parallel.
    #[must_use]
    pub fn fov_degrees(&self) -> f32 {
        match self.lens {
            Lens::Perspective { tangent } => 2.0 * tangent.atan().to_degrees(),
            Lens::Orthographic { .. } | Lens::Matrix { .. } => 0.0,
        }
    }
}

/// The requested properties of a camera. Each field that is `None` is chosen to suit the mesh
/// or the box.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::camera::View;
///
/// let from_above = View { eye: Some(Vec3::new(0.0, 9.0, 0.1)), ..View::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct View {
    /// The position of the camera.
    pub eye: Option<Vec3>,
    /// The point to look at; by default the centre.
    pub look_at: Option<Vec3>,
    /// The direction that points up.
    pub up: Option<Vec3>,
    /// The direction that points up if `up` is `None`, unless the line of sight is along it. The
    /// default is the y axis. See [`Format::up`](crate::mesh::Format::up).
    pub up_default: Option<Vec3>,
    /// The kind of scene. If it is `None`, rays through the mesh decide.
    pub setting: Option<Setting>,
    /// The vertical field of view in degrees.
    pub fov_degrees: Option<f32>,
    /// True for parallel rays. The picture shows the plane through the point to look at, or the
    /// centre, in the size that it has with perspective.
    pub is_orthographic: bool,
}

/// The kind of scene that a camera was chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// A thing that is seen from outside.
    Object,
    /// An interior that is seen from inside.
    Room,
}

impl View {
    /// Returns the requested direction that points up.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.up.or(self.up_default).unwrap_or(Vec3::Y)
    }

    /// Creates a camera for a mesh and a picture of some size in pixels. Also returns the kind of
    /// scene that the mesh was classified as.
    ///
    /// Takes some ten thousand rays, and for an object two passes over the vertices.
    ///
    /// # Errors
    /// As for [`Camera::look`].
    pub fn camera(
        &self,
        mesh: &Mesh,
        tree: &KdTree,
        (width, height): (u32, u32),
    ) -> Result<(Camera, Setting), CameraError> {
        let up = self.up();
        let Some(upright) = up.try_normalize() else {
            return Err(CameraError::NoUpright(up));
        };
        let setting = self
            .setting
            .unwrap_or_else(|| match room::is_room(mesh, tree) {
                true => Setting::Room,
                false => Setting::Object,
            });
        let fov_degrees = self.fov_degrees.unwrap_or(match setting {
            Setting::Object => FOV_OBJECT_DEGREES,
            Setting::Room => FOV_ROOM_DEGREES,
        });
        let middle = tree.bounds().center();
        let camera = match (self.eye, self.look_at) {
            (Some(eye), at) => {
                let at = at.unwrap_or(middle);
                // The default cannot be used if the view is straight from above or below. Any other
                // up direction will do.
                let up = match (self.up, (at - eye).normalize_or_zero()) {
                    (None, sight) if sight.cross(upright).length() < 1e-4 => {
                        -framing::front(upright)
                    }
                    _ => up,
                };
                Camera::look(eye, at, up, fov_degrees)?
            }
            (None, Some(at)) if setting == Setting::Object => {
                let sight = -framing::three_quarters(upright);
                let eye = at - sight * framing::distance(tree, fov_degrees);
                Camera::along(eye, sight, up, fov_degrees)?
            }
            (None, _) if setting == Setting::Object => {
                let aspect = width as f32 / height as f32;
                framing::frame(mesh, tree, upright, fov_degrees, aspect)?
            }
            (None, at) => {
                let (eye, sight) = room::best_view(mesh, tree, upright);
                match at {
                    Some(at) => Camera::look(eye, at, up, fov_degrees)?,
                    None => Camera::along(eye, sight, up, fov_degrees)?,
                }
            }
        };
        Ok((self.projected(camera, middle), setting))
    }

    /// Creates a camera for a box that is seen from outside, and a field of view of 45 degrees.
    ///
    /// By default, the eye is in the direction (0.6, 0.45, 0.66) from the point to look at, 1.9
    /// times `side` away, and z is up.
    ///
    /// # Errors
    /// As for [`Camera::look`].
    pub fn camera_for_box(&self, bounds: Bounds, side: f32) -> Result<Camera, CameraError> {
        let middle = bounds.center();
        let at = self.look_at.unwrap_or(middle);
        let eye = self.eye.unwrap_or_else(|| {
            (at.as_dvec3() + BOX_DISTANCE * f64::from(side) * BOX_DIRECTION.normalize()).as_vec3()
        });
        let up = self.up.or(self.up_default).unwrap_or(Vec3::Z);
        let fov_degrees = self.fov_degrees.unwrap_or(FOV_BOX_DEGREES);
        let camera = match Camera::look(eye, at, up, fov_degrees) {
            // The default direction cannot be used if the view is along it.
            Err(CameraError::NoUpright(_)) if self.up.is_none() => {
                Camera::look(eye, at, Vec3::Y, fov_degrees)?
            }
            outcome => outcome?,
        };
        Ok(self.projected(camera, middle))
    }

    /// Makes the rays parallel if that is requested.
    fn projected(&self, camera: Camera, middle: Vec3) -> Camera {
        if self.is_orthographic {
            camera.parallel_at(self.look_at.unwrap_or(middle))
        } else {
            camera
        }
    }
}
