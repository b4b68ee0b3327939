//! What all builders share: the input, and the decision to split.

use super::arena::Name;
use super::assemble::Room;
use super::cell::{Extent, Named, Reference};
use super::crew::Crew;
use super::event::{self, Event};
use super::level::Level;
use super::progress::Progress;
use super::sequential::Stack;
use super::split::TRIANGLES_MAX;
use super::sweep::Plane;
use super::{BuildError, Parameters};
use crate::intersect::Corners;
use crate::memory::{self, NoMemory};
use crate::mesh::{COORDINATE_MAX, Mesh};

/// What a tree is built over.
#[derive(Debug)]
pub(super) struct Input<'a> {
    /// The corners of every triangle.
    pub(super) triangles: Vec<Corners>,
    pub(super) parameters: Parameters,
    /// The depth at which every cell becomes a leaf.
    pub(super) levels: u32,
    /// How much of the tree stands.
    pub(super) progress: Progress<'a>,
}

impl<'a> Input<'a> {
    /// Checks the parameters and settles the depth.
    pub(super) fn new(
        triangles: Vec<Corners>,
        parameters: &Parameters,
        progress: Progress<'a>,
    ) -> Result<Self, BuildError> {
        parameters.check()?;
        Ok(Self {
            levels: parameters.depth_limit.levels(triangles.len()),
            triangles,
            parameters: *parameters,
            progress,
        })
    }

    /// Whether a cell may be split at all: some plane could be cheaper than a leaf, and is allowed.
    #[inline]
    pub(super) fn may_split(&self, reference_count: usize, level: Level) -> bool {
        let parameters = &self.parameters;
        level.depth < self.levels
            && parameters.empty_bonus * parameters.traversal_cost < self.leaf_cost(reference_count)
    }

    /// The plane, if it is cheaper than a leaf and keeps to the bound on copies.
    #[inline]
    pub(super) fn worth_it(
        &self,
        plane: Option<Plane>,
        count: usize,
        level: Level,
    ) -> Option<Plane> {
        plane.filter(|plane| {
            plane.cost < self.leaf_cost(count)
                && level.allows(plane, count, self.parameters.copies_max)
        })
    }

    fn leaf_cost(&self, reference_count: usize) -> f64 {
        self.parameters.intersection_cost * reference_count as f64
    }
}

/// Elements that one visit of a crew deals with.
const STRETCH_LEN: usize = 16 * 1024;
/// Shorter lists of events are sorted by one alone.
const SORT_LEN_MIN: usize = 16 * 1024;

/// What a build takes for each triangle at its height: corners, names and events of a cell and of its halves, and the tree.
const BUILD_BYTES: u64 = 250;

/// Copies the corners of all triangles, and checks them on the way. The first step of a build, so it is here that
/// memory is asked for.
pub(super) fn corners_of(mesh: &Mesh, crew: &impl Crew) -> Result<Vec<Corners>, BuildError> {
    struct Job<'a> {
        corners: &'a mut [Corners],
        outcome: Result<(), BuildError>,
    }

    let limit = TRIANGLES_MAX;
    if mesh.triangles.len() > limit {
        return Err(BuildError::TooManyTriangles {
            found: mesh.triangles.len(),
            limit,
        });
    }
    memory::ask_for_each(mesh.triangles.len(), BUILD_BYTES)
        .map_err(|NoMemory(bytes)| BuildError::OutOfMemory { bytes })?;
    let mut corners = vec![[[0.0; 3]; 3]; mesh.triangles.len()];
    let mut jobs: Vec<Job<'_>> = corners
        .chunks_mut(STRETCH_LEN)
        .map(|corners| Job {
            corners,
            outcome: Ok(()),
        })
        .collect();
    crew.for_each(&mut jobs, |index, job| {
        let first = index * STRETCH_LEN;
        job.outcome = (first..)
            .zip(&mut *job.corners)
            .try_for_each(|(triangle, out)| {
                *out = corners_of_triangle(mesh, triangle)?;
                Ok(())
            });
    });
    jobs.into_iter().try_for_each(|job| job.outcome)?;
    Ok(corners)
}

fn corners_of_triangle(mesh: &Mesh, triangle: usize) -> Result<Corners, BuildError> {
    let mut corners = [[0.0; 3]; 3];
    for (corner, &vertex) in corners.iter_mut().zip(&mesh.triangles[triangle]) {
        let position = mesh.positions.get(vertex as usize);
        *corner = position
            .ok_or(BuildError::VertexMissing {
                triangle,
                vertex,
                vertex_count: mesh.positions.len(),
            })?
            .to_array();
        let mut values = corner.iter();
        if let Some(&value) = values.find(|value| value.is_nan() || value.abs() > COORDINATE_MAX) {
            return Err(BuildError::CoordinateOutOfRange {
                triangle,
                value,
                limit: COORDINATE_MAX,
            });
        }
    }
    Ok(corners)
}

