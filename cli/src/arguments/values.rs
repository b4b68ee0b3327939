//! Parsers for values on the command line that are more than a word or a number.

use std::fmt;
use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

use glam::{DVec3, Vec3};
use raddle::WORKER_COUNT_MAX;
use raddle_graphics::bounds::Bounds;
use raddle_graphics::kdtree::{DEPTH_MAX, DepthLimit};
use raddle_graphics::scene::Scene;
use raddle_graphics::volume::{AXIS_MAX, Formula};
use raddle_model::units::Nanoseconds;

/// The longest side of a picture, limited by the picture formats and by memory.
const SIDE_MAX: u32 = 32_768;
/// The number of triangles of a generated scene by default.
const SCENE_TRIANGLES: usize = 200_000;
const SCENE_TRIANGLES_MAX: usize = 50_000_000;

/// Width and height in pixels: `1024x768`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| {
            text.parse()
                .ok()
                .filter(|side| (1..=SIDE_MAX).contains(side))
        };
        text.split_once(['x', 'X', '×'])
            .and_then(|(width, height)| {
                Some(Self {
                    width: side(width)?,
                    height: side(height)?,
                })
            })
            .ok_or_else(|| {
                format!("expected WIDTHxHEIGHT, each from 1 to {SIDE_MAX}, such as 1024x768")
            })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}x{}", self.width, self.height)
    }
}

/// Parses the number of voxels along each axis: `256x256x113`.
pub(crate) fn volume_size(text: &str) -> Result<[u64; 3], String> {
    let sizes: Option<Vec<u64>> = text.split('x').map(edge).collect();
    sizes
        .and_then(|sizes| sizes.try_into().ok())
        .ok_or_else(|| format!("expected XxYxZ, each from 2 to {AXIS_MAX}, such as 256x256x113"))
}

/// Parses the number of voxels along an axis.
fn edge(text: &str) -> Option<u64> {
    let edge = text.parse().ok();
    edge.filter(|edge| (2..=AXIS_MAX as u64).contains(edge))
}

/// A generated volume and its size: `spheres:256`, `spheres:256x256x100`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FormulaChoice {
    pub(crate) formula: Formula,
    pub(crate) size: [u64; 3],
}

impl FromStr for FormulaChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, size) = text.split_once(':').unwrap_or((text, "128"));
        let formula = name.parse::<Formula>().map_err(|error| error.to_string())?;
        let size = match edge(size) {
            Some(edge) => [edge; 3],
            None => volume_size(size)?,
        };
        Ok(Self { formula, size })
    }
}

impl fmt::Display for FormulaChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.size;
        write!(formatter, "{}:{x}x{y}x{z}", self.formula)
    }
}

/// A generated scene and its approximate number of triangles: `knot:100000`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SceneChoice {
    pub(crate) scene: Scene,
    pub(crate) triangle_count: usize,
}

impl FromStr for SceneChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, Some(count)),
            None => (text, None),
        };
        let scene = name
            .parse()
            .map_err(|error: <Scene as FromStr>::Err| error.to_string())?;
        let triangle_count = match count {
            None => SCENE_TRIANGLES,
            Some(count) => count
                .parse()
                .ok()
                .filter(|count| (1..=SCENE_TRIANGLES_MAX).contains(count))
                .ok_or_else(|| {
                    format!("expected 1 to {SCENE_TRIANGLES_MAX} triangles, found {count:?}")
                })?,
        };
        Ok(Self {
            scene,
            triangle_count,
        })
    }
}

impl fmt::Display for SceneChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.scene, self.triangle_count)
    }
}

/// A generated volume or a generated mesh, and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ContentChoice {
    Volume(FormulaChoice),
    Mesh(SceneChoice),
}

impl FromStr for ContentChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.split(':').next().unwrap_or_default();
        if name.parse::<Formula>().is_ok() {
            return text.parse().map(Self::Volume);
        }
        match name.parse::<Scene>() {
            Ok(_) => text.parse().map(Self::Mesh),
            Err(_) => Err("expected spheres, marschner-lobb, flake, terrain or knot".to_owned()),
        }
    }
}

/// A depth limit: `auto`, `none` or a number of levels that a tree can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DepthChoice(pub(crate) DepthLimit);

