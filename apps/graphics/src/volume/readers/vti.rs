//! Reads VTK image data (`.vti`): XML with voxels as text, as base64, or as binary data at the end.
//!
//! The array is the one that the attribute `Scalars` names, or else the first one of the points, or
//! of the cells if points have none. It may be compressed by zlib.
//!
//! # Source
//! VTK file formats, docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html.

use std::io::{BufRead, BufReader, Read};

use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use flate2::bufread::ZlibDecoder;
use glam::{DMat3, DVec3};
use quick_xml::events::{BytesStart, Event};

use super::text::Field;
use super::{Context, VolumeReader};
use crate::file::{Fault, Place, Rest, Source, quoted};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};
use crate::volume::voxels::Voxels;

/// The maximum number of compressed blocks of an array.
const BLOCKS_MAX: u64 = 1 << 24;

/// The reader of VTK image data.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["vti"],
    is_text: None,
    recognizes: |head| {
        let start = &head.bytes[..head.bytes.len().min(4096)];
        memchr::memmem::find(start, b"<VTKFile").is_some()
    },
    read,
};

/// The attributes of the elements around the array.
#[derive(Debug, Default)]
struct Header {
    is_big_endian: bool,
    /// True if the numbers before the data have 64 bits.
    has_long_sizes: bool,
    is_compressed: bool,
    size: Option<[u64; 3]>,
    geometry: Geometry,
    place: Option<Place>,
    scalars: Option<String>,
    section: Section,
}

/// The part of the file that arrays belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Section {
    /// Neither of the others.
    #[default]
    Other,
    /// Values of points.
    Points,
    /// Values of cells, of which there is one less along each axis.
    Cells,
}

/// The array of voxels, if its data are at the end of the file.
#[derive(Debug, Clone, Copy)]
struct Appended {
    layout: Layout,
    offset: u64,
}

fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    let parsed = parse(source, files)?;
    // Other arrays and closing tags may follow.
    source.drain()?;
    Ok(parsed)
}

fn parse(source: &mut Source<'_>, files: &Context<'_>) -> Result<Parsed, Fault> {
    let file_bytes = source.remaining().or(files.file_bytes);
    let mut header = Header::default();
    let mut appended = None;
    let mut tags = Tags::new(source);
    loop {
        let place = tags.source().byte();
        let Some((tag, is_empty)) = tags.next()? else {
            return Err(Fault::truncated(place, "an array of voxels"));
        };
        match tag.local_name().as_ref() {
            "VTKFile" => header.file(&tag, place)?,
            "ImageData" => header.image(&tag, place)?,
            "Piece" => header.piece(&tag, place)?,
            "PointData" => header.begin(Section::Points, &tag, place)?,
            // Values of cells count only if there are none of points.
            "CellData" if appended.is_none() => header.begin(Section::Cells, &tag, place)?,
            "DataArray" if header.section != Section::Other && appended.is_none() => {
                let Some(layout) = header.array(&tag, place)? else {
                    continue;
                };
                let format = attribute(&tag, "format", place)?;
                match format
                    .as_ref()
                    .map_or("ascii", |format| format.text.as_str())
                {
                    "ascii" if !is_empty => {
                        // The closing tag may follow the last number at once.
                        let mut text = Source::inside(UntilTag::numbers(tags.source()));
                        // Lines are counted from the tag, so its place is reported instead.
                        let voxels = layout.read_text(&mut text);
                        let voxels = voxels.map_err(|fault| Fault::new(place, fault.problem))?;
                        return header.finish(&layout, voxels);
                    }
                    "binary" if !is_empty => {
                        let text = UntilTag::base64(tags.source());
                        let voxels = header.blocks(&layout, file_bytes, Base64(text))?;
                        return header.finish(&layout, voxels);
                    }
                    "appended" => {
                        let offset = attribute(&tag, "offset", place)?;
                        let offset = offset.map_or(Ok(0), |field| field.parse("an offset"))?;
                        appended = Some(Appended { layout, offset });
                    }
                    other => {
                        let found = format!("format {}", quoted(other.as_bytes()));
                        let expected = "\"ascii\", \"binary\" or \"appended\"";
                        return Err(Fault::syntax(place, found, expected));
                    }
                }
            }
            "AppendedData" => {
                let Some(Appended { layout, offset }) = appended else {
                    let found = "appended data";
                    return Err(Fault::syntax(
                        place,
                        found,
                        "an array of points or cells before them",
                    ));
                };
                let source = tags.source();
                skip_to_data(source)?;
                let encoding = attribute(&tag, "encoding", place)?;
                let is_base64 = encoding.is_some_and(|field| field.text == "base64");
                source.skip(offset, "an offset in the data")?;
                let voxels = match is_base64 {
                    true => header.blocks(&layout, file_bytes, Base64(UntilTag::base64(source)))?,
                    false => header.blocks(&layout, file_bytes, Plain(Rest(source)))?,
                };
                return header.finish(&layout, voxels);
            }
            _ => {}
        }
    }
}

