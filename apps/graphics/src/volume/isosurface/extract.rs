//! Extracts a surface of equal value as triangles: marching cubes with the asymptotic decider.
//!
//! # Method
//! Where the surface leaves a face of a cell, it crosses two or four of its edges. Two crossings
//! are joined; of four, the value at the saddle of the bilinear interpolant decides which pairs
//! are. The decision depends on the face only, so that both of its cells agree and the mesh has no
//! holes. The joined crossings of a cell form closed loops, and each of them is filled with
//! triangles, without lines in the faces of the cell, so that at most two triangles meet in a line.
//! So no table of cases is needed.
//!
//! A loop that belongs to a tunnel through a cell is closed as well: the mesh then has another
//! topology in this cell than the trilinear interpolant, which [`render`](super::render()) shows
//! exactly.
//!
//! # Cost
//! One visit to each cell with a surface, and two triangles for each of them on average, in
//! parallel by layers of macrocells. The mesh does not depend on the number of workers.
//!
//! # Source
//! W. Lorensen, H. Cline: Marching Cubes. SIGGRAPH 1987. G. Nielson, B. Hamann: The Asymptotic
//! Decider. IEEE Visualization 1991.

use glam::{DMat3, DVec3};

use self::layer::{Layer, joined};
use super::active::ActiveCells;
use super::options::{IsosurfaceError, IsosurfaceOptions};
use crate::memory;
use crate::mesh::Mesh;
use crate::volume::array::Volume;
use crate::volume::macrocells::{EDGE, Macrocells};
use crate::volume::occupancy::Occupancy;
use crate::volume::ranges::occupancy_of;
use crate::volume::voxels::{Voxel, with_voxels};

mod layer;
#[cfg(test)]
mod tests;

/// The number of edges of a cell.
const EDGES: usize = 12;
/// The smallest distance of a vertex from the voxels, as a share of an edge. In a voxel that has
/// the isovalue, the vertices of several edges would be one, and more than two triangles could meet
/// in a line.
const SHARE_MIN: f64 = 1.0 / 4096.0;

/// The memory that the surface in a cell takes on average: a vertex and two triangles in a layer,
/// and again in the mesh.
const CELL_BYTES: u64 = 2 * (24 + 2 * 12);

/// Extracts the surface with an isovalue, with all workers of the runtime.
///
/// Positions are in the world. Normals and the order of corners point towards smaller values.
/// `macrocells` must be those of `volume`.
///
/// # Errors
/// [`IsosurfaceError::Isovalue`], [`IsosurfaceError::OtherVolume`],
/// [`IsosurfaceError::OutOfMemory`] if the memory for about 96 bytes for each cell with a surface
/// is not available, and [`IsosurfaceError::Vertices`] if there are more vertices than a mesh can
/// number.
///
/// # Examples
/// ```
/// use raddle_graphics::volume::isosurface::extract;
/// use raddle_graphics::volume::{Macrocells, Volume};
///
/// // A single voxel of 1 becomes an octahedron.
/// let mut voxels = vec![0_u8; 27];
/// voxels[13] = 1;
/// let volume = Volume::new([3, 3, 3], voxels)?;
/// let mesh = extract(&volume, &Macrocells::of(&volume), 0.5)?;
/// assert_eq!((mesh.positions.len(), mesh.triangles.len()), (6, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extract(
    volume: &Volume,
    macrocells: &Macrocells,
    isovalue: f64,
) -> Result<Mesh, IsosurfaceError> {
    let options = IsosurfaceOptions::new(isovalue);
    options.check()?;
    if !macrocells.fit(volume.grid()) {
        return Err(IsosurfaceError::OtherVolume);
    }
    let occupancy = occupancy_of(macrocells, &options.isovalues());
    let layers = with_voxels!(volume.voxels(), voxels => {
        let active = ActiveCells::of(volume.size(), voxels, &occupancy, &[isovalue]);
        memory::ask(CELL_BYTES * active.count())?;
        let map = volume.world_of_voxel();
        let extraction = Extraction {
            volume,
            voxels,
            isovalue,
            threshold: Voxel::at_least(isovalue),
            map,
            normal_map: -map.inverse().transpose(),
            is_mirrored: map.determinant() < 0.0,
        };
        let count = (volume.size()[2] - 1).div_ceil(EDGE);
        raddle::map(0..count, |layer| extraction.layer(layer, &occupancy, &active))
    });
    joined(layers.into_iter().collect::<Result<_, _>>()?)
}

