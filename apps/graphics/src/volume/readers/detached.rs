//! Voxels in several files beside their header: a list of names, or names with a number.
//!
//! Each file contains a row, a slice or a part of the slices, and they follow each other in the
//! order of the voxels. MetaImage and NRRD have this in common; they differ in the fields for it.

use super::Context;
use super::text::Field;
use crate::file::{Fault, Place, Source};
use crate::volume::data::Layout;
use crate::volume::voxels::Voxels;

/// The maximum width of a number in a name.
const WIDTH_MAX: usize = 64;

/// The names of the files, in the order of their voxels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Names {
    /// A name in each line.
    Listed(Vec<Field>),
    /// A pattern with a number.
    Numbered {
        place: Place,
        pattern: Pattern,
        numbers: Numbers,
    },
}

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) first: i64,
    /// The last number, unless the steps miss it.
    pub(super) last: i64,
    pub(super) step: i64,
}

impl Numbers {
    /// Returns the number of numbers.
    fn count(self) -> u64 {
        let [first, last, step] = [self.first, self.last, self.step].map(i128::from);
        let steps = (last - first).checked_div(step).unwrap_or(-1);
        // A range against the direction of the steps is empty.
        match (last - first).signum() * step.signum() {
            -1 => 0,
            _ => u64::try_from(steps + 1).unwrap_or(0),
        }
    }
}

/// A name with one number in it, as `printf` writes it: `slice%03d.raw`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    before: String,
    width: usize,
    has_zeros: bool,
    after: String,
}

impl Pattern {
    /// Parses a pattern. Returns `None` for a name without exactly one number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // `%%` is a percent sign. The null character cannot be part of a name.
        let text = text.replace("%%", "\0");
        let (before, number) = text.split_once('%')?;
        let end = number.find(|char: char| !char.is_ascii_digit())?;
        let (digits, after) = number.split_at(end);
        let after = after.strip_prefix(['d', 'i', 'u'])?;
        let width = match digits {
            "" => 0,
            digits => digits.parse().ok().filter(|&width| width <= WIDTH_MAX)?,
        };
        let is_alone = !after.contains('%');
        is_alone.then(|| Self {
            before: before.replace('\0', "%"),
            width,
            has_zeros: digits.starts_with('0'),
            after: after.replace('\0', "%"),
        })
    }

    fn name(&self, number: i64) -> String {
        let (width, before, after) = (self.width, &self.before, &self.after);
        match self.has_zeros {
            true => format!("{before}{number:0width$}{after}"),
            false => format!("{before}{number:width$}{after}"),
        }
    }
}

impl Names {
    /// Reads a name from each line, up to the end or `max` names. Empty lines are skipped.
    pub(super) fn list(source: &mut Source<'_>, max: u64) -> Result<Self, Fault> {
        let mut names = Vec::new();
        while (names.len() as u64) < max {
            let Some((place, line)) = source.next_line()? else {
                break;
            };
            if !line.trim_ascii().is_empty() {
                names.push(Field::new(place, line));
            }
        }
        Ok(Self::Listed(names))
    }

    /// Returns the number of files.
    fn count(&self) -> u64 {
        match self {
            Self::Listed(names) => names.len() as u64,
            Self::Numbered { numbers, .. } => numbers.count(),
        }
    }

    /// Returns the name with an index below the number of files, and the place of the name.
    fn get(&self, index: u64) -> (Place, String) {
        match self {
            Self::Listed(names) => {
                let name = &names[index as usize];
                (name.place, name.text.clone())
            }
            Self::Numbered {
                place,
                pattern,
                numbers,
            } => {
                // It is between the first and the last number, so nothing overflows.
                let number =
                    i128::from(numbers.first) + i128::from(numbers.step) * i128::from(index);
                (*place, pattern.name(number as i64))
            }
        }
    }
}

/// Reads the voxels of the file or of the files that the field `named` names.
///
/// `names` has the names and the number of dimensions of each file: rows, slices, or several slices
/// each. Without it, the field is the name of the only file. `read` reads the voxels of one file.
pub(super) fn read(
    names: Option<(Names, u64)>,
    named: &Field,
    layout: &Layout,
    files: &mut Context<'_>,
    read: impl Fn(&mut Source<'_>, &Layout, Option<u64>) -> Result<Voxels, Fault>,
) -> Result<Voxels, Fault> {
    let Some((names, dimension)) = names else {
        return files.read_beside(named.place, &named.text, |source, file_bytes| {
            read(source, layout, file_bytes)
        });
    };
    let part = part_of(layout, dimension, &names, named)?;
    let mut all: Option<Voxels> = None;
    for index in 0..names.count() {
        let (place, name) = names.get(index);
        let voxels = files.read_beside(place, &name, |source, file_bytes| {
            read(source, &part, file_bytes)
        })?;
        match &mut all {
            None => all = Some(voxels),
            // The memory grows only by voxels that exist, whatever the header says.
            Some(all) => all
                .append(voxels)
                .map_err(|none| Fault::no_memory(place, none))?,
        }
    }
    all.ok_or_else(|| Fault::syntax(named.place, "no file of voxels", "at least one file"))
}

/// Returns the layout of files of `dimension` dimensions.
fn part_of(layout: &Layout, dimension: u64, names: &Names, named: &Field) -> Result<Layout, Fault> {
    layout.count()?;
    let [_, y, z] = layout.size;
    let parts = names.count();
    let expected = match dimension {
        1 if parts != y * z => format!("{}, one for each row", y * z),
        2 if parts != z => format!("{z}, one for each slice"),
        3 if z.checked_rem(parts) != Some(0) => {
            format!("a number of files that divides {z} slices")
        }
        _ => return Ok(Layout { parts, ..*layout }),
    };
    Err(Fault::syntax(
        named.place,
        format!("{parts} files"),
        expected,
    ))
}
