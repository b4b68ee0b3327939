//! Accessors: typed arrays that a glTF file describes on top of its binary chunk.
//!
//! Every offset and count is checked against the chunk before anything is read, in 64-bit
//! arithmetic that cannot overflow. An array in a view on the chunk is at most as long as the file,
//! so memory is proportional to the file. An accessor without a view is all zeros; it must not be
//! longer than the file either.
//!
//! # Source
//! glTF 2.0 Specification, 3.6.2 (accessors, alignment, sparse accessors, normalised integers).

use super::super::index_fault;
use super::Container;
use super::buffer::Buffers;
use super::json::{Accessor, Number, Root};
use crate::file::{Fault, Place};
use crate::memory;

/// The arrays of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accessors<'a> {
    pub(super) root: &'a Root,
    container: &'a Container,
    buffers: &'a Buffers<'a>,
}

/// The type of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComponentType {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl ComponentType {
    fn of(number: Number) -> Option<Self> {
        Some(match number.0 {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }
}

/// An array in a buffer.
#[derive(Debug, Clone, Copy)]
struct Array<'a> {
    /// The bytes from the first byte of the first item to the last byte of the last item.
    bytes: &'a [u8],
    /// The offset of `bytes` in the file; `None` for data from a URI.
    offset: Option<u64>,
    /// The place where the JSON begins.
    json_place: Place,
    stride: usize,
    item_bytes: usize,
}

impl<'a> Array<'a> {
    /// Returns the items with their places in the file.
    fn items(self) -> impl Iterator<Item = (Place, &'a [u8])> {
        let items = self.bytes.chunks(self.stride).enumerate();
        items.map(move |(number, item)| (self.place(number), &item[..self.item_bytes]))
    }

    /// Returns the place of an item in the file.
    fn place(self, number: usize) -> Place {
        self.offset.map_or(self.json_place, |offset| {
            Place::Byte(offset + (number * self.stride) as u64)
        })
    }
}

impl<'a> Accessors<'a> {
    pub(super) fn new(root: &'a Root, container: &'a Container, buffers: &'a Buffers<'a>) -> Self {
        Self {
            root,
            container,
            buffers,
        }
    }

    /// Returns the place where errors of the JSON are reported.
    pub(super) fn json_place(&self) -> Place {
        self.container.json_place()
    }

    /// Creates a fault in the JSON.
    #[cold]
    pub(super) fn fault(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::syntax(self.json_place(), found, expected)
    }

    /// Returns the number of items that an accessor declares. The number is not checked yet.
    pub(super) fn count(&self, index: usize) -> Result<u64, Fault> {
        self.accessor(index).map(|accessor| accessor.count.0)
    }