/// The tags of a file. Between two of them, the source may be read directly.
struct Tags<'s, 'a>(quick_xml::Reader<Rest<'s, 'a>>);

impl<'s, 'a> Tags<'s, 'a> {
    fn new(source: &'s mut Source<'a>) -> Self {
        let mut reader = quick_xml::Reader::from_reader(Rest(source));
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        Self(reader)
    }

    /// Returns the bytes behind the last tag.
    fn source(&mut self) -> &mut Source<'a> {
        self.0.get_mut().0
    }

    /// Returns the next opening tag, and true if it is empty.
    fn next(&mut self) -> Result<Option<(BytesStart<'static>, bool)>, Fault> {
        let mut buffer = Vec::new();
        loop {
            let place = self.source().byte();
            buffer.clear();
            match self.0.read_event_into(&mut buffer) {
                Ok(Event::Start(tag)) => return Ok(Some((tag.into_owned(), false))),
                Ok(Event::Empty(tag)) => return Ok(Some((tag.into_owned(), true))),
                Ok(Event::Eof) => return Ok(None),
                Ok(_) => {}
                Err(error) => {
                    return Err(Fault::syntax(place, error.to_string(), "well-formed XML"));
                }
            }
        }
    }
}

/// Returns an attribute of a tag.
fn attribute(tag: &BytesStart<'_>, name: &str, place: Place) -> Result<Option<Field>, Fault> {
    let attribute = tag
        .try_get_attribute(name)
        .map_err(|error| Fault::syntax(place, error.to_string(), "well-formed attributes"))?;
    Ok(attribute.map(|attribute| Field::new(place, attribute.value.as_bytes())))
}

/// Skips white space and the underscore before appended data.
fn skip_to_data(source: &mut Source<'_>) -> Result<(), Fault> {
    loop {
        let byte = source.peek(1, "the underscore before the data")?[0];
        let place = source.byte();
        source.consume(1);
        match byte {
            b'_' => return Ok(()),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            other => {
                return Err(Fault::syntax(
                    place,
                    quoted(&[other]),
                    "\"_\" before the data",
                ));
            }
        }
    }
}

impl Header {
    fn file(&mut self, tag: &BytesStart<'_>, place: Place) -> Result<(), Fault> {
        if let Some(kind) = attribute(tag, "type", place)?
            && kind.text != "ImageData"
        {
            return Err(kind.wrong("\"ImageData\": a regular grid"));
        }
        let order = attribute(tag, "byte_order", place)?;
        self.is_big_endian = order.is_some_and(|order| order.text == "BigEndian");
        let sizes = attribute(tag, "header_type", place)?;
        self.has_long_sizes = sizes.is_some_and(|sizes| sizes.text == "UInt64");
        if let Some(compressor) = attribute(tag, "compressor", place)? {
            if compressor.text != "vtkZLibDataCompressor" {
                return Err(compressor.wrong("no compression, or vtkZLibDataCompressor"));
            }
            self.is_compressed = true;
        }
        Ok(())
    }

    fn image(&mut self, tag: &BytesStart<'_>, place: Place) -> Result<(), Fault> {
        if let Some(extent) = attribute(tag, "WholeExtent", place)? {
            self.size = Some(size_of_extent(&extent)?);
            self.place = Some(place);
        }
        if let Some(origin) = attribute(tag, "Origin", place)? {
            self.geometry.origin = origin.vector("three coordinates")?;
        }
        if let Some(spacing) = attribute(tag, "Spacing", place)? {
            self.geometry.spacing = spacing.vector("three distances")?;
        }
        if let Some(direction) = attribute(tag, "Direction", place)? {
            let rows: [f64; 9] = direction.list("nine numbers")?;
            self.geometry.direction = DMat3::from_cols_array(&rows).transpose();
        }
        // The origin of VTK is that of index (0, 0, 0), at which the extent need not begin.
        if let Some(extent) = attribute(tag, "WholeExtent", place)? {
            let [x, _, y, _, z, _]: [f64; 6] = extent.list("six indices")?;
            let first = self.geometry.spacing * DVec3::new(x, y, z);
            self.geometry.origin += self.geometry.direction * first;
        }
        Ok(())
    }

