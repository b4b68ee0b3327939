//! Reads VTK image data (`.vti`): XML with voxels as text, as base64, or as binary data at the end.
//!
//! The array is the one that the attribute `Scalars` names, or else the first one of the points
//! with one number each, or of the cells if points have none. It may be compressed by zlib or LZ4.
//! Files of the old format are recognised and refused.
//!
//! # Source
//! VTK file formats, docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html.

use std::io::Read;

use glam::{DMat3, DVec3};
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

use self::data::{Base64, Compressor, Lz4Blocks, Part, Plain, UntilTag, ZlibBlocks};
use super::text::Field;
use super::{Arrays, Context, VolumeReader};
use crate::file::{Fault, Place, Rest, Source, quoted};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};
use crate::volume::voxels::Voxels;

mod data;

/// The maximum number of compressed blocks of an array.
const BLOCKS_MAX: u64 = 1 << 24;

/// The beginning of a file of the old format (`.vtk`).
const OLD: &[u8] = b"# vtk DataFile";

/// The reader of VTK image data.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["vti"],
    is_text: None,
    recognizes: |head| {
        let start = &head.bytes[..head.bytes.len().min(4096)];
        start.starts_with(OLD) || memchr::memmem::find(start, b"<VTKFile").is_some()
    },
    read,
};

/// The attributes of the elements around the array.
#[derive(Debug, Default)]
struct Header {
    is_big_endian: bool,
    /// True if the numbers before the data have 64 bits.
    has_long_sizes: bool,
    /// The name of the compression of arrays that are not text.
    compressor: Option<Field>,
    size: Option<[u64; 3]>,
    geometry: Geometry,
    place: Option<Place>,
    /// The array that the caller has chosen.
    wanted: Option<String>,
    /// The active scalars of the section.
    scalars: Option<String>,
    section: Section,
    arrays: Arrays,
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
    source.ensure(OLD.len())?;
    if source.buffered().starts_with(OLD) {
        let expected = "VTK image data as XML (.vti), which VTK and ParaView write as well";
        return Err(Fault::syntax(
            Place::Line(1),
            "a VTK file of the old format",
            expected,
        ));
    }
    let file_bytes = source.remaining().or(files.file_bytes);
    let mut header = Header {
        wanted: files.options.array.clone(),
        ..Header::default()
    };
    let mut tags = Tags::new(source);
    let parsed = parse(&mut tags, &mut header, file_bytes)?;
    // Closing tags may follow, and further data.
    tags.source().drain()?;
    files.arrays = header.arrays;
    Ok(parsed)
}

