//! The surface in a layer of macrocells, and the mesh of all layers.
//!
//! Cells share the vertices on their edges. Each macrocell has a table with the numbers of the
//! vertices on the edges that begin at one of its voxels, and all cells around an edge look there.
//! The vertices in the plane between two layers are those of the upper layer. The lower layer has
//! them too, until [`joined`] replaces its copies.

use glam::Vec3;

use crate::memory::{self, NoMemory};
use crate::mesh::Mesh;
use crate::volume::isosurface::IsosurfaceError;
use crate::volume::macrocells::EDGE;

/// The number of edges that begin at the voxels of a macrocell.
const TABLE_LEN: usize = 3 * EDGE * EDGE * EDGE;
/// The maximum number of vertices of a cell: on each edge, and in the middle of four loops.
const VERTICES_MAX: usize = 12 + 4;
/// The maximum number of triangles of a cell: as many as its loops have edges.
const TRIANGLES_MAX: usize = 12;
/// The number in a table for an edge without a vertex, and that of a copy.
const NONE: u32 = u32::MAX;

/// The surface in a layer of macrocells.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    tables: Tables,
    /// The vertices in the lowest and in the highest plane, in the order of their edges.
    lowest: Vec<InPlane>,
    highest: Vec<InPlane>,
}

/// A vertex in a plane: the index of its edge and its number.
type InPlane = (usize, u32);

/// The numbers of the vertices on edges.
#[derive(Debug, Default)]
struct Tables {
    /// The first voxel of the layer across z, and the number of voxels along x.
    first: usize,
    width: usize,
    /// The number of macrocells of voxels along x and y. Along z there are two: the voxels of the
    /// highest plane belong to the next layer.
    size: [usize; 2],
    /// The index of the table of each macrocell, plus one; 0 if it has none.
    places: Vec<u32>,
    tables: Vec<[u32; TABLE_LEN]>,
}

impl Layer {
    /// Creates the layer with an index, with space for the surface in a number of cells.
    ///
    /// # Errors
    /// [`IsosurfaceError::Vertices`] if numbers of 32 bits might not suffice, and
    /// [`IsosurfaceError::OutOfMemory`].
    pub(super) fn new(
        index: usize,
        size: [usize; 3],
        cell_count: u64,
    ) -> Result<Self, IsosurfaceError> {
        if cell_count > u64::from(NONE) / VERTICES_MAX as u64 {
            return Err(IsosurfaceError::Vertices);
        }
        let blocks = [size[0].div_ceil(EDGE), size[1].div_ceil(EDGE)];
        let mut layer = Self {
            tables: Tables {
                first: index * EDGE,
                width: size[0],
                size: blocks,
                places: vec![0; 2 * blocks[0] * blocks[1]],
                tables: Vec::new(),
            },
            ..Self::default()
        };
        memory::reserve(&mut layer.positions, cell_count)?;
        memory::reserve(&mut layer.normals, cell_count)?;
        memory::reserve(&mut layer.triangles, 2 * cell_count)?;
        Ok(layer)
    }

    /// Reserves memory for the surface in some cells of a macrocell.
    pub(super) fn reserve(&mut self, cells: usize) -> Result<(), NoMemory> {
        memory::grow(&mut self.positions, VERTICES_MAX * cells)?;
        memory::grow(&mut self.normals, VERTICES_MAX * cells)?;
        memory::grow(&mut self.triangles, TRIANGLES_MAX * cells)?;
        memory::grow(&mut self.lowest, VERTICES_MAX * cells)?;
        memory::grow(&mut self.highest, VERTICES_MAX * cells)?;
        // The macrocell, and its neighbours to the right, behind and above.
        memory::grow(&mut self.tables.tables, 8)
    }

    /// Returns the number of the vertex on the edge from a voxel along an axis. `make` returns the
    /// position and the normal of a new one.
    pub(super) fn vertex(
        &mut self,
        from: [usize; 3],
        axis: usize,
        make: impl FnOnce() -> [Vec3; 2],
    ) -> u32 {
        let known = self.tables.number(from, axis);
        if *known != NONE {
            return *known;
        }
        let number = self.positions.len() as u32;
        *known = number;
        let [x, y, z] = from;
        let index = 2 * (y * self.tables.width + x) + axis;
        match z - self.tables.first {
            0 if axis < 2 => self.lowest.push((index, number)),
            EDGE => self.highest.push((index, number)),
            _ => {}
        }
        let [position, normal] = make();
        self.positions.push(position);
        self.normals.push(normal);
        number
    }

    /// Adds a vertex in the middle of others, and returns its number.
    pub(super) fn add_middle(&mut self, vertices: &[u32]) -> u32 {
        let mean = |list: &[Vec3]| {
            let sum: Vec3 = vertices.iter().map(|&vertex| list[vertex as usize]).sum();
            sum / vertices.len() as f32
        };
        let (position, normal) = (mean(&self.positions), mean(&self.normals));
        self.positions.push(position);
        self.normals.push(normal.normalize_or_zero());
        (self.positions.len() - 1) as u32
    }

