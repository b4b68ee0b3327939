//! Reads nearly raw raster data (NRRD), with the data behind the header, or in one or several files
//! of their own.
//!
//! The header consists of lines `field: value` and ends with an empty line. Data may be binary,
//! text, or binary and compressed by gzip. Besides the three axes of a volume, there may be others
//! of size 1: vectors of one number, or series of one volume.
//!
//! # Source
//! G. Kindlmann: Definition of NRRD File Format, teem.sourceforge.net/nrrd/format.html.

use std::collections::HashMap;

use flate2::bufread::MultiGzDecoder;
use glam::{DMat3, DVec3};

use super::detached::{self, Names, Numbers, Pattern};
use super::text::Field;
use super::{Context, VolumeReader};
use crate::file::{Fault, Place, Rest, Source, quoted};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};
use crate::volume::voxels::Voxels;

/// The reader of NRRD files.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["nrrd", "nhdr"],
    is_text: None,
    recognizes: |head| head.bytes.starts_with(b"NRRD000"),
    read,
};

/// The fields of a header, by their names in lower case without spaces.
type Fields = HashMap<String, Field>;

/// The way in which the data are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Raw,
    Text,
    Gzip,
}

fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    let (fields, end) = header(source)?;
    let axes = Axes::of(&fields, end)?;
    let layout = layout(&fields, &axes, end)?;
    let encoding = encoding(&fields, end)?;
    let geometry = geometry(&fields, &axes)?;
    let skip = Skip::of(&fields)?;
    let read = |source: &mut Source<'_>, layout: &Layout, file_bytes| {
        read_data(source, layout, encoding, skip, file_bytes)
    };
    let voxels = match fields.get("datafile") {
        None => read(source, &layout, files.file_bytes)?,
        Some(named) => {
            let names = names(source, &layout, &axes, named)?;
            detached::read(names, named, &layout, files, read)?
        }
    };
    Parsed::new(VolumeFormat::Nrrd, &layout, voxels, geometry, layout.place)
}

/// The axes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Axes {
    sizes: Vec<u64>,
    /// The place of the sizes.
    place: Place,
    /// The three axes of the volume.
    kept: [usize; 3],
}

impl Axes {
    fn of(fields: &Fields, end: Place) -> Result<Self, Fault> {
        let dimension = required(fields, "dimension", end)?;
        let field = required(fields, "sizes", end)?;
        let place = field.place;
        if dimension.text == "3" {
            let sizes: [u64; 3] = field.list("three sizes")?;
            let (sizes, kept) = (sizes.to_vec(), [0, 1, 2]);
            return Ok(Self { sizes, place, kept });
        }
        let sizes: Vec<u64> = field.values("sizes")?;
        let kept: Vec<usize> = (0..sizes.len()).filter(|&axis| sizes[axis] != 1).collect();
        match <[usize; 3]>::try_from(kept) {
            Ok(kept) if dimension.text == sizes.len().to_string() => {
                Ok(Self { sizes, place, kept })
            }
            _ => {
                let expected = "3 dimensions: one number for each voxel of one volume; others of \
                    size 1";
                Err(dimension.wrong(expected))
            }
        }
    }

    /// Returns the number of axes of the volume among the first `dimension` axes.
    fn kept_below(&self, dimension: usize) -> u64 {
        self.kept.iter().filter(|&&axis| axis < dimension).count() as u64
    }
}

/// Reads the header and the empty line behind it. Also returns the place of that line.
fn header(source: &mut Source<'_>) -> Result<(Fields, Place), Fault> {
    let mut fields = Fields::new();
    let mut line_end = None;
    if let Some((_, _, end)) = source.next_line_ended_by(None)? {
        line_end = Some(end);
    }
    loop {
        let here = source.line();
        let Some((place, line, end)) = source.next_line_ended_by(line_end)? else {
            // A header of a file of its own may end without an empty line.
            return match fields.contains_key("datafile") {
                true => Ok((fields, here)),
                false => Err(Fault::truncated(here, "an empty line and data")),
            };
        };
        line_end = Some(end);
        if line.is_empty() {
            return Ok((fields, place));
        }
        if line.starts_with(b"#") {
            continue;
        }
        let colon = line.windows(2).position(|two| two[0] == b':');
        let Some(colon) = colon.or_else(|| line.ends_with(b":").then(|| line.len() - 1)) else {
            return Err(Fault::syntax(place, quoted(line), "\"field: value\""));
        };
        // A line `key:=value` is a remark of the user.
        if line.get(colon + 1) == Some(&b'=') {
            continue;
        }
        let name = String::from_utf8_lossy(&line[..colon]).to_lowercase();
        let name: String = name.chars().filter(|char| !char.is_whitespace()).collect();
        let field = Field::new(place, &line[colon + 1..]);
        let is_list = name == "datafile" && is_list(&field);
        if fields.insert(name.clone(), field).is_some() {
            let found = format!("a second field {}", quoted(name.as_bytes()));
            return Err(Fault::syntax(place, found, "one field of each name"));
        }
        // The rest of the header consists of names of files.
        if is_list {
            return Ok((fields, place));
        }
    }
}