impl FromStr for DepthChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self(DepthLimit::Automatic)),
            "none" => Ok(Self(DepthLimit::Unlimited)),
            _ => text
                .parse()
                .ok()
                .filter(|&levels| levels <= DEPTH_MAX)
                .map(|levels| Self(DepthLimit::At(levels)))
                .ok_or_else(|| {
                    format!("expected a number of levels from 0 to {DEPTH_MAX}, auto or none")
                }),
        }
    }
}

impl fmt::Display for DepthChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DepthLimit::Automatic => formatter.write_str("auto"),
            DepthLimit::Unlimited => formatter.write_str("none"),
            DepthLimit::At(levels) => write!(formatter, "{levels}"),
        }
    }
}

/// Parses three finite numbers: `1,2.5,-3`.
pub(crate) fn vector(text: &str) -> Result<DVec3, String> {
    numbers(text)
        .map(DVec3::from_array)
        .ok_or_else(|| "expected three finite numbers, such as 1,2.5,-3".to_owned())
}

/// Parses three distances greater than 0: `0.5,0.5,2`.
pub(crate) fn spacing(text: &str) -> Result<DVec3, String> {
    let smallest = f64::from(f32::MIN_POSITIVE);
    let spacing = numbers(text).map(DVec3::from_array);
    spacing
        .filter(|spacing| spacing.min_element() >= smallest)
        .ok_or_else(|| "expected three distances greater than 0, such as 0.5,0.5,2".to_owned())
}

/// Parses finite numbers that commas separate.
fn numbers<const COUNT: usize>(text: &str) -> Option<[f64; COUNT]> {
    let is_in_range = |number: &f64| number.abs() <= f64::from(f32::MAX);
    let number = |text: &str| text.trim().parse().ok().filter(is_in_range);
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    numbers?.try_into().ok()
}

/// A part of space: the smallest and the largest coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clip([DVec3; 2]);

impl Clip {
    /// Returns the part, moved by an offset.
    pub(crate) fn moved_by(self, offset: DVec3) -> Bounds {
        let [min, max] = self.0.map(|corner| (corner + offset).as_vec3());
        Bounds { min, max }
    }
}

/// Parses the smallest and the largest x, y and z: `0,10,0,10,5,10`.
pub(crate) fn clip(text: &str) -> Result<Clip, String> {
    match numbers(text) {
        Some([x0, x1, y0, y1, z0, z1]) if x0 < x1 && y0 < y1 && z0 < z1 => {
            Ok(Clip([DVec3::new(x0, y0, z0), DVec3::new(x1, y1, z1)]))
        }
        _ => Err("expected six numbers, the smallest and the largest x, y and z".to_owned()),
    }
}

/// Parses a vector other than zero, and normalises it.
pub(crate) fn direction(text: &str) -> Result<Vec3, String> {
    vector(text)?
        .try_normalize()
        .map(|direction| direction.as_vec3())
        .ok_or_else(|| "expected a direction, found the zero vector".to_owned())
}

/// Parses a finite number.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    numbers(text)
        .map(|[number]| number)
        .ok_or_else(|| "expected a finite number".to_owned())
}

/// Parses a factor of at least zero.
pub(crate) fn factor(text: &str) -> Result<f32, String> {
    finite(text)
        .ok()
        .filter(|&factor| factor >= 0.0)
        .map(|factor| factor as f32)
        .ok_or_else(|| "expected a number of at least 0".to_owned())
}

/// Parses a vertical field of view that a flat picture can show.
pub(crate) fn field_of_view(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|degrees| (1.0..=170.0).contains(degrees))
        .ok_or_else(|| "expected degrees from 1 to 170".to_owned())
}

/// Parses a number of numbers: `20000000`, or `2e7`.
pub(crate) fn number_count(text: &str) -> Result<usize, String> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse().ok()),
        None => (text, Some(0)),
    };
    let count = digits.parse().ok().and_then(|digits: usize| {
        let power = 10_usize.checked_pow(exponent?)?;
        digits.checked_mul(power)
    });
    count
        .filter(|&count| count > 0)
        .ok_or_else(|| "expected a whole number from 1, such as 20000000 or 2e7".to_owned())
}

