//! The series in a folder, and the choice of one of them.
//!
//! A scan has few series with many images each: some for the scan itself, and often one with a
//! picture on which the scan was planned (a localizer).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dicom_core::Tag;

use super::attributes::{Attributes, MAGIC_AT, Values, with_attributes, wrong};
use super::files::with_file;
use super::image::{Image, ROWS};
use crate::file::{Fault, FileProblem, Place, quoted};
use crate::volume::format::EXPECTED;
use crate::volume::load::LoadOptions;

const IMAGE_TYPE: Tag = Tag(0x0008, 0x0008);
const DESCRIPTION: Tag = Tag(0x0008, 0x103E);
const UID: Tag = Tag(0x0020, 0x000E);
const NUMBER: Tag = Tag(0x0020, 0x0011);

/// The name of the index of a disc, which is no image (PS3.10, section 8.6).
pub(super) const INDEX: &str = "DICOMDIR";

/// The number of levels of sub-folders that are searched for images.
const DEPTH_MAX: usize = 5;

/// The maximum number of series that an error lists.
const LISTED_MAX: usize = 20;

/// The images of one series.
#[derive(Debug)]
pub(super) struct Series {
    /// The number of the series; empty if the files have none.
    number: String,
    uid: String,
    description: String,
    /// True if all images are localizers.
    is_localizer: bool,
    /// The files in the order of their names. A file that is no part of a volume matters only if
    /// its series is chosen.
    files: Vec<(PathBuf, Result<Image, Fault>)>,
}

/// The files that a folder is read from.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) files: Vec<(PathBuf, Image)>,
    /// The number of images of other series.
    pub(super) left_out: usize,
}

/// Chooses the series of the options, or the only one of a folder that is not a localizer.
pub(super) fn choose(folder: &Path, options: &LoadOptions) -> Result<Chosen, Fault> {
    let mut all = find(folder, options)?;
    let image_count: usize = all.iter().map(|series| series.files.len()).sum();
    let matches: Vec<usize> = match (&options.series, &all[..]) {
        (Some(wanted), _) => {
            let is_wanted = |series: &Series| [&series.number, &series.uid].contains(&wanted);
            (0..all.len())
                .filter(|&index| is_wanted(&all[index]))
                .collect()
        }
        (None, [a, b]) if a.is_localizer != b.is_localizer => vec![usize::from(a.is_localizer)],
        (None, _) => (0..all.len()).collect(),
    };
    let series = match (matches[..].first(), matches.len()) {
        (Some(&index), 1) => all.swap_remove(index),
        (None, _) if all.is_empty() => {
            let expected = format!("{EXPECTED}, or the folder of a DICOM series");
            return Err(wrong("a folder without DICOM images", expected));
        }
        _ => return Err(not_one(&all, matches.len(), options.series.as_deref())),
    };
    let left_out = image_count - series.files.len();
    let files = series.files.into_iter();
    let files = files.map(|(path, image)| Ok((path, image?)));
    let files = files.collect::<Result<_, Fault>>()?;
    Ok(Chosen { files, left_out })
}

/// Returns the fault of a folder in which no series or several ones match the options.
#[cold]
fn not_one(all: &[Series], matched: usize, wanted: Option<&str>) -> Fault {
    let named = |series: &Series| {
        let Series { number, uid, .. } = series;
        let count = all.iter().filter(|other| other.number == *number).count();
        let name = if number.is_empty() || count > 1 {
            uid
        } else {
            number
        };
        series.described(name)
    };
    let listed = all.iter().take(LISTED_MAX).map(named);
    let mut listed = listed.collect::<Vec<_>>().join(", ");
    if all.len() > LISTED_MAX {
        listed += &format!(" and {} more", all.len() - LISTED_MAX);
    }
    let found = match wanted {
        None => format!("{} series: {listed}", all.len()),
        Some(wanted) => {
            let wanted = quoted(wanted.as_bytes());
            let count = match matched {
                0 => "no series".to_owned(),
                matched => format!("{matched} series"),
            };
            format!("{count} with the number or UID {wanted}; there are {listed}")
        }
    };
    let expected = "one series; --series with its number or its UID (0020,000E) chooses it";
    wrong(found, expected)
}