    /// Calls `visit` with every item of an accessor of type `kind`, which has `N` components.
    pub(super) fn vectors<const N: usize>(
        &self,
        index: usize,
        kind: &str,
        mut visit: impl FnMut(Place, [f64; N]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let accessor = self.accessor(index)?;
        let component = self.component(index, accessor, kind)?;
        let vector = |item: &[u8]| {
            std::array::from_fn(|at| {
                let bytes = &item[at * size(component)..];
                number(component, accessor.normalized, bytes)
            })
        };
        let item_bytes = N * size(component);
        let base = self.base(index, accessor, item_bytes)?;
        if let (Some(base), None) = (base, &accessor.sparse) {
            return base
                .items()
                .try_for_each(|(place, item)| visit(place, vector(item)));
        }
        let mut items: Vec<(Place, [f64; N])> = match base {
            Some(base) => base
                .items()
                .map(|(place, item)| (place, vector(item)))
                .collect(),
            None => {
                let count = self.zeros(index, accessor, size_of::<(Place, [f64; N])>())?;
                vec![(self.json_place(), [0.0; N]); count]
            }
        };
        self.replace(index, accessor, item_bytes, |at, place, item| {
            items[at] = (place, vector(item));
        })?;
        items
            .into_iter()
            .try_for_each(|(place, item)| visit(place, item))
    }

    /// Returns the items of an accessor of integers, all of which must be below `vertex_count`.
    pub(super) fn indices(&self, index: usize, vertex_count: usize) -> Result<Vec<u32>, Fault> {
        let accessor = self.accessor(index)?;
        let component = self.component(index, accessor, "SCALAR")?;
        if !matches!(
            component,
            ComponentType::U8 | ComponentType::U16 | ComponentType::U32
        ) {
            let found = format!("accessor {index} of {component:?} for indices");
            return Err(self.fault(found, "unsigned numbers of 8, 16 or 32 bits"));
        }
        let item_bytes = size(component);
        let base = self.base(index, accessor, item_bytes)?;
        let mut indices: Vec<u32> = match base {
            Some(base) => base.items().map(|(_, item)| unsigned(item)).collect(),
            None => vec![0; self.zeros(index, accessor, size_of::<u32>())?],
        };
        self.replace(index, accessor, item_bytes, |at, _, item| {
            indices[at] = unsigned(item);
        })?;
        let is_bad = |&index: &u32| index as usize >= vertex_count;
        if let Some(bad) = indices.iter().position(is_bad) {
            let place = base.map_or(self.json_place(), |base| base.place(bad));
            return Err(index_fault(place, i64::from(indices[bad]), vertex_count));
        }
        Ok(indices)
    }

    fn accessor(&self, index: usize) -> Result<&'a Accessor, Fault> {
        let accessors = &self.root.accessors;
        accessors.get(index).ok_or_else(|| {
            let expected = format!("one below {}, the number of accessors", accessors.len());
            self.fault(format!("accessor {index}"), expected)
        })
    }

    fn component(
        &self,
        index: usize,
        accessor: &Accessor,
        expected: &str,
    ) -> Result<ComponentType, Fault> {
        match ComponentType::of(accessor.component_type) {
            Some(component) if accessor.kind == expected => Ok(component),
            _ => {
                let found = format!("accessor {index} of another type");
                Err(self.fault(found, format!("{expected} of a known component type")))
            }
        }
    }