    /// Begins a list of arrays.
    fn begin(&mut self, section: Section, tag: &BytesStart<'_>, place: Place) -> Result<(), Fault> {
        self.scalars = attribute(tag, "Scalars", place)?.map(|field| field.text);
        self.section = section;
        Ok(())
    }

    /// Checks that there is only one piece.
    fn piece(&mut self, tag: &BytesStart<'_>, place: Place) -> Result<(), Fault> {
        let Some(extent) = attribute(tag, "Extent", place)? else {
            return Ok(());
        };
        let size = size_of_extent(&extent)?;
        if self.size.is_some_and(|whole| whole != size) {
            return Err(extent.wrong("one piece with the whole extent"));
        }
        Ok(())
    }

    /// Returns the layout of an array, if it is the one to read.
    fn array(&self, tag: &BytesStart<'_>, place: Place) -> Result<Option<Layout>, Fault> {
        let name = attribute(tag, "Name", place)?;
        if let (Some(wanted), Some(name)) = (&self.scalars, &name)
            && *wanted != name.text
        {
            return Ok(None);
        }
        if let Some(components) = attribute(tag, "NumberOfComponents", place)?
            && components.text != "1"
        {
            return Err(components.wrong("1 component: one number for each voxel"));
        }
        let missing = |what: &str| Fault::syntax(place, "an array", format!("{what} before it"));
        let size = self.size.ok_or_else(|| missing("an extent"))?;
        let size = match self.section {
            Section::Cells => size.map(|len| len.saturating_sub(1)),
            _ => size,
        };
        let kind = attribute(tag, "type", place)?.ok_or_else(|| missing("a type"))?;
        let scalar = Scalar::named(&kind.text)
            .ok_or_else(|| kind.wrong("a type of integers or floats, such as Int16"))?;
        let mut layout = Layout::new(size, scalar, self.place.unwrap_or(place));
        layout.is_big_endian = self.is_big_endian;
        Ok(Some(layout))
    }

    /// Reads the sizes before the data, and the data.
    fn blocks<'a>(
        &self,
        layout: &Layout,
        file_bytes: Option<u64>,
        mut data: impl Part + 'a,
    ) -> Result<Voxels, Fault> {
        let wanted = layout.bytes()?;
        let wrong = |found: String, expected: String| Fault::syntax(Place::Whole, found, expected);
        let read = |error: std::io::Error| {
            let problem = crate::file::FileProblem::Read(error);
            Fault::new(Place::Whole, problem)
        };
        if !self.is_compressed {
            let mut data = data.part(u64::MAX);
            let [bytes] = self.sizes(&mut data).map_err(read)?;
            if bytes != wanted {
                let found = format!("{bytes} bytes of voxels");
                return Err(wrong(found, format!("{wanted} bytes")));
            }
            return layout.read(&mut Source::inside(data), file_bytes);
        }
        // The number of blocks, the bytes of a block and of the last one, and the compressed bytes
        // of each block.
        let size_bytes = if self.has_long_sizes { 8 } else { 4 };
        let [count, block, last] = self.sizes(&mut data.part(3 * size_bytes)).map_err(read)?;
        let whole = if last > 0 {
            count.saturating_sub(1)
        } else {
            count
        };
        let all = whole
            .checked_mul(block)
            .and_then(|bytes| bytes.checked_add(last));
        if count > BLOCKS_MAX || all != Some(wanted) {
            let found = format!("{count} blocks of {block} bytes");
            return Err(wrong(found, format!("{wanted} bytes of voxels")));
        }
        // Each block ends where its compressed data end, so the sizes are not needed.
        let sizes = count * size_bytes;
        let skipped = std::io::copy(&mut data.part(sizes), &mut std::io::sink()).map_err(read)?;
        if skipped != sizes {
            return Err(wrong(
                format!("{skipped} bytes of sizes"),
                format!("{sizes} bytes"),
            ));
        }
        let blocks = Blocks::new(data.part(u64::MAX), count);
        layout.read(&mut Source::inside(blocks), file_bytes)
    }

    /// Reads numbers of 32 or 64 bits.
    fn sizes<const COUNT: usize>(&self, data: &mut impl Read) -> std::io::Result<[u64; COUNT]> {
        let mut sizes = [0; COUNT];
        for size in &mut sizes {
            let mut bytes = [0; 8];
            *size = match (self.has_long_sizes, self.is_big_endian) {
                (true, is_big_endian) => {
                    data.read_exact(&mut bytes)?;
                    match is_big_endian {
                        true => u64::from_be_bytes(bytes),
                        false => u64::from_le_bytes(bytes),
                    }
                }
                (false, is_big_endian) => {
                    let mut four = [0; 4];
                    data.read_exact(&mut four)?;
                    u64::from(match is_big_endian {
                        true => u32::from_be_bytes(four),
                        false => u32::from_le_bytes(four),
                    })
                }
            };
        }
        Ok(sizes)
    }

    fn finish(&self, layout: &Layout, voxels: Voxels) -> Result<Parsed, Fault> {
        let place = self.place.unwrap_or(Place::Whole);
        let mut geometry = self.geometry;
        if self.section == Section::Cells {
            // The value of a cell is that of its middle.
            geometry.origin += geometry.direction * (0.5 * geometry.spacing);
        }
        Parsed::new(VolumeFormat::Vti, layout.size, voxels, geometry, place)
    }
}