fn number_up_to<T: TryFrom<usize>>(most: usize, text: &str) -> Option<T> {
    let count = number_count(text).ok().filter(|&count| count <= most);
    count.and_then(|count| count.try_into().ok())
}

/// The largest number of iterations or round trips in a run.
const ROUNDS_MAX: usize = 1_000_000_000;

/// Parses a number of iterations or round trips: `10000`, or `1e4`.
pub(crate) fn round_count(text: &str) -> Result<u64, String> {
    let expected = "expected a whole number from 1 to 1e9, such as 10000 or 1e4";
    number_up_to(ROUNDS_MAX, text).ok_or_else(|| expected.to_owned())
}

/// The longest side of a matrix. A larger number is a mistake.
const MATRIX_SIDE_MAX: usize = 1_000_000;

/// Parses a side of a matrix: `4096`, or `1e4`.
pub(crate) fn matrix_side(text: &str) -> Result<u32, String> {
    let expected = "expected a whole number from 1 to 1e6, such as 4096 or 1e4";
    number_up_to(MATRIX_SIDE_MAX, text).ok_or_else(|| expected.to_owned())
}

/// A number of bytes: `16`, `64K` for 65,536, `1M` for 1,048,576.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) usize);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [
            (['k', 'K'], 1 << 10),
            (['m', 'M'], 1 << 20),
            (['g', 'G'], 1 << 30),
        ];
        let mut with_unit = units
            .into_iter()
            .filter_map(|(names, unit)| Some((text.strip_suffix(names)?, unit)));
        let (digits, unit) = with_unit.next().unwrap_or((text, 1));
        let count = digits.parse().ok();
        let bytes = count.and_then(|count: usize| count.checked_mul(unit));
        bytes
            .filter(|&bytes| bytes > 0)
            .map(Self)
            .ok_or_else(|| "expected a number of bytes from 1, such as 16, 64K or 1M".to_owned())
    }
}

/// Parses a number with a unit of time, and returns seconds.
fn seconds(text: &str) -> Option<f64> {
    let units = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
    ];
    let mut units = units.into_iter();
    let (number, unit) =
        units.find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    Some(number.trim_end().parse::<f64>().ok()? * unit)
}

/// The longest pause before an answer. A longer one is a mistake.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Parses a pause: `500us`, `0.5ms`, `1s`.
pub(crate) fn pause(text: &str) -> Result<Duration, String> {
    seconds(text)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|pause| (Duration::from_micros(1)..=PAUSE_MAX).contains(pause))
        .ok_or_else(|| "expected a time from 1us to 10s, such as 500us or 1ms".to_owned())
}

/// The longest time of a step. A longer one is a mistake.
const STEP_MAX: Nanoseconds = Nanoseconds(1e9);

/// Parses the time of a step: `0`, `500ns`, `2us`, `0.5ms`.
pub(crate) fn small_time(text: &str) -> Result<Nanoseconds, String> {
    let text = text.trim();
    let time = match text {
        "0" => Some(Nanoseconds::ZERO),
        _ => seconds(text).map(Nanoseconds::from_seconds),
    };
    time.filter(|time| (Nanoseconds::ZERO..=STEP_MAX).contains(time))
        .ok_or_else(|| {
            format!("expected a time from 0 to 1s, such as 500ns or 2us, found {text:?}")
        })
}

/// The largest number of repetitions. A larger one is a mistake.
const REPEATS_MAX: u32 = 10_000;

/// Parses a number of repetitions.
pub(crate) fn repeats(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=REPEATS_MAX).contains(count))
        .ok_or_else(|| format!("expected a number from 1 to {REPEATS_MAX}"))
}

/// Parses a number of triangles, at least 1.
pub(crate) fn triangle_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => {
                format!("expected a number of triangles from 1 to {}", usize::MAX)
            }
            _ => "expected a number of triangles, at least 1".to_owned(),
        })
}

/// Parses a whole number, at least 1.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "expected a whole number, at least 1".to_owned())
}

/// Parses a number of workers that a runtime can have.
pub(crate) fn worker_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .ok()
        .filter(|count: &NonZeroUsize| count.get() <= WORKER_COUNT_MAX)
        .ok_or_else(|| format!("expected a number from 1 to {WORKER_COUNT_MAX}"))
}