    /// Returns the items of an accessor in its view, or `None` if it has no view.
    fn base(
        &self,
        index: usize,
        accessor: &Accessor,
        item_bytes: usize,
    ) -> Result<Option<Array<'a>>, Fault> {
        let Some(view) = accessor.buffer_view else {
            return Ok(None);
        };
        let offset = accessor.byte_offset.0;
        let array = self.array(view.index(), offset, accessor.count.0, item_bytes);
        array.map(Some).map_err(|found| {
            let found = format!("accessor {index}: {found}");
            self.fault(found, "an array inside the data of this file")
        })
    }

    /// Returns the number of items of an accessor without a view. Each item takes `item_bytes`
    /// bytes in memory.
    fn zeros(&self, index: usize, accessor: &Accessor, item_bytes: usize) -> Result<usize, Fault> {
        let count = accessor.count.0;
        let bytes = (self.container.json.len() + self.container.binary.len()) as u64;
        if count > bytes {
            return Err(Fault::too_large(
                self.json_place(),
                format!("accessor {index}: {count} items that are not in the file"),
                format!("at most {bytes}, one for every byte of the file"),
            ));
        }
        memory::ask_for_each(count as usize, item_bytes as u64)
            .map_err(|none| Fault::no_memory(self.json_place(), none))?;
        Ok(count as usize)
    }

    /// Calls `put` with every item that a sparse accessor replaces.
    fn replace(
        &self,
        index: usize,
        accessor: &Accessor,
        item_bytes: usize,
        mut put: impl FnMut(usize, Place, &[u8]),
    ) -> Result<(), Fault> {
        let Some(sparse) = &accessor.sparse else {
            return Ok(());
        };
        let Some(index_type) = ComponentType::of(sparse.indices.component_type) else {
            let found = format!("accessor {index}: sparse indices of another type");
            return Err(self.fault(found, "unsigned numbers of 8, 16 or 32 bits"));
        };
        let index_bytes = size(index_type);
        let part = |view: usize, offset: u64, bytes: usize| {
            self.array(view, offset, sparse.count.0, bytes)
                .map_err(|found| {
                    let found = format!("accessor {index}, sparse: {found}");
                    self.fault(found, "an array inside the data of this file")
                })
        };
        let (indices, values) = (&sparse.indices, &sparse.values);
        let indices = part(
            indices.buffer_view.index(),
            indices.byte_offset.0,
            index_bytes,
        )?;
        let values = part(values.buffer_view.index(), values.byte_offset.0, item_bytes)?;
        for ((place, at), (value_place, value)) in indices.items().zip(values.items()) {
            let at = unsigned(at);
            if u64::from(at) >= accessor.count.0 {
                let found = i64::from(at);
                let expected = format!("one below {}, as accessor {index} has", accessor.count.0);
                let found = format!("vertex index {found}");
                return Err(Fault::syntax(place, found, expected));
            }
            put(at as usize, value_place, value);
        }
        Ok(())
    }

    /// Returns an array of `count` items in a view, or a description of the problem.
    fn array(
        &self,
        view_index: usize,
        offset: u64,
        count: u64,
        item_bytes: usize,
    ) -> Result<Array<'a>, String> {
        let root = self.root;
        let view = root
            .buffer_views
            .get(view_index)
            .ok_or_else(|| format!("view {view_index} of {}", root.buffer_views.len()))?;
        let (buffer, is_chunk) = self.buffers.bytes(view.buffer.index())?;
        let stride = match view.byte_stride.index() {
            0 => item_bytes,
            stride if stride < item_bytes => {
                return Err(format!("items of {item_bytes} bytes every {stride} bytes"));
            }
            stride => stride,
        };
        let start = view.byte_offset.0;
        let bytes = (start.checked_add(view.byte_length.0))
            .and_then(|end| slice(buffer, start, end))
            .ok_or_else(|| {
                let (length, all) = (view.byte_length.0, buffer.len());
                format!("a view of {length} bytes from byte {start} of {all}")
            })?;
        let used = match count {
            0 => Some(0),
            _ => (count - 1)
                .checked_mul(stride as u64)
                .and_then(|bytes| bytes.checked_add(item_bytes as u64)),
        };
        let bytes = used
            .and_then(|used| offset.checked_add(used))
            .and_then(|end| slice(bytes, offset, end))
            .ok_or_else(|| {
                let view = view.byte_length.0;
                format!("{count} items of {stride} bytes from byte {offset} of a view of {view}")
            })?;
        Ok(Array {
            bytes,
            offset: is_chunk.then(|| self.container.binary_offset + start + offset),
            json_place: self.json_place(),
            stride,
            item_bytes,
        })
    }
}

fn slice(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// Returns the size of a component in bytes.
fn size(component: ComponentType) -> usize {
    match component {
        ComponentType::I8 | ComponentType::U8 => 1,
        ComponentType::I16 | ComponentType::U16 => 2,
        ComponentType::U32 | ComponentType::F32 => 4,
    }
}

/// Reads the unsigned integer in one, two or four bytes.
#[inline]
fn unsigned(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u32::from(byte))
}

/// Reads the component at the beginning of `bytes`. A normalised component is between -1 and 1.
fn number(component: ComponentType, is_normalized: bool, bytes: &[u8]) -> f64 {
    let bits = unsigned(&bytes[..size(component)]);
    let (value, largest) = match component {
        ComponentType::F32 => return f64::from(f32::from_bits(bits)),
        ComponentType::U32 => return f64::from(bits),
        ComponentType::I8 => (f64::from(bits as i8), f64::from(i8::MAX)),
        ComponentType::U8 => (f64::from(bits), f64::from(u8::MAX)),
        ComponentType::I16 => (f64::from(bits as i16), f64::from(i16::MAX)),
        ComponentType::U16 => (f64::from(bits), f64::from(u16::MAX)),
    };
    if is_normalized {
        (value / largest).max(-1.0)
    } else {
        value
    }
}
