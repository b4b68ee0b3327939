//! Reads the voxels of a file, whatever its format.
//!
//! Integers of up to 16 bits and `f32` keep their type. Others become `f32`, and so do voxels with
//! a scale, unless the result is integers of 16 bits.
//!
//! **Invariant:** no memory is allocated for voxels that the file cannot contain.

use super::grid::Grid;
use super::parsed::{Scalar, volume_fault};
use super::voxels::{Voxel, Voxels};
use crate::file::{Fault, Place, Source, quoted};
use crate::memory;

#[cfg(test)]
mod tests;

/// The number of bytes that any compressed file may expand to, and the number of further bytes for
/// each compressed byte. gzip expands by a factor of 1,032 at most.
const EXPANDED_FREE: u64 = 256 << 20;
const EXPANDED_PER_BYTE: u64 = 1032;
/// The number of voxels for which memory is reserved if the length of the input is unknown.
const UNBOUNDED_LEN: u64 = 1 << 20;

/// Returns the function from bytes in some order to a number.
macro_rules! order {
    ($type:ident) => {
        |bytes, is_big_endian| match is_big_endian {
            true => $type::from_be_bytes(bytes),
            false => $type::from_le_bytes(bytes),
        }
    };
}

/// Returns the function from bytes in some order to a number, rounded to an `f32`.
macro_rules! as_float {
    ($type:ident) => {
        |bytes, is_big_endian| match is_big_endian {
            true => $type::from_be_bytes(bytes) as f32,
            false => $type::from_le_bytes(bytes) as f32,
        }
    };
}

/// The voxels that a header describes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    /// The number of voxels along x, y and z.
    pub(crate) size: [u64; 3],
    /// The type of the numbers.
    pub(crate) scalar: Scalar,
    /// True if the most significant byte comes first.
    pub(crate) is_big_endian: bool,
    /// Value = slope · number + intercept.
    pub(crate) slope: f64,
    pub(crate) intercept: f64,
    /// The number of low bits of an integer that count, if it has others; of at most 16 bits.
    pub(crate) stored_bits: Option<u32>,
    /// The number of files that each contain an equal part of the voxels.
    pub(crate) parts: u64,
    /// The place of the size in the header.
    pub(crate) place: Place,
}

impl Layout {
    /// Returns a layout without a scale, with the least significant byte first.
    pub(crate) fn new(size: [u64; 3], scalar: Scalar, place: Place) -> Self {
        Self {
            size,
            scalar,
            is_big_endian: false,
            slope: 1.0,
            intercept: 0.0,
            stored_bits: None,
            parts: 1,
            place,
        }
    }

    /// Returns the number of voxels in a file, if there is an address for each voxel.
    pub(crate) fn count(&self) -> Result<u64, Fault> {
        let count =
            Grid::checked_count(self.size).map_err(|error| volume_fault(self.place, &error))?;
        u64::try_from(count)
            .ok()
            .filter(|count| {
                count
                    .checked_mul(8)
                    .is_some_and(|bytes| bytes < isize::MAX as u64)
            })
            .map(|count| count / self.parts)
            .ok_or_else(|| {
                let [x, y, z] = self.size;
                Fault::too_large(
                    self.place,
                    format!("{x} × {y} × {z} voxels"),
                    "voxels that fit into the memory",
                )
            })
    }

    /// Returns the number of bytes of the voxels in a file.
    pub(crate) fn bytes(&self) -> Result<u64, Fault> {
        Ok(self.count()? * self.scalar.bytes())
    }

    /// Reads the voxels as binary data.
    ///
    /// `file_bytes` is the length of the file that `source` expands, if it is known.
    pub(crate) fn read(
        &self,
        source: &mut Source<'_>,
        file_bytes: Option<u64>,
    ) -> Result<Voxels, Fault> {
        self.check_room(source, file_bytes)?;
        // Without a length, nothing bounds the size that the header claims.
        let is_bounded = source.remaining().or(file_bytes).is_some();
        let reserved = if is_bounded { u64::MAX } else { UNBOUNDED_LEN };
        match self.scalar {
            Scalar::U8 => self.converted(source, reserved, |[byte]: [u8; 1], _| byte),
            Scalar::I8 => self.converted(source, reserved, |[byte]: [u8; 1], _| byte as i8),
            Scalar::U16 => self.converted(source, reserved, order!(u16)),
            Scalar::I16 => self.converted(source, reserved, order!(i16)),
            Scalar::F32 => self.converted(source, reserved, order!(f32)),
            Scalar::U32 => self.converted(source, reserved, as_float!(u32)),
            Scalar::I32 => self.converted(source, reserved, as_float!(i32)),
            Scalar::U64 => self.converted(source, reserved, as_float!(u64)),
            Scalar::I64 => self.converted(source, reserved, as_float!(i64)),
            Scalar::F64 => self.converted(source, reserved, as_float!(f64)),
        }
    }