/// The voxels and the isovalue.
struct Extraction<'a, T> {
    volume: &'a Volume,
    voxels: &'a [T],
    isovalue: f64,
    /// The smallest voxel that is inside; none if all are outside.
    threshold: Option<T>,
    /// The map from voxels to the world, without the origin, and that from gradients to normals.
    map: DMat3,
    normal_map: DMat3,
    /// True if the axes of the volume are left-handed.
    is_mirrored: bool,
}

impl<T: Voxel> Extraction<'_, T> {
    /// Extracts the surface in a layer of macrocells.
    fn layer(
        &self,
        index: usize,
        occupancy: &Occupancy,
        active: &ActiveCells,
    ) -> Result<Layer, IsosurfaceError> {
        let leaves = occupancy.level(0);
        let mut blocks = Vec::new();
        for word in leaves.of_layer(index) {
            leaves.for_each_in(word, |leaf, bit| {
                let cells = active.word(word, bit as u32);
                if leaf[2] == index && cells != 0 {
                    blocks.push((leaf, cells));
                }
            });
        }
        let count = blocks
            .iter()
            .map(|(_, cells)| u64::from(cells.count_ones()));
        let mut layer = Layer::new(index, self.volume.size(), count.sum())?;
        for (leaf, mut cells) in blocks {
            layer.reserve(cells.count_ones() as usize)?;
            while cells != 0 {
                let bit = cells.trailing_zeros() as usize;
                cells &= cells - 1;
                let inner = [bit % EDGE, bit / EDGE % EDGE, bit / (EDGE * EDGE)];
                let cell = [0, 1, 2].map(|axis: usize| EDGE * leaf[axis] + inner[axis]);
                self.cell(cell, &mut layer);
            }
        }
        layer.finish();
        Ok(layer)
    }

    /// Extracts the surface in a cell.
    fn cell(&self, cell: [usize; 3], layer: &mut Layer) {
        let voxel = |corner: usize| {
            let at = [0, 1, 2].map(|axis: usize| cell[axis] + (corner >> axis & 1));
            self.voxels[self.index(at)]
        };
        let voxels: [T; 8] = std::array::from_fn(voxel);
        let is_inside = voxels.map(|voxel| self.threshold.is_some_and(|least| voxel >= least));
        let mut next = successors(is_inside, voxels.map(|voxel| voxel.value() - self.isovalue));
        for first in 0..EDGES {
            let (mut edges, mut len) = ([0; EDGES], 0);
            let mut edge = first;
            // The loops are closed, so each edge has a successor.
            while let Some(following) = next[edge].take() {
                edges[len] = edge;
                len += 1;
                edge = following;
            }
            if len >= 3 {
                self.fill(cell, &mut edges[..len], layer);
            }
        }
    }

    /// Fills a loop of edges with triangles around one of its crossings, or around a vertex in its
    /// middle.
    fn fill(&self, cell: [usize; 3], edges: &mut [usize], layer: &mut Layer) {
        let apex = apex(edges);
        edges.rotate_left(apex.unwrap_or(0));
        let mut vertices = [0; EDGES];
        for (vertex, &edge) in vertices.iter_mut().zip(&*edges) {
            *vertex = self.vertex(cell, edge, layer);
        }
        let vertices = &vertices[..edges.len()];
        let add = |layer: &mut Layer, [a, b, c]: [u32; 3]| {
            layer.triangles.push(match self.is_mirrored {
                true => [a, b, c],
                false => [a, c, b],
            });
        };
        if apex.is_some() {
            for pair in vertices[1..].windows(2) {
                add(layer, [vertices[0], pair[0], pair[1]]);
            }
        } else {
            let middle = layer.add_middle(vertices);
            for (index, &vertex) in vertices.iter().enumerate() {
                let following = vertices[(index + 1) % vertices.len()];
                add(layer, [middle, vertex, following]);
            }
        }
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        let [width, height, _] = self.volume.size();
        (z * height + y) * width + x
    }

    /// Returns the vertex on an edge of a cell.
    fn vertex(&self, cell: [usize; 3], edge: usize, layer: &mut Layer) -> u32 {
        let axis = edge / 4;
        let mut from = cell;
        from[(axis + 1) % 3] += edge & 1;
        from[(axis + 2) % 3] += edge >> 1 & 1;
        let mut to = from;
        to[axis] += 1;
        layer.vertex(from, axis, || {
            let [low, high] = [from, to].map(|at| self.voxels[self.index(at)].value());
            let share = (self.isovalue - low) / (high - low);
            let share = share.clamp(SHARE_MIN, 1.0 - SHARE_MIN);
            let [from_at, to_at] = [from, to].map(|at| DVec3::from_array(at.map(|it| it as f64)));
            let position = self.volume.origin() + self.map * from_at.lerp(to_at, share);
            let gradient = self.gradient(from).lerp(self.gradient(to), share);
            let normal = (self.normal_map * gradient).normalize_or_zero();
            [position.as_vec3(), normal.as_vec3()]
        })
    }

    /// Returns the central differences at a voxel, or one-sided ones at the border.
    fn gradient(&self, at: [usize; 3]) -> DVec3 {
        let along = |axis: usize| {
            let [mut before, mut behind] = [at; 2];
            before[axis] = at[axis].saturating_sub(1);
            behind[axis] = (at[axis] + 1).min(self.volume.size()[axis] - 1);
            let difference =
                self.voxels[self.index(behind)].value() - self.voxels[self.index(before)].value();
            difference / (behind[axis] - before[axis]) as f64
        };
        DVec3::new(along(0), along(1), along(2))
    }
}

