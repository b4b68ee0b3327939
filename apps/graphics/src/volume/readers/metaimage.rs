//! Reads MetaImage files, with the data behind the header (`.mha`), or in one or several files of
//! their own (`.mhd`).
//!
//! The header consists of lines `Key = value`. The last one is `ElementDataFile`. Data may be
//! binary, text, or binary and compressed by zlib.
//!
//! # Source
//! MetaIO documentation, itk.org/Wiki/ITK/MetaIO/Documentation (reference of tags).

use std::collections::HashMap;

use flate2::bufread::ZlibDecoder;
use glam::{DMat3, DVec3};

use super::detached::{self, Names, Numbers, Pattern};
use super::text::Field;
use super::{Context, VolumeReader};
use crate::file::{Fault, Place, Rest, Source, quoted};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};
use crate::volume::voxels::Voxels;

/// The reader of MetaImage files.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["mhd", "mha"],
    is_text: None,
    recognizes: |head| {
        let key = head.first_line().split(|&byte| byte == b'=').next();
        let key = key.unwrap_or_default().trim_ascii();
        matches!(key, b"ObjectType" | b"NDims") && head.first_line().contains(&b'=')
    },
    read,
};

/// The fields of a header, by their names in lower case.
type Fields = HashMap<String, Field>;

fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    let (fields, data_file) = header(source)?;
    let dimension = dimension(&fields, data_file.place)?;
    let layout = layout(&fields, dimension, data_file.place)?;
    let geometry = geometry(&fields, dimension)?;
    let is_compressed = flag(&fields, "compresseddata")?.unwrap_or(false);
    let is_binary = flag(&fields, "binarydata")?.unwrap_or(true);
    let header_bytes = match fields.get("headersize") {
        Some(field) => field.parse("a number of bytes, or -1")?,
        None => 0,
    };
    let read = |source: &mut Source<'_>, layout: &Layout, file_bytes| {
        skip_header(source, header_bytes, layout)?;
        read_data(source, layout, is_binary, is_compressed, file_bytes)
    };
    let voxels = if data_file.text.eq_ignore_ascii_case("LOCAL") {
        read(source, &layout, files.file_bytes)?
    } else {
        let names = names(source, &layout, &data_file)?;
        detached::read(names, &data_file, &layout, files, read)?
    };
    Parsed::new(
        VolumeFormat::MetaImage,
        &layout,
        voxels,
        geometry,
        layout.place,
    )
}

/// Reads the header. The last field is returned separately.
fn header(source: &mut Source<'_>) -> Result<(Fields, Field), Fault> {
    let mut fields = Fields::new();
    let mut line_end = None;
    loop {
        let here = source.line();
        let Some((place, line, end)) = source.next_line_ended_by(line_end)? else {
            return Err(Fault::truncated(here, "a line \"ElementDataFile = …\""));
        };
        line_end = Some(end);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(equals) = line.iter().position(|&byte| byte == b'=') else {
            return Err(Fault::syntax(place, quoted(line), "\"Key = value\""));
        };
        let name = String::from_utf8_lossy(line[..equals].trim_ascii()).to_lowercase();
        let field = Field::new(place, &line[equals + 1..]);
        if name == "elementdatafile" {
            return Ok((fields, field));
        }
        fields.insert(name, field);
    }
}

/// Returns the names of the files of data, and the number of their dimensions; `None` if there is
/// only one file.
///
/// `LIST 2` precedes the names of files with a slice each; without a number, it means the same. A
/// pattern may be followed by the first number (or else 1), the last number (the number of slices)
/// and the step (1).
fn names(
    source: &mut Source<'_>,
    layout: &Layout,
    data_file: &Field,
) -> Result<Option<(Names, u64)>, Fault> {
    let expected = "a name, \"LOCAL\", \"LIST\" or \"LIST 2\", or a pattern and three numbers";
    let wrong = || data_file.wrong(expected);
    let words: Vec<&str> = data_file.text.split_ascii_whitespace().collect();
    if let Some((&"LIST", dimension)) = words.split_first() {
        let dimension = match dimension {
            [] => 2,
            [word] => word.parse().map_err(|_| wrong())?,
            _ => return Err(wrong()),
        };
        let [_, y, z] = layout.size;
        let count = match dimension {
            1 => y.saturating_mul(z),
            2 => z,
            3 => 1,
            _ => return Err(wrong()),
        };
        return Ok(Some((Names::list(source, count)?, dimension)));
    }
    let Some(pattern) = words.first().and_then(|word| Pattern::parse(word)) else {
        return Ok(None);
    };
    let given = words[1..]
        .iter()
        .map(|word| word.parse().map_err(|_| wrong()));
    let given: Vec<i64> = given.collect::<Result<_, _>>()?;
    let slices = i64::try_from(layout.size[2]).map_err(|_| wrong())?;
    let (first, last, step) = match given[..] {
        [] => (1, slices, 1),
        [first] => (first, slices, 1),
        [first, last] => (first, last, 1),
        [first, last, step] => (first, last, step),
        _ => return Err(wrong()),
    };
    let names = Names::Numbered {
        place: data_file.place,
        pattern,
        numbers: Numbers { first, last, step },
    };
    Ok(Some((names, 2)))
}