    /// Reads the voxels as binary data. Each slice has its own slope and intercept, and those of
    /// the layout are ignored. Besides the voxels, only one slice is in memory.
    pub(crate) fn read_slices(
        &self,
        source: &mut Source<'_>,
        file_bytes: Option<u64>,
        scales: &[[f64; 2]],
    ) -> Result<Voxels, Fault> {
        self.check_room(source, file_bytes)?;
        let is_bounded = source.remaining().or(file_bytes).is_some();
        let reserved = if is_bounded { u64::MAX } else { UNBOUNDED_LEN };
        let mut voxels: Vec<f32> = Vec::new();
        memory::reserve(&mut voxels, self.count()?.min(reserved))
            .map_err(|none| Fault::no_memory(self.place, none))?;
        let slice = Self {
            slope: 1.0,
            intercept: 0.0,
            parts: scales.len() as u64,
            ..*self
        };
        for [slope, intercept] in scales {
            let (place, first) = (source.byte(), voxels.len());
            let numbers = slice.read(source, file_bytes)?;
            memory::grow(&mut voxels, numbers.len())
                .map_err(|none| Fault::no_memory(place, none))?;
            super::voxels::with_voxels!(&numbers, list => {
                let scale = |number: f64| (number * slope + intercept) as f32;
                voxels.extend(list.iter().map(|number| scale(number.value())));
            });
            let bytes = self.scalar.bytes();
            self.check_finite(&voxels, first, |index| moved(place, index * bytes))?;
        }
        Ok(voxels.into())
    }

    /// Reads the voxels as numbers in text, up to the end or a tag of XML.
    pub(crate) fn read_text(&self, source: &mut Source<'_>) -> Result<Voxels, Fault> {
        // A number and the space behind it take two bytes.
        let count = self.count()?;
        if let Some(remaining) = source.remaining()
            && remaining < 2 * count - 1
        {
            return Err(self.too_short(source, remaining, 2 * count - 1));
        }
        let voxels = match self.scalar {
            Scalar::U8 => self.words::<u8>(source, count)?.into(),
            Scalar::I8 => self.words::<i8>(source, count)?.into(),
            Scalar::U16 => self.words::<u16>(source, count)?.into(),
            Scalar::I16 => self.words::<i16>(source, count)?.into(),
            Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64 | Scalar::F32 | Scalar::F64 => {
                self.words::<f32>(source, count)?.into()
            }
        };
        self.scaled(voxels)
    }

    /// Checks that the file can contain the voxels.
    fn check_room(&self, source: &mut Source<'_>, file_bytes: Option<u64>) -> Result<(), Fault> {
        let bytes = self.bytes()?;
        if let Some(remaining) = source.remaining() {
            if remaining < bytes {
                return Err(self.too_short(source, remaining, bytes));
            }
        } else if let Some(file_bytes) = file_bytes
            && bytes > EXPANDED_FREE.saturating_add(EXPANDED_PER_BYTE.saturating_mul(file_bytes))
        {
            let [x, y, z] = self.size;
            let found = format!("{x} × {y} × {z} voxels in {file_bytes} compressed bytes");
            let expected = format!(
                "at most {EXPANDED_FREE} bytes and {EXPANDED_PER_BYTE} for each compressed byte"
            );
            return Err(Fault::too_large(self.place, found, expected));
        }
        Ok(())
    }