/// Returns the index of a crossing in a loop of edges from which all others can be reached inside
/// the cell. A line in a face could also be in the next cell, and then four triangles would meet in
/// it. Loops of up to seven edges have such a crossing.
fn apex(edges: &[usize]) -> Option<usize> {
    // A bit for each of the two faces of an edge.
    let faces = |edge: usize| {
        let (axis, bits) = (edge / 4, edge % 4);
        let face = |axis: usize, side: usize| 1 << (2 * (axis % 3) + side);
        face(axis + 1, bits & 1) | face(axis + 2, bits >> 1)
    };
    let len = edges.len();
    (0..len).find(|&apex| {
        let mut others = (2..len - 1).map(|step| edges[(apex + step) % len]);
        others.all(|other| faces(edges[apex]) & faces(other) == 0)
    })
}

/// Returns for each crossed edge of a cell the next one in its loop.
///
/// Corner `i` has the coordinates of the bits of `i`. Edge `4 * axis + bits` is along an axis; the
/// bits are the coordinates along the next two axes. `values` are relative to the isovalue.
fn successors(is_inside: [bool; 8], values: [f64; 8]) -> [Option<usize>; EDGES] {
    let mut next = [None; EDGES];
    for axis in 0..3 {
        let (across, along) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in 0..2 {
            // The corners of the face, counterclockwise as seen from outside.
            let corner = |u: usize, v: usize| side << axis | u << across | v << along;
            let mut corners = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            // The edge that begins at each corner.
            let first = |u: usize| 4 * along + (side | u << 1);
            let second = |v: usize| 4 * across + (v | side << 1);
            let mut edges = [second(0), first(1), second(1), first(0)];
            if side == 0 {
                corners.reverse();
                edges = [edges[2], edges[1], edges[0], edges[3]];
            }
            join(
                corners.map(|corner| is_inside[corner]),
                corners.map(|corner| values[corner]),
                edges,
                &mut next,
            );
        }
    }
    next
}

/// Joins the crossings of a face, with the inside on the left as seen from outside of the cell.
fn join(
    is_inside: [bool; 4],
    values: [f64; 4],
    edges: [usize; 4],
    next: &mut [Option<usize>; EDGES],
) {
    let crossings = (0..4)
        .filter(|&at| is_inside[at] != is_inside[(at + 1) % 4])
        .count();
    match crossings {
        2 => {
            let leaves = |at: &usize| is_inside[*at] && !is_inside[(at + 1) % 4];
            let enters = |at: &usize| !is_inside[*at] && is_inside[(at + 1) % 4];
            if let (Some(from), Some(to)) = ((0..4).find(leaves), (0..4).find(enters)) {
                next[edges[from]] = Some(edges[to]);
            }
        }
        4 => {
            // The value at the saddle has the sign of this product, since two opposite values have
            // one sign and the others have the other one.
            let [a, b, c, d] = values;
            let saddle = (a * c - b * d) * (a + c - b - d).signum();
            for corner in 0..4 {
                // The inside is connected through the saddle, or else the outside is. The corners
                // of the other kind are cut off.
                if is_inside[corner] == (saddle >= 0.0) {
                    continue;
                }
                let (before, behind) = (edges[(corner + 3) % 4], edges[corner]);
                match is_inside[corner] {
                    true => next[behind] = Some(before),
                    false => next[before] = Some(behind),
                }
            }
        }
        _ => {}
    }
}