/// Returns the first of several fields that the header has.
fn first_of<'f>(fields: &'f Fields, names: &[&str]) -> Option<&'f Field> {
    names.iter().find_map(|name| fields.get(*name))
}

fn required<'f>(fields: &'f Fields, name: &str, end: Place) -> Result<&'f Field, Fault> {
    fields
        .get(&name.to_lowercase())
        .ok_or_else(|| Fault::syntax(end, "the last field", format!("a field {name} before it")))
}

fn flag(fields: &Fields, name: &str) -> Result<Option<bool>, Fault> {
    fields
        .get(name)
        .map(|field| match field.lower().as_str() {
            "true" | "t" | "1" => Ok(true),
            "false" | "f" | "0" => Ok(false),
            _ => Err(field.wrong("\"True\" or \"False\"")),
        })
        .transpose()
}

fn layout(fields: &Fields, dimension: usize, end: Place) -> Result<Layout, Fault> {
    if let Some(channels) = fields.get("elementnumberofchannels")
        && channels.text != "1"
    {
        return Err(channels.wrong("1 channel: one number for each voxel"));
    }
    let sizes = required(fields, "DimSize", end)?;
    let scalar = required(fields, "ElementType", end)?;
    let kind = Scalar::named(&scalar.text)
        .ok_or_else(|| scalar.wrong("a type of integers or floats, such as MET_SHORT"))?;
    let lens: Vec<u64> = sizes.values("sizes")?;
    let size = match lens[..] {
        [x, y, z] if dimension == 3 => [x, y, z],
        [x, y, z, 1] if dimension == 4 => [x, y, z],
        _ => return Err(sizes.wrong("three sizes, or a fourth one of 1 in 4 dimensions")),
    };
    let mut layout = Layout::new(size, kind, sizes.place);
    for name in ["elementbyteordermsb", "binarydatabyteordermsb"] {
        layout.is_big_endian |= flag(fields, name)?.unwrap_or(false);
    }
    Ok(layout)
}

/// Returns the number of dimensions: three, or four for a sequence, which can have only one volume.
fn dimension(fields: &Fields, end: Place) -> Result<usize, Fault> {
    let dimension = required(fields, "NDims", end)?;
    match &dimension.text[..] {
        "3" => Ok(3),
        "4" => Ok(4),
        _ => Err(dimension.wrong("3 dimensions, or 4 with a size of 1")),
    }
}

fn geometry(fields: &Fields, dimension: usize) -> Result<Geometry, Fault> {
    let mut geometry = Geometry::default();
    // The first three of the numbers for all dimensions.
    let vector = |field: &Field| {
        let expected = format!("{dimension} numbers");
        let list: Vec<f64> = field.values(&expected)?;
        match list.len() == dimension {
            true => Ok(DVec3::from_slice(&list)),
            false => Err(field.wrong(&expected)),
        }
    };
    if let Some(spacing) = first_of(fields, &["elementspacing", "elementsize"]) {
        geometry.spacing = vector(spacing)?;
    }
    if let Some(origin) = first_of(fields, &["offset", "position", "origin"]) {
        geometry.origin = vector(origin)?;
    }
    if let Some(matrix) = first_of(fields, &["transformmatrix", "orientation", "rotation"]) {
        let expected = format!("{} numbers", dimension * dimension);
        let list: Vec<f64> = matrix.values(&expected)?;
        if list.len() != dimension * dimension {
            return Err(matrix.wrong(&expected));
        }
        let axis = |axis: usize| DVec3::from_slice(&list[axis * dimension..]);
        geometry.direction = DMat3::from_cols(axis(0), axis(1), axis(2));
    }
    Ok(geometry)
}

/// Skips the header of a file of data. With a size of -1, the voxels are at its end.
fn skip_header(source: &mut Source<'_>, bytes: i64, layout: &Layout) -> Result<(), Fault> {
    let bytes = match (u64::try_from(bytes), source.remaining()) {
        (Ok(bytes), _) => bytes,
        (Err(_), Some(remaining)) => remaining.saturating_sub(layout.bytes()?),
        (Err(_), None) => {
            let found = "a header of unknown size in compressed data";
            return Err(Fault::syntax(
                source.byte(),
                found,
                "the size of the header",
            ));
        }
    };
    source.skip(bytes, "the header of the data")
}

fn read_data(
    source: &mut Source<'_>,
    layout: &Layout,
    is_binary: bool,
    is_compressed: bool,
    file_bytes: Option<u64>,
) -> Result<Voxels, Fault> {
    if !is_binary {
        return layout.read_text(source);
    }
    if !is_compressed {
        return layout.read(source, file_bytes);
    }
    let rest = source.remaining().or(file_bytes);
    let mut inner = Source::inside(ZlibDecoder::new(Rest(source)));
    let voxels = layout.read(&mut inner, rest)?;
    // The decoder reads the checksum only when it is asked for more.
    inner.ensure(1)?;
    Ok(voxels)
}
