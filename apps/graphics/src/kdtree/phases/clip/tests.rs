//! Compares clipping with an enumeration of all possible corners of the cut polygon.

use proptest::prelude::*;

use super::*;

fn sub(a: Point, b: Point) -> Point {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn cross(a: Point, b: Point) -> Point {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn mix(a: Point, b: Point, share: f64) -> Point {
    std::array::from_fn(|axis| a[axis] + share * (b[axis] - a[axis]))
}

fn inside(point: Point, cell: &Extent, tolerance: f64) -> bool {
    (0..3).all(|axis| {
        point[axis] >= f64::from(cell.low[axis]) - tolerance
            && point[axis] <= f64::from(cell.high[axis]) + tolerance
    })
}

/// Returns all corners of the intersection of a triangle and a box: corners of the triangle inside
/// the box, edges of the triangle through faces of the box, and edges of the box through the
/// triangle.
fn corners_of_intersection(triangle: &Corners, cell: &Extent) -> Vec<Point> {
    const TOLERANCE: f64 = 1e-9;
    let [a, b, c] = triangle.map(|corner| corner.map(f64::from));
    let mut points = vec![a, b, c];
    for (from, to) in [(a, b), (b, c), (c, a)] {
        for axis in 0..3 {
            for plane in [cell.low[axis], cell.high[axis]].map(f64::from) {
                let share = (plane - from[axis]) / (to[axis] - from[axis]);
                if (0.0..=1.0).contains(&share) {
                    points.push(mix(from, to, share));
                }
            }
        }
    }
    let normal = cross(sub(b, a), sub(c, a));
    for axis in 0..3 {
        for corner in 0..4 {
            let mut from = cell.low.map(f64::from);
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            if corner & 1 != 0 {
                from[u] = f64::from(cell.high[u]);
            }
            if corner & 2 != 0 {
                from[v] = f64::from(cell.high[v]);
            }
            let mut to = from;
            to[axis] = f64::from(cell.high[axis]);
            let share = dot(normal, sub(a, from)) / dot(normal, sub(to, from));
            let point = mix(from, to, share);
            let in_triangle = [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| {
                dot(cross(sub(to, from), sub(point, from)), normal) >= -TOLERANCE
            });
            if (0.0..=1.0).contains(&share) && in_triangle {
                points.push(point);
            }
        }
    }
    points.retain(|&point| inside(point, cell, TOLERANCE));
    points
}

fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![(-4_i32..=4).prop_map(|value| value as f32), -4.0_f32..4.0,]
}

fn corners() -> impl Strategy<Value = Corners> {
    let corner = || [coordinate(), coordinate(), coordinate()];
    [corner(), corner(), corner()]
}

fn meet(a: &Extent, b: &Extent) -> Option<Extent> {
    let mut meet = *a;
    for axis in 0..3 {
        meet.low[axis] = meet.low[axis].max(b.low[axis]);
        meet.high[axis] = meet.high[axis].min(b.high[axis]);
        if meet.low[axis] > meet.high[axis] {
            return None;
        }
    }
    Some(meet)
}

/// Returns true if the intersection lies in a face of the cell only. Rounding may keep or lose such
/// an intersection.
fn is_touch(points: &[Point], cell: &Extent) -> bool {
    (0..3).any(|axis| {
        let (low, high) = (f64::from(cell.low[axis]), f64::from(cell.high[axis]));
        let middle = points.iter().map(|point| point[axis]).sum::<f64>() / points.len() as f64;
        low < high && (middle - low).min(high - middle) < 1e-7
    })
}

/// Compares the box of one piece with that of the enumerated corners.
fn check(piece: Option<Extent>, triangle: &Corners, half: &Extent) -> Result<(), TestCaseError> {
    let points = corners_of_intersection(triangle, half);
    let Some(extent) = piece else {
        // If the piece was dropped, the intersection must be a mere touch.
        for axis in 0..3 {
            let spread = points.iter().map(|point| point[axis]);
            let touches = spread.clone().fold(f64::MIN, f64::max) - spread.fold(f64::MAX, f64::min);
            if points.is_empty() || touches < 1e-5 {
                return Ok(());
            }
        }
        return Err(TestCaseError::fail(format!("{points:?} were left out")));
    };
    for axis in 0..3 {
        for point in &points {
            prop_assert!(point[axis] >= f64::from(extent.low[axis]) - 1e-8);
            prop_assert!(point[axis] <= f64::from(extent.high[axis]) + 1e-8);
        }
        if !points.is_empty() && !is_touch(&points, half) {
            let low = points
                .iter()
                .map(|point| point[axis])
                .fold(f64::MAX, f64::min);
            let high = points
                .iter()
                .map(|point| point[axis])
                .fold(f64::MIN, f64::max);
            prop_assert!(
                (low - f64::from(extent.low[axis])).abs() < 1e-5,
                "axis {axis}"
            );
            prop_assert!(
                (high - f64::from(extent.high[axis])).abs() < 1e-5,
                "axis {axis}"
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_global_rejects: 100_000,
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn pieces_are_as_large_as_their_corners(
        triangle in corners(),
        first in [coordinate(), coordinate(), coordinate()],
        second in [coordinate(), coordinate(), coordinate()],
        axis in 0_usize..3,
        share in 0.0_f32..1.0,
    ) {
        let cell = Extent {
            low: std::array::from_fn(|axis| first[axis].min(second[axis])),
            high: std::array::from_fn(|axis| first[axis].max(second[axis])),
        };
        let Some(extent) = meet(&Extent::of_triangle(&triangle), &cell) else {
            return Ok(());
        };
        let plane = extent.low[axis] + share * (extent.high[axis] - extent.low[axis]);
        prop_assume!(extent.low[axis] < plane && plane < extent.high[axis]);
        prop_assume!(!corners_of_intersection(&triangle, &cell).is_empty());
        let (below, above) = halves(&triangle, &extent, &cell, axis, plane);
        let (below_cell, above_cell) = cell.halves(axis, plane);
        check(below, &triangle, &below_cell)?;
        check(above, &triangle, &above_cell)?;
    }
}

#[test]
fn a_touch_that_rounding_loses_is_kept_in_both_halves() {
    // The triangle meets the flat cell in a single point on the cell's border.
    let triangle = [[1.686_227_9, -1.0, -1.0], [0.0; 3], [-3.0, -3.0, 3.0]];
    let cell = Extent {
        low: [-1.0, -2.0, 0.0],
        high: [0.0, -2.0, 1.0],
    };
    let (below, above) = halves(&triangle, &cell, &cell, 0, -0.138_631_34);
    assert!(below.is_some() || above.is_some());
}

#[test]
fn a_triangle_within_its_cell_is_cut_at_the_plane() {
    let triangle = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    let extent = Extent::of_triangle(&triangle);
    let (below, above) = halves(&triangle, &extent, &extent, 0, 1.0);
    assert_eq!(
        below,
        Some(Extent {
            low: [0.0; 3],
            high: [1.0, 4.0, 0.0]
        })
    );
    assert_eq!(
        above,
        Some(Extent {
            low: [1.0, 0.0, 0.0],
            high: [4.0, 3.0, 0.0]
        })
    );
}

#[test]
fn rounding_goes_outward() {
    let triangle = [[0.0, 0.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let extent = Extent::of_triangle(&triangle);
    let (below, above) = halves(&triangle, &extent, &extent, 0, 1.0);
    let third = 1.0_f64 / 3.0;
    assert!(f64::from(below.unwrap().high[1]) >= third);
    assert!(f64::from(above.unwrap().low[1]) <= third);
}

#[test]
fn a_polygon_that_touches_the_plane_is_in_one_half_only() {
    // According to the box, the triangle extends beyond the plane, but only its corner touches the
    // plane.
    let triangle = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut extent = Extent::of_triangle(&triangle);
    extent.high[0] = 1.5;
    let mut cell = extent;
    cell.high[0] = 2.0;
    let (below, above) = halves(&triangle, &extent, &cell, 0, 1.0);
    assert!(below.is_some());
    assert_eq!(above, None);
}

/// Generates numbers in the range of `f32`. Many are close to an `f32`, and some are too small for
/// one.
fn numbers() -> impl Strategy<Value = f64> {
    let float = -1e30_f32..1e30;
    let tiny = -1e-44_f64..1e-44;
    let near = (-2.0_f32..2.0, -3_i64..=3).prop_map(|(value, steps)| {
        f64::from_bits((f64::from(value).to_bits() as i64 + steps) as u64)
    });
    prop_oneof![
        float.prop_map(f64::from),
        tiny,
        near,
        -1e5..1e5,
        Just(0.0),
        Just(-0.0),
    ]
}

proptest! {
    #[test]
    fn rounding_gives_the_next_numbers(value in numbers()) {
        let (low, high) = (round_down(value), round_up(value));
        prop_assert!(
            f64::from(low) <= value && value <= f64::from(high),
            "{value:e}: {low:e} {high:e}"
        );
        if f64::from(low) == value {
            prop_assert_eq!(low, high);
        } else {
            prop_assert_eq!(low.next_up() + 0.0, high + 0.0);
        }
    }
}
