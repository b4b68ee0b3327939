//! Tests of packets against single rays.

use glam::DVec3;
use proptest::prelude::*;

use super::*;

/// The number of cells along the axes of the grid.
const SIZE: [usize; 3] = [19, 9, 30];

type Rays = Vec<Option<(GridRay, Span)>>;

fn leaf_size() -> [usize; 3] {
    SIZE.map(|len| len.div_ceil(4))
}

/// Returns rays from points next to each other, in directions next to each other.
fn rays() -> impl Strategy<Value = Rays> {
    let place = || [-30.0..50.0, -30.0..50.0, -30.0..50.0];
    // Some components are zero, and some places are on planes.
    let zero = prop::array::uniform3(0..4);
    let spread = (0.0..0.4, 0.0..0.4);
    (place(), place(), zero, any::<bool>(), spread, 1..=LANES).prop_map(
        |(from, to, zero, is_whole, (origins, directions), count)| {
            let from = DVec3::from_array(from);
            let from = if is_whole { from.round() } else { from };
            let mut direction = (DVec3::from_array(to) - from).normalize_or(DVec3::X);
            for (axis, zero) in zero.into_iter().enumerate() {
                direction[axis] *= f64::from(u8::from(zero > 0));
            }
            let direction = direction.normalize_or(DVec3::Z);
            let ray = |lane: usize| {
                let offset = |factor: f64| {
                    let (x, y) = ((lane % 4) as f64 * factor, (lane / 4) as f64 * factor);
                    DVec3::new(x, y, 0.3 * x - y)
                };
                let directed = direction + directions * 0.1 * offset(1.0);
                let ray = GridRay::new(from + offset(origins), directed);
                let span = ray.clip(SIZE, 0.0, f64::INFINITY)?;
                Some((ray, span))
            };
            (0..count).map(ray).collect()
        },
    )
}

/// Returns true if a ray passes through a cell, and does not only touch it.
fn passes((ray, span): &(GridRay, Span), cell: [usize; 3]) -> bool {
    let length = |span: Span| span.t_out - span.t_in;
    ray.span_in(cell, span)
        .is_some_and(|span| length(span) > 1e-9)
}

/// Returns the cells that a ray passes through, in their order.
fn alone(ray: &(GridRay, Span)) -> Vec<[usize; 3]> {
    let mut cells = Vec::new();
    let _ = ray.0.walk::<0, ()>([[0; 3], SIZE], ray.1, |cell, _| {
        if passes(ray, cell) {
            cells.push(cell);
        }
        ControlFlow::Continue(())
    });
    cells
}

/// Returns the cells that each ray of a packet passes through, in their order.
fn together(packet: &Packet, rays: &Rays, runs: &[[f64; 2]]) -> Vec<Vec<[usize; 3]>> {
    let mut cells = vec![Vec::new(); rays.len()];
    let mut left = packet.rays();
    let mut slice = 0;
    for &run in runs {
        let outcome = packet.leaves::<()>(slice, run, |leaf| {
            packet.cells(leaf, u64::MAX, &mut left, |passage, _| {
                for (lane, ray) in rays.iter().enumerate() {
                    let Some(ray) = ray else { continue };
                    let at = passage.at();
                    let is_inside = (0..3).all(|axis| at[axis] < SIZE[axis]);
                    let is_selected = passage.selected(|_| 0xF) >> lane & 1 == 1;
                    if is_selected && is_inside && passes(ray, at) {
                        cells[lane].push(at);
                    }
                }
            });
            ControlFlow::Continue(())
        });
        slice = outcome.continue_value().expect("no visit ends the walk");
    }
    cells
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn each_ray_passes_the_same_cells_as_alone(rays in rays()) {
        if let Some(packet) = Packet::new(&rays, leaf_size()) {
            let all = together(&packet, &rays, &[[f64::NEG_INFINITY, f64::INFINITY]]);
            for (ray, cells) in rays.iter().zip(all) {
                prop_assert_eq!(cells, ray.as_ref().map(alone).unwrap_or_default());
            }
        }
    }

    #[test]
    fn no_cell_is_passed_twice_in_successive_runs(rays in rays(), ends in [0.0..90.0, 0.0..90.0]) {
        if let Some(packet) = Packet::new(&rays, leaf_size()) {
            let (first, second) = (f64::min(ends[0], ends[1]), f64::max(ends[0], ends[1]));
            let runs = [[0.0, first], [first, second], [second, 1e9]];
            let all = together(&packet, &rays, &runs);
            for (ray, cells) in rays.iter().zip(all) {
                prop_assert_eq!(cells, ray.as_ref().map(alone).unwrap_or_default());
            }
        }
    }

    #[test]
    fn mirroring_twice_changes_nothing(cells: u64, axes: [bool; 3]) {
        prop_assert_eq!(mirrored(mirrored(cells, axes), axes), cells);
        let bit = cells.trailing_zeros() as usize;
        if bit < 64 {
            let place = [bit & 3, bit >> 2 & 3, bit >> 4];
            let mirror = |axis: usize| match axes[axis] {
                true => 3 - place[axis],
                false => place[axis],
            };
            let there = [0, 1, 2].map(mirror);
            let expected = 1 << (there[0] | there[1] << 2 | there[2] << 4);
            prop_assert_eq!(mirrored(1 << bit, axes), expected);
        }
    }
}

#[test]
fn rays_that_differ_too_much_form_no_packet() {
    let ray = |direction: [f64; 3]| {
        let ray = GridRay::new(DVec3::splat(5.0), DVec3::from_array(direction));
        let span = ray.clip(SIZE, 0.0, f64::INFINITY)?;
        Some((ray, span))
    };
    let forms = |rays: &[Option<(GridRay, Span)>]| Packet::new(rays, leaf_size()).is_some();
    assert!(!forms(&[]));
    assert!(!forms(&[None, None]));
    assert!(forms(&[ray([1.0, 0.1, 0.0]), None, ray([1.0, 0.2, 0.0])]));
    // Different signs, and different axes.
    assert!(!forms(&[ray([1.0, 0.1, 0.0]), ray([1.0, -0.1, 0.0])]));
    assert!(!forms(&[ray([1.0, 0.1, 0.0]), ray([0.1, 1.0, 0.0])]));
}