    #[cold]
    fn too_short(&self, source: &Source<'_>, remaining: u64, bytes: u64) -> Fault {
        let [x, y, z] = self.size;
        let part = match self.parts {
            1 => String::new(),
            parts => format!("1/{parts} of "),
        };
        Fault::syntax(
            source.byte(),
            format!("{remaining} bytes of voxels"),
            format!("{bytes} bytes for {part}{x} × {y} × {z} voxels"),
        )
    }

    /// Reads binary numbers and applies slope and intercept. If the type of the result is known in
    /// advance, that is done while reading, so that the voxels are in memory only once.
    fn converted<T: Voxel, const BYTES: usize>(
        &self,
        source: &mut Source<'_>,
        reserved: u64,
        convert: impl Fn([u8; BYTES], bool) -> T,
    ) -> Result<Voxels, Fault>
    where
        Voxels: From<Vec<T>>,
    {
        let value = |bytes, is_big_endian| {
            convert(bytes, is_big_endian).value() * self.slope + self.intercept
        };
        let is_short = |ends: [T; 2]| ends.iter().all(|end| self.is_short(end.value()));
        let ends = [T::LOWEST, T::HIGHEST];
        // The type depends on the voxels only for integers of 16 bits, which are converted in place
        // in nearly all cases.
        let is_unknown = self.scalar.bytes() == 2 && self.is_integral();
        if !self.has_scale() || self.stored_bits.is_some() || is_unknown {
            let voxels = self.numbers(source, reserved, convert)?.into();
            return self.scaled(self.without_unused_bits(voxels));
        }
        if self.is_integral() && self.scalar.bytes() == 1 && is_short(ends) {
            let short = |bytes, order| value(bytes, order) as i16;
            return Ok(self.numbers(source, reserved, short)?.into());
        }
        let float = |bytes, order| value(bytes, order) as f32;
        Ok(self.numbers(source, reserved, float)?.into())
    }

    /// Returns true if slope and intercept change a value.
    fn has_scale(&self) -> bool {
        self.slope != 1.0 || self.intercept != 0.0
    }

    /// Returns true if integers stay integers.
    fn is_integral(&self) -> bool {
        self.slope.fract() == 0.0 && self.intercept.fract() == 0.0
    }

    /// Returns true if a number with its scale is one of 16 bits.
    fn is_short(&self, number: f64) -> bool {
        (-32768.0..=32767.0).contains(&(number * self.slope + self.intercept))
    }

    /// Reads binary numbers of `BYTES` bytes. Reserves memory for at most `reserved` of them.
    fn numbers<T: Voxel, const BYTES: usize>(
        &self,
        source: &mut Source<'_>,
        reserved: u64,
        convert: impl Fn([u8; BYTES], bool) -> T,
    ) -> Result<Vec<T>, Fault> {
        let count = self.count()?;
        let expected = format!("{count} voxels of {BYTES} bytes");
        let mut voxels = Vec::new();
        memory::reserve(&mut voxels, count.min(reserved))
            .map_err(|none| Fault::no_memory(source.byte(), none))?;
        let mut left = count as usize;
        while left > 0 {
            source.peek(BYTES, &expected)?;
            let records = source.buffered().chunks_exact(BYTES);
            let taken = records.len().min(left);
            let first = voxels.len();
            voxels.extend(records.take(taken).map(|record| {
                let mut bytes = [0; BYTES];
                bytes.copy_from_slice(record);
                convert(bytes, self.is_big_endian)
            }));
            let place = source.byte();
            self.check_finite(&voxels, first, |index| moved(place, index * BYTES as u64))?;
            source.consume(taken * BYTES);
            left -= taken;
        }
        Ok(voxels)
    }

    /// Reads numbers in text.
    fn words<T: Voxel + std::str::FromStr>(
        &self,
        source: &mut Source<'_>,
        count: u64,
    ) -> Result<Vec<T>, Fault> {
        let mut voxels = Vec::new();
        source.reserve(&mut voxels, count, 2)?;
        let expected = format!("{count} numbers");
        while (voxels.len() as u64) < count {
            let here = source.line();
            let Some((place, word)) = source.next_token()? else {
                return Err(Fault::truncated(here, expected));
            };
            let text = std::str::from_utf8(word).ok();
            let number = text.and_then(|text| text.parse().ok()).ok_or_else(|| {
                Fault::syntax(place, quoted(word), format!("a number of type {}", T::NAME))
            })?;
            voxels.push(number);
            self.check_finite(&voxels, voxels.len() - 1, |_| place)?;
        }
        Ok(voxels)
    }