/// Reads tags up to the array and its data. For data in the middle of the file, also reads the tags
/// behind them.
fn parse(
    tags: &mut Tags<'_, '_>,
    header: &mut Header,
    file_bytes: Option<u64>,
) -> Result<Parsed, Fault> {
    let mut appended = None;
    loop {
        let place = tags.source().byte();
        let Some((tag, is_empty)) = tags.next()? else {
            return Err(match tags.is_closed {
                true => header.without_array(place),
                false => Fault::truncated(place, header.expected()),
            });
        };
        match tag.local_name().as_ref() {
            "VTKFile" => header.file(&tag, place)?,
            "ImageData" => header.image(&tag, place)?,
            "Piece" => header.piece(&tag, place)?,
            "PointData" => header.begin(Section::Points, &tag, place)?,
            // Values of cells count only if there are none of points.
            "CellData" if appended.is_none() => header.begin(Section::Cells, &tag, place)?,
            "FieldData" => header.section = Section::Other,
            "DataArray" if header.section != Section::Other => {
                let layout = match appended {
                    None => header.array(&tag, place)?,
                    Some(_) => None,
                };
                header.note(&tag, layout.is_some())?;
                let Some(layout) = layout else {
                    continue;
                };
                let format = attribute(&tag, "format", place)?;
                let voxels = match format.as_ref().map_or("ascii", |it| it.text.as_str()) {
                    "ascii" if !is_empty => {
                        // The closing tag may follow the last number at once.
                        let mut text = Source::inside(UntilTag::numbers(tags.source()));
                        // Lines are counted from the tag, so its place is reported instead.
                        let voxels = layout.read_text(&mut text);
                        voxels.map_err(|fault| Fault::new(place, fault.problem))?
                    }
                    "binary" if !is_empty => {
                        let text = UntilTag::base64(tags.source());
                        header.blocks(&layout, file_bytes, Base64(text))?
                    }
                    "appended" => {
                        let offset = attribute(&tag, "offset", place)?;
                        let offset = offset.map_or(Ok(0), |field| field.parse("an offset"))?;
                        appended = Some(Appended { layout, offset });
                        continue;
                    }
                    other => {
                        let found = format!("format {}", quoted(other.as_bytes()));
                        let expected = "\"ascii\", \"binary\" or \"appended\"";
                        return Err(Fault::syntax(place, found, expected));
                    }
                };
                let parsed = header.finish(&layout, voxels)?;
                header.note_others(tags);
                return Ok(parsed);
            }
            "AppendedData" => {
                let Some(Appended { layout, offset }) = appended else {
                    return Err(header.without_array(place));
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
struct Tags<'s, 'a> {
    reader: quick_xml::Reader<Rest<'s, 'a>>,
    /// True behind the last tag of a complete file.
    is_closed: bool,
}

impl<'s, 'a> Tags<'s, 'a> {
    fn new(source: &'s mut Source<'a>) -> Self {
        let mut reader = quick_xml::Reader::from_reader(Rest(source));
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        Self {
            reader,
            is_closed: false,
        }
    }

    /// Returns the bytes behind the last tag.
    fn source(&mut self) -> &mut Source<'a> {
        self.reader.get_mut().0
    }

    /// Returns the next opening tag, and true if it is empty. Text before it is skipped, since it
    /// may be an array of any size.
    fn next(&mut self) -> Result<Option<(BytesStart<'static>, bool)>, Fault> {
        let mut buffer = Vec::new();
        let source = self.source();
        while source.ensure(1)? {
            let end = memchr::memchr(b'<', source.buffered());
            source.consume(end.unwrap_or(source.buffered().len()));
            if end.is_some() {
                break;
            }
        }
        loop {
            let place = self.source().byte();
            buffer.clear();
            match self.reader.read_event_into(&mut buffer) {
                Ok(Event::Start(tag)) => return Ok(Some((tag.into_owned(), false))),
                Ok(Event::Empty(tag)) => return Ok(Some((tag.into_owned(), true))),
                Ok(Event::Eof) => return Ok(None),
                Ok(Event::End(tag)) if tag.local_name().as_ref() == "VTKFile" => {
                    self.is_closed = true;
                }
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
    Ok(attribute.map(|attribute| {
        let text = unescape(&attribute.value);
        Field::new(
            place,
            text.as_deref().unwrap_or(&attribute.value).as_bytes(),
        )
    }))
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
        self.compressor = attribute(tag, "compressor", place)?;
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
        let scalars = attribute(tag, "Scalars", place)?.map(|field| field.text);
        let scalars = scalars.filter(|name| !name.is_empty());
        self.scalars = self.wanted.clone().or(scalars);
        self.section = section;
        Ok(())
    }

    /// Adds the name of an array, which is read or not.
    fn note(&mut self, tag: &BytesStart<'_>, is_read: bool) -> Result<(), Fault> {
        if let Some(name) = attribute(tag, "Name", Place::Whole)? {
            let Arrays { read, others } = &mut self.arrays;
            // A file with several pieces names its arrays in each.
            if is_read {
                others.retain(|other| *other != name.text);
                *read = Some(name.text);
            } else if !others.contains(&name.text) && read.as_ref() != Some(&name.text) {
                others.push(name.text);
            }
        }
        Ok(())
    }

    /// Adds the names of the arrays behind the one that was read. Errors in that part of the file
    /// do not matter.
    fn note_others(&mut self, tags: &mut Tags<'_, '_>) {
        while let Ok(Some((tag, _))) = tags.next() {
            match tag.local_name().as_ref() {
                "DataArray" if self.note(&tag, false).is_err() => return,
                "AppendedData" | "FieldData" => return,
                _ => {}
            }
        }
    }

    /// Returns the fault of a complete file without the right array.
    #[cold]
    fn without_array(&self, place: Place) -> Fault {
        let names = self.arrays.others.iter();
        let names: Vec<String> = names.map(|name| quoted(name.as_bytes())).collect();
        let found = match names.is_empty() {
            true => "no array".to_owned(),
            false => format!("the arrays {}", names.join(", ")),
        };
        Fault::syntax(place, found, self.expected())
    }

    /// Returns the content that a file without the right array lacks.
    fn expected(&self) -> String {
        match (&self.wanted, &self.scalars) {
            (Some(name), _) => format!("the array {}", quoted(name.as_bytes())),
            (None, Some(name)) => {
                format!("the array {}, the active scalars", quoted(name.as_bytes()))
            }
            (None, None) => "an array with one number for each voxel".to_owned(),
        }
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
            return match &self.scalars {
                Some(name) => {
                    let name = quoted(name.as_bytes());
                    let found = format!("the array {name} with {} components", components.text);
                    let expected = "an array with one number for each voxel; --array chooses it";
                    Err(Fault::syntax(place, found, expected))
                }
                // Vectors may be beside the scalars.
                None => Ok(None),
            };
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

    /// Returns the compression of arrays that are not text.
    fn compressor(&self) -> Result<Option<Compressor>, Fault> {
        let Some(name) = &self.compressor else {
            return Ok(None);
        };
        match &name.text[..] {
            "vtkZLibDataCompressor" => Ok(Some(Compressor::Zlib)),
            "vtkLZ4DataCompressor" => Ok(Some(Compressor::Lz4)),
            _ => Err(name.wrong(
                "no compression, zlib or LZ4; VTK's writers choose it with \
                 SetCompressorTypeToZLib, ParaView with Compressor Type",
            )),
        }
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
        let size_bytes = if self.has_long_sizes { 8 } else { 4 };
        let Some(compressor) = self.compressor()? else {
            // Further arrays may follow, so the part must end with this one.
            let mut data = data.part(wanted.saturating_add(size_bytes));
            let [bytes] = self.sizes(&mut data).map_err(read)?;
            if bytes != wanted {
                let found = format!("{bytes} bytes of voxels");
                return Err(wrong(found, format!("{wanted} bytes")));
            }
            return layout.read(&mut Source::inside(data), file_bytes);
        };
        // The number of blocks, the bytes of a block and of the last one, and the compressed bytes
        // of each block.
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
        let mut packed_sizes = Vec::new();
        let mut sizes = data.part(count * size_bytes);
        for _ in 0..count {
            let [size] = self.sizes(&mut sizes).map_err(read)?;
            packed_sizes.push(size);
        }
        drop(sizes);
        let bytes = packed_sizes.iter().copied().fold(0, u64::saturating_add);
        let data = data.part(bytes);
        let mut voxels = match compressor {
            Compressor::Zlib => Source::inside(ZlibBlocks::new(data, count)),
            Compressor::Lz4 => Source::inside(Lz4Blocks::new(data, packed_sizes, block, wanted)),
        };
        layout.read(&mut voxels, file_bytes)
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
        Parsed::new(VolumeFormat::Vti, layout, voxels, geometry, place)
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