/// Returns the number of voxels between the first and the last index of each axis.
fn size_of_extent(extent: &Field) -> Result<[u64; 3], Fault> {
    let expected = "the first and the last index of x, y and z";
    let ends: [i64; 6] = extent.list(expected)?;
    let len = |axis: usize| {
        let len = ends[2 * axis + 1]
            .checked_sub(ends[2 * axis])?
            .checked_add(1)?;
        u64::try_from(len).ok()
    };
    let size = [0, 1, 2].map(len);
    match size {
        [Some(x), Some(y), Some(z)] => Ok([x, y, z]),
        _ => Err(extent.wrong(expected)),
    }
}

/// Binary data in one or several parts. In base64, each part is encoded by itself.
trait Part {
    /// Returns the next part, of at most `bytes` bytes.
    fn part(&mut self, bytes: u64) -> impl Read + '_;
}

/// Data as they are.
struct Plain<R>(R);

impl<R: Read> Part for Plain<R> {
    fn part(&mut self, bytes: u64) -> impl Read + '_ {
        (&mut self.0).take(bytes)
    }
}

/// Data in base64, without white space.
struct Base64<R>(R);

impl<R: Read> Part for Base64<R> {
    fn part(&mut self, bytes: u64) -> impl Read + '_ {
        // Three bytes take four characters. The decoder must not read more than its part.
        let chars = bytes.div_ceil(3).saturating_mul(4);
        DecoderReader::new((&mut self.0).take(chars), &STANDARD)
    }
}

/// The text of an element, up to the next tag.
struct UntilTag<'s, 'a> {
    rest: Rest<'s, 'a>,
    /// True if white space is a part of the text.
    has_space: bool,
}

impl<'s, 'a> UntilTag<'s, 'a> {
    /// Returns numbers, which white space separates.
    fn numbers(source: &'s mut Source<'a>) -> Self {
        let (rest, has_space) = (Rest(source), true);
        Self { rest, has_space }
    }

    /// Returns base64.
    fn base64(source: &'s mut Source<'a>) -> Self {
        let (rest, has_space) = (Rest(source), false);
        Self { rest, has_space }
    }
}

impl Read for UntilTag<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let available = self.rest.fill_buf()?;
            let end = available.iter().position(|&byte| byte == b'<');
            let text = &available[..end.unwrap_or(available.len())];
            if text.is_empty() {
                return Ok(0);
            }
            let used = text.len().min(buffer.len());
            let mut count = 0;
            for &byte in text[..used]
                .iter()
                .filter(|byte| self.has_space || !byte.is_ascii_whitespace())
            {
                buffer[count] = byte;
                count += 1;
            }
            self.rest.consume(used);
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
        }
    }
}

/// Compressed blocks, one after the other.
struct Blocks<R> {
    /// The decoder of the current block; none after the last one.
    decoder: Option<ZlibDecoder<BufReader<R>>>,
    left: u64,
}

impl<R: Read> Blocks<R> {
    fn new(data: R, count: u64) -> Self {
        Self {
            decoder: (count > 0).then(|| ZlibDecoder::new(BufReader::new(data))),
            left: count,
        }
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.left -= 1;
            let data = self.decoder.take().map(ZlibDecoder::into_inner);
            self.decoder = data.filter(|_| self.left > 0).map(ZlibDecoder::new);
        }
        Ok(0)
    }
}