/// Returns true if the names of the files of data follow the header.
fn is_list(data_file: &Field) -> bool {
    data_file.text.split_ascii_whitespace().next() == Some("LIST")
}

/// Returns the names of the files of data, and the number of their dimensions; `None` if there is
/// only one file. Without a number of dimensions, each file has all but the last one.
fn names(
    source: &mut Source<'_>,
    layout: &Layout,
    axes: &Axes,
    data_file: &Field,
) -> Result<Option<(Names, u64)>, Fault> {
    let wrong =
        || data_file.wrong("a name, \"LIST [1 to 3]\", or \"PATTERN MIN MAX STEP [1 to 3]\"");
    let words: Vec<&str> = data_file.text.split_ascii_whitespace().collect();
    let pattern = words.first().and_then(|word| Pattern::parse(word));
    let (numbers, dimension) = match (is_list(data_file), &pattern, &words[..]) {
        (true, _, [_, dimension @ ..]) => (None, dimension),
        (false, Some(_), [_, first, last, step, dimension @ ..]) => {
            let [first, last, step] = [first, last, step].map(|word| word.parse::<i64>().ok());
            match (first, last, step) {
                (Some(first), Some(last), Some(step)) => {
                    (Some(Numbers { first, last, step }), dimension)
                }
                _ => return Err(wrong()),
            }
        }
        _ => return Ok(None),
    };
    let count = axes.sizes.len();
    let dimension = match dimension {
        [] => count - 1,
        [word] => word.parse().map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    let kept = axes.kept_below(dimension);
    if dimension > count || kept == 0 {
        return Err(wrong());
    }
    let place = data_file.place;
    let names = match (pattern, numbers) {
        (Some(pattern), Some(numbers)) => Names::Numbered {
            place,
            pattern,
            numbers,
        },
        _ => {
            // One more than there can be, so that a list that is too long is noticed.
            let rows = layout.size[1].saturating_mul(layout.size[2]);
            Names::list(source, rows.saturating_add(1))?
        }
    };
    Ok(Some((names, kept)))
}

fn required<'f>(fields: &'f Fields, name: &str, end: Place) -> Result<&'f Field, Fault> {
    fields.get(name).ok_or_else(|| {
        Fault::syntax(
            end,
            "the end of the header",
            format!("a field \"{name}\" before it"),
        )
    })
}

fn layout(fields: &Fields, axes: &Axes, end: Place) -> Result<Layout, Fault> {
    let size = axes.kept.map(|axis| axes.sizes[axis]);
    let scalar = required(fields, "type", end)?;
    let scalar = Scalar::named(&scalar.text)
        .or_else(|| long_name(&scalar.lower()))
        .ok_or_else(|| scalar.wrong("a type of integers or floats"))?;
    let mut layout = Layout::new(size, scalar, axes.place);
    if scalar.bytes() > 1 && encoding(fields, end)? != Encoding::Text {
        let order = required(fields, "endian", end)?;
        layout.is_big_endian = match order.lower().as_str() {
            "little" => false,
            "big" => true,
            _ => return Err(order.wrong("\"little\" or \"big\"")),
        };
    }
    Ok(layout)
}

/// Returns the type with a name that only NRRD uses.
fn long_name(name: &str) -> Option<Scalar> {
    match name {
        "signed short int" => Some(Scalar::I16),
        "longlong"
        | "long long"
        | "long long int"
        | "signed long long"
        | "signed long long int" => Some(Scalar::I64),
        "ulonglong" | "unsigned long long" | "unsigned long long int" => Some(Scalar::U64),
        _ => None,
    }
}

fn encoding(fields: &Fields, end: Place) -> Result<Encoding, Fault> {
    let encoding = required(fields, "encoding", end)?;
    match encoding.lower().as_str() {
        "raw" => Ok(Encoding::Raw),
        "txt" | "text" | "ascii" => Ok(Encoding::Text),
        "gz" | "gzip" => Ok(Encoding::Gzip),
        _ => Err(encoding.wrong("\"raw\", \"gzip\" or \"ascii\"")),
    }
}