/// Finds all series in a folder, by their numbers, or in its sub-folders if it has none itself.
/// A disc of a scanner contains an index and a tree of folders.
fn find(folder: &Path, options: &LoadOptions) -> Result<Vec<Series>, Fault> {
    let mut folders = vec![folder.to_owned()];
    let mut all = Vec::new();
    for _ in 0..=DEPTH_MAX {
        let content = Content::of(&folders)?;
        all = series_of(content.files, options)?;
        if !all.is_empty() || content.folders.is_empty() {
            break;
        }
        folders = content.folders;
    }
    Ok(all)
}

/// The files and folders in some folders, without those in deeper ones.
#[derive(Debug, Default)]
struct Content {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Content {
    fn of(parents: &[PathBuf]) -> Result<Self, Fault> {
        let mut content = Self::default();
        for folder in parents {
            let unreadable =
                |error| Fault::new(Place::Whole, FileProblem::Open(error)).in_file(folder);
            for entry in folder.read_dir().map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let path = entry.path();
                if path.is_file() {
                    if !path.ends_with(INDEX) {
                        content.files.push(path);
                    }
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    // Not a link, which could lead to a folder above.
                    content.folders.push(path);
                }
            }
        }
        // The order of a folder is arbitrary. Errors must not depend on it.
        content.files.sort();
        content.folders.sort();
        Ok(content)
    }
}

/// Sorts images by their series. Files that are not DICOM images are ignored.
fn series_of(paths: Vec<PathBuf>, options: &LoadOptions) -> Result<Vec<Series>, Fault> {
    let mut found: BTreeMap<String, Series> = BTreeMap::new();
    let mut others = Vec::new();
    for path in paths {
        let Some(attributes) = attributes_of(&path, options)? else {
            others.push(path);
            continue;
        };
        let values = &attributes.image;
        let series = found
            .entry(values.text(UID))
            .or_insert_with(|| Series::of(values));
        series.is_localizer &= is_localizer(values);
        let image = Image::of(&attributes).map_err(|fault| fault.in_file(&path));
        series.files.push((path, image));
    }
    let mut all: Vec<Series> = found.into_values().collect();
    check_copied(&all, &others)?;
    all.sort_by_key(|series| series.number.parse().unwrap_or(i64::MAX));
    Ok(all)
}

/// Checks that no file is shorter than the beginning of an image and named like an image: copying
/// it was interrupted.
fn check_copied(all: &[Series], others: &[PathBuf]) -> Result<(), Fault> {
    let images = all.iter().flat_map(|series| &series.files);
    for path in others {
        let length = path.metadata().map_or(0, |metadata| metadata.len());
        let is_like = |(image, _): &(PathBuf, _)| image.extension() == path.extension();
        if length < (MAGIC_AT + 4) as u64 && images.clone().any(is_like) {
            let found = format!("a file of {length} bytes among images");
            return Err(wrong(found, "a complete image").in_file(path));
        }
    }
    Ok(())
}

/// Returns the attributes of a file, if it is a DICOM image.
fn attributes_of(path: &Path, options: &LoadOptions) -> Result<Option<Attributes>, Fault> {
    with_file(path, options.expanded_bytes_max, |source, _| {
        let is_image =
            source.ensure(MAGIC_AT + 4)? && source.buffered()[MAGIC_AT..].starts_with(b"DICM");
        if !is_image {
            return Ok(None);
        }
        with_attributes(source, |_, attributes| {
            // A folder may contain reports, which have no pixels.
            let has_size = attributes.image.number(ROWS).is_some();
            Ok(has_size.then(|| attributes.clone()))
        })
    })
}

fn is_localizer(values: &Values) -> bool {
    values
        .text(IMAGE_TYPE)
        .split('\\')
        .any(|word| word.trim() == "LOCALIZER")
}

impl Series {
    /// Returns the series of an image, without files.
    fn of(values: &Values) -> Self {
        Self {
            number: values.text(NUMBER),
            uid: values.text(UID),
            description: values.text(DESCRIPTION),
            is_localizer: true,
            files: Vec::new(),
        }
    }

    /// Returns a name by which it can be chosen, the description and the number of images.
    fn described(&self, name: &str) -> String {
        let is_identifier = |byte: u8| byte == b'.' || byte.is_ascii_digit();
        // An identifier has up to 64 digits and points, and must not be cut off.
        let mut text = match name.bytes().all(is_identifier) {
            true => format!("{name:.64}"),
            false => quoted(name.as_bytes()).trim_matches('"').to_owned(),
        };
        if !self.description.is_empty() {
            text += &format!(" {}", quoted(self.description.as_bytes()));
        }
        match self.files.len() {
            1 => text + " (1 image)",
            count => text + &format!(" ({count} images)"),
        }
    }
}