/// The references of a whole mesh, one for each triangle that a ray can hit, and the box around them.
///
/// A triangle with two equal corners covers no ray, in exact arithmetic as in ours, and is left out.
pub(super) fn references_of(triangles: &[Corners], crew: &impl Crew) -> (Vec<Reference>, Extent) {
    let mut parts = vec![(Vec::new(), None::<Extent>); triangles.len().div_ceil(STRETCH_LEN)];
    crew.for_each(&mut parts, |part, (references, all)| {
        let first = part * STRETCH_LEN;
        let end = triangles.len().min(first + STRETCH_LEN);
        for (index, triangle) in (first..end).zip(&triangles[first..end]) {
            let [a, b, c] = triangle;
            if a != b && b != c && c != a {
                let extent = Extent::of_triangle(triangle);
                *all = Some(all.map_or(extent, |all| all.union(&extent)));
                references.push(Reference {
                    extent,
                    triangle: Named::first(index as u32),
                });
            }
        }
    });
    let extents = parts.iter().filter_map(|(_, extent)| *extent);
    let extent = extents
        .reduce(|all, extent| all.union(&extent))
        .unwrap_or(Extent::ZERO);
    let mut references = Vec::with_capacity(parts.iter().map(|(part, _)| part.len()).sum());
    for (part, _) in parts {
        references.extend(part);
    }
    (references, extent)
}

/// The events of all axes, in some parts of each axis, which are not sorted: all parts of one axis after those of another.
pub(super) fn parts_of_events(references: &[Reference], crew: &impl Crew) -> Vec<Vec<Event>> {
    let part_count = (references.len() / SORT_LEN_MIN)
        .clamp(1, crew.part_count().max(1))
        .next_power_of_two();
    let part_len = references.len().div_ceil(part_count).max(1);
    let mut parts = vec![Vec::new(); 3 * part_count];
    crew.for_each(&mut parts, |index, events| {
        let (axis, first) = (index / part_count, index % part_count * part_len);
        let first = first.min(references.len());
        let end = references.len().min(first + part_len);
        *events = Vec::with_capacity(2 * (end - first));
        for (index, reference) in (first..end).zip(&references[first..end]) {
            reference.push_events(index as u32, axis, events);
        }
    });
    parts
}

/// The sorted events of all axes, from their parts; and memory that is free then.
pub(super) fn sorted(
    mut parts: Vec<Vec<Event>>,
    crew: &impl Crew,
) -> ([Vec<Event>; 3], Vec<Vec<Event>>) {
    // Each part of each axis is sorted by itself; then neighbours are merged until one list is left.
    let mut spare = vec![Vec::new(); parts.len()];
    let mut jobs: Vec<_> = parts.iter_mut().zip(&mut spare).collect();
    crew.for_each(&mut jobs, |_, (events, spare)| event::sort(events, spare));
    while parts.len() > 3 {
        let mut pairs: Vec<[Vec<Event>; 2]> = parts
            .chunks_exact_mut(2)
            .map(|pair| [0, 1].map(|index: usize| std::mem::take(&mut pair[index])))
            .collect();
        crew.for_each(&mut pairs, |_, [first, second]| {
            *first = event::merge(first, second);
        });
        parts = pairs.into_iter().map(|[merged, _]| merged).collect();
    }
    let events = [0, 1, 2].map(|axis: usize| std::mem::take(&mut parts[axis]));
    (events, spare)
}

/// Memory to build in.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// For the lists of the first halves.
    pub(super) lists: Stack,
    pub(super) tree: Room,
}

/// Memory for so many triangles, and some that the first plane cuts; `spare` becomes part of it.
pub(super) fn memory_of(count: usize, spare: Vec<Vec<Event>>, crew: &impl Crew) -> Memory {
    let room = count + count / 8;
    let mut events: [Vec<Event>; 3] = Default::default();
    for (to, spare) in events.iter_mut().zip(spare) {
        *to = spare;
    }
    crew.for_each(&mut events, |_, events| {
        events.resize(2 * room, Event::default());
    });
    Memory {
        lists: Stack {
            names: vec![Name::default(); room],
            events,
        },
        tree: Room::new(count, crew),
    }
}

/// The sorted events of all axes.
#[cfg(test)]
pub(super) fn events_of(references: &[Reference], crew: &impl Crew) -> [Vec<Event>; 3] {
    sorted(parts_of_events(references, crew), crew).0
}