    /// Checks the voxels from an index on. `place` gets the index of a voxel from there.
    fn check_finite<T: Voxel>(
        &self,
        voxels: &[T],
        first: usize,
        place: impl FnOnce(u64) -> Place,
    ) -> Result<(), Fault> {
        let is_bad = |voxel: &T| !voxel.value().is_finite();
        let Some(index) = voxels[first..].iter().position(is_bad) else {
            return Ok(());
        };
        let place = place(index as u64);
        let (index, [width, height, _]) = (first + index, self.size.map(|len| len as usize));
        let (x, y, z) = (
            index % width,
            index / width % height,
            index / (width * height),
        );
        let found = format!("voxel ({x}, {y}, {z}) is {}", voxels[index].value());
        let expected = match self.scalar {
            Scalar::F64 => "finite numbers of magnitude below 3.4e38",
            _ => "finite numbers",
        };
        Err(Fault::syntax(place, found, expected))
    }

    /// Replaces the unused bits of integers: by zeros, or by the sign.
    fn without_unused_bits(&self, mut voxels: Voxels) -> Voxels {
        let Some(stored) = self.stored_bits else {
            return voxels;
        };
        let unused = 8 * self.scalar.bytes() as u32 - stored;
        match &mut voxels {
            Voxels::U8(list) => list.iter_mut().for_each(|it| *it = *it << unused >> unused),
            Voxels::I8(list) => list.iter_mut().for_each(|it| *it = *it << unused >> unused),
            Voxels::U16(list) => list.iter_mut().for_each(|it| *it = *it << unused >> unused),
            Voxels::I16(list) => list.iter_mut().for_each(|it| *it = *it << unused >> unused),
            Voxels::F32(_) => {}
        }
        voxels
    }

    /// Applies slope and intercept.
    fn scaled(&self, voxels: Voxels) -> Result<Voxels, Fault> {
        if !self.has_scale() {
            return Ok(voxels);
        }
        let value = |number: f64| number * self.slope + self.intercept;
        let is_integer = !matches!(voxels, Voxels::F32(_)) && self.is_integral();
        if is_integer && range_of(&voxels).into_iter().all(|end| self.is_short(end)) {
            // A list of types of the same size keeps its memory.
            return match voxels {
                Voxels::U16(list) => {
                    let scaled = list.into_iter().map(|it| value(it.value()) as i16);
                    Ok(scaled.collect::<Vec<_>>().into())
                }
                Voxels::I16(list) => {
                    let scaled = list.into_iter().map(|it| value(it.value()) as i16);
                    Ok(scaled.collect::<Vec<_>>().into())
                }
                voxels => self.mapped(&voxels, |value| value as i16),
            };
        }
        let voxels = self.mapped(&voxels, |value| value as f32)?;
        if let Voxels::F32(list) = &voxels {
            self.check_finite(list, 0, |_| self.place)?;
        }
        Ok(voxels)
    }

    fn mapped<T: Voxel>(&self, voxels: &Voxels, convert: fn(f64) -> T) -> Result<Voxels, Fault>
    where
        Voxels: From<Vec<T>>,
    {
        let mut list: Vec<T> = Vec::new();
        memory::reserve(&mut list, voxels.len() as u64)
            .map_err(|none| Fault::no_memory(self.place, none))?;
        let scale = |value: f64| convert(value * self.slope + self.intercept);
        super::voxels::with_voxels!(voxels, from => {
            list.extend(from.iter().map(|voxel| scale(voxel.value())));
        });
        Ok(list.into())
    }
}

/// Returns the place some bytes behind another one.
fn moved(place: Place, bytes: u64) -> Place {
    match place {
        Place::Byte(byte) => Place::Byte(byte + bytes),
        place => place,
    }
}

/// Returns the smallest and the largest value.
fn range_of(voxels: &Voxels) -> [f64; 2] {
    super::voxels::with_voxels!(voxels, list => {
        let ends = list.iter().fold([list[0]; 2], |[low, high], &voxel| {
            [low.smaller(voxel), high.larger(voxel)]
        });
        ends.map(Voxel::value)
    })
}