    /// Frees what only the extraction needs.
    pub(super) fn finish(&mut self) {
        // Two adjacent macrocells do not find the vertices of a plane in the same order.
        self.lowest.sort_unstable();
        self.highest.sort_unstable();
        self.tables = Tables::default();
    }

    /// Returns for each vertex its number without copies; [`NONE`] for a copy.
    fn ranks(&self) -> Result<Vec<u32>, NoMemory> {
        let mut ranks = Vec::new();
        memory::reserve(&mut ranks, self.positions.len() as u64)?;
        ranks.resize(self.positions.len(), 0);
        for &(_, copy) in &self.highest {
            ranks[copy as usize] = NONE;
        }
        let kept = ranks.iter_mut().filter(|rank| **rank != NONE);
        for (rank, kept) in kept.enumerate() {
            *kept = rank as u32;
        }
        Ok(ranks)
    }

    /// Removes the copies, and lets triangles have the numbers of all layers. `others` are the
    /// numbers of the vertices in the highest plane.
    fn renumber(&mut self, first: u32, ranks: &[u32], others: impl Iterator<Item = u32>) {
        // The numbers of the copies, in the order of the copies.
        let copies = self.highest.iter().map(|&(_, copy)| copy);
        let mut copies: Vec<(u32, u32)> = copies.zip(others).collect();
        copies.sort_unstable();
        for corner in self.triangles.as_flattened_mut() {
            *corner = match ranks[*corner as usize] {
                NONE => {
                    let known = copies.binary_search_by_key(corner, |&(copy, _)| copy);
                    known.map_or(NONE, |at| copies[at].1)
                }
                rank => first + rank,
            };
        }
        for list in [&mut self.positions, &mut self.normals] {
            let mut ranks = ranks.iter();
            list.retain(|_| ranks.next() != Some(&NONE));
        }
    }
}

impl Tables {
    /// Returns the number of the vertex on the edge from a voxel along an axis, or its place.
    #[inline]
    fn number(&mut self, [x, y, z]: [usize; 3], axis: usize) -> &mut u32 {
        let z = z - self.first;
        let block = (z / EDGE * self.size[1] + y / EDGE) * self.size[0] + x / EDGE;
        let place = &mut self.places[block];
        if *place == 0 {
            self.tables.push([NONE; TABLE_LEN]);
            *place = self.tables.len() as u32;
        }
        let inner = (z % EDGE * EDGE + y % EDGE) * EDGE + x % EDGE;
        &mut self.tables[*place as usize - 1][3 * inner + axis]
    }
}

/// Joins the layers to a mesh.
///
/// # Errors
/// [`IsosurfaceError::Vertices`] if there are more vertices than a mesh can number, and
/// [`IsosurfaceError::OutOfMemory`].
pub(super) fn joined(mut layers: Vec<Layer>) -> Result<Mesh, IsosurfaceError> {
    if let Some(last) = layers.last_mut() {
        // No other layer has the vertices in the plane above.
        last.highest.clear();
    }
    let mut count = 0;
    let firsts = layers.iter().map(|layer| {
        let first = count;
        count += layer.positions.len() - layer.highest.len();
        first as u32
    });
    let firsts: Vec<u32> = firsts.collect();
    u32::try_from(count).map_err(|_| IsosurfaceError::Vertices)?;
    let ranks = raddle::map(0..layers.len(), |index| layers[index].ranks());
    let ranks = ranks.into_iter().collect::<Result<Vec<_>, _>>()?;
    let lowest = layers
        .iter_mut()
        .map(|layer| std::mem::take(&mut layer.lowest));
    let lowest: Vec<Vec<InPlane>> = lowest.collect();
    raddle::for_each_mut(&mut layers, |index, layer| {
        // An edge in the plane is one of cells on both sides, so that both layers have its vertex.
        let above = index + 1;
        let others = lowest.get(above).into_iter().flatten();
        let others = others.map(|&(_, number)| firsts[above] + ranks[above][number as usize]);
        layer.renumber(firsts[index], &ranks[index], others);
    });
    drop(ranks);
    let mut mesh = Mesh::default();
    memory::reserve(&mut mesh.positions, count as u64)?;
    memory::reserve(&mut mesh.normals, count as u64)?;
    let triangles = layers.iter().map(|layer| layer.triangles.len() as u64);
    memory::reserve(&mut mesh.triangles, triangles.sum())?;
    for layer in layers {
        mesh.positions.extend_from_slice(&layer.positions);
        mesh.normals.extend_from_slice(&layer.normals);
        mesh.triangles.extend_from_slice(&layer.triangles);
    }
    Ok(mesh)
}