/// Returns the place in the world. Axes without a spacing have a spacing of 1.
fn geometry(fields: &Fields, axes: &Axes) -> Result<Geometry, Fault> {
    let mut geometry = Geometry::default();
    if let Some(origin) = fields.get("spaceorigin") {
        geometry.origin = vectors(origin)?
            .first()
            .copied()
            .flatten()
            .unwrap_or_default();
    }
    if let Some(directions) = fields.get("spacedirections") {
        let list = vectors(directions)?;
        let steps = axes.kept.map(|axis| list.get(axis).copied().flatten());
        let ([Some(x), Some(y), Some(z)], true) = (steps, list.len() == axes.sizes.len()) else {
            return Err(directions.wrong("three vectors, and \"none\" for other axes"));
        };
        return Ok(Geometry::of_steps(
            DMat3::from_cols(x, y, z),
            geometry.origin,
        ));
    }
    if let Some(spacings) = fields.get("spacings") {
        let list: Vec<f64> = spacings.values("distances")?;
        if list.len() != axes.sizes.len() {
            return Err(spacings.wrong("a distance for each axis"));
        }
        let spacing = axes.kept.map(|axis| list[axis]);
        let known = |value: f64| if value.is_nan() { 1.0 } else { value };
        geometry.spacing = DVec3::from_array(spacing.map(known));
    }
    Ok(geometry)
}

/// Parses vectors such as `(1,0,0) (0,1,0) (0,0,2.5)`, and `none` for an axis outside of space.
fn vectors(field: &Field) -> Result<Vec<Option<DVec3>>, Fault> {
    let wrong = || field.wrong("vectors such as (1,0,0)");
    let text: String = field
        .text
        .chars()
        .filter(|char| !char.is_whitespace())
        .collect();
    let mut vectors = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("none") {
            vectors.push(None);
            rest = after;
            continue;
        }
        let inner = rest.strip_prefix('(').and_then(|text| text.split_once(')'));
        let (vector, after) = inner.ok_or_else(wrong)?;
        let numbers: Option<Vec<f64>> = vector.split(',').map(|it| it.parse().ok()).collect();
        let Some(&[x, y, z]) = numbers.as_deref() else {
            return Err(wrong());
        };
        vectors.push(Some(DVec3::new(x, y, z)));
        rest = after;
    }
    Ok(vectors)
}

/// The first bytes of data that are compressed by gzip.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The part of the data to skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Skip {
    lines: u64,
    /// The number of bytes after these lines; -1 for all but the voxels.
    bytes: i64,
}

impl Skip {
    fn of(fields: &Fields) -> Result<Self, Fault> {
        let expected = "a number of lines or bytes";
        let lines = fields
            .get("lineskip")
            .map(|field| field.parse(expected))
            .transpose()?;
        let bytes = fields
            .get("byteskip")
            .map(|field| field.parse(expected))
            .transpose()?;
        Ok(Self {
            lines: lines.unwrap_or(0),
            bytes: bytes.unwrap_or(0),
        })
    }

    fn apply(self, source: &mut Source<'_>, layout: &Layout) -> Result<(), Fault> {
        for _ in 0..self.lines {
            let here = source.line();
            if source.next_line()?.is_none() {
                return Err(Fault::truncated(
                    here,
                    format!("{} lines to skip", self.lines),
                ));
            }
        }
        let bytes = match (u64::try_from(self.bytes), source.remaining()) {
            (Ok(bytes), _) => bytes,
            (Err(_), Some(remaining)) => remaining.saturating_sub(layout.bytes()?),
            (Err(_), None) => {
                let found = "a byte skip of -1 in compressed data";
                return Err(Fault::syntax(source.byte(), found, "a number of bytes"));
            }
        };
        source.skip(bytes, "bytes to skip")
    }
}

fn read_data(
    source: &mut Source<'_>,
    layout: &Layout,
    encoding: Encoding,
    skip: Skip,
    file_bytes: Option<u64>,
) -> Result<Voxels, Fault> {
    match encoding {
        Encoding::Raw => {
            skip.apply(source, layout)?;
            layout.read(source, file_bytes)
        }
        Encoding::Text => {
            skip.apply(source, layout)?;
            layout.read_text(source)
        }
        Encoding::Gzip => {
            // Lines are skipped before decompression, bytes after it.
            let lines = Skip { bytes: 0, ..skip };
            lines.apply(source, layout)?;
            // A data file that is named like a compressed file has been expanded already.
            let is_expanded = source.remaining().is_none();
            if is_expanded && !(source.ensure(2)? && source.buffered().starts_with(&GZIP)) {
                Skip { lines: 0, ..skip }.apply(source, layout)?;
                return layout.read(source, file_bytes);
            }
            let rest = source.remaining().or(file_bytes);
            let mut inner = Source::inside(MultiGzDecoder::new(Rest(source)));
            Skip { lines: 0, ..skip }.apply(&mut inner, layout)?;
            let voxels = layout.read(&mut inner, rest)?;
            // The decoder reads the checksum only when it is asked for more.
            inner.ensure(1)?;
            Ok(voxels)
        }
    }
}
