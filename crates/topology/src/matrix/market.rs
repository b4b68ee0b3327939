//! Reading of the Matrix Market format, with the extensions that scipy accepts.
//!
//! Fields may be `unsigned-integer`, and symmetries may be `hermitian`, which is the same as
//! symmetric for real numbers. Exponents may be written as in Fortran (`8.0D+00`), and the banner
//! may start with a single percent sign.
//!
//! # Source
//! Boisvert, Pozo, Remington: The Matrix Market Exchange Formats: Initial Design. NISTIR 5935,
//! 1996.

use super::Matrix;
use super::text::{Problem, Word, lines, words};

const BANNER: &[u8] = b"%MatrixMarket";

/// Returns true if a file starts like this format, in any encoding that extends ASCII.
pub(super) fn is_market(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"%%").map_or(text, |_| &text[1..]);
    text.get(..BANNER.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(BANNER))
}

/// The contents of the banner.
#[derive(Clone, Copy)]
struct Header {
    is_coordinate: bool,
    is_pattern: bool,
    is_symmetric: bool,
}

/// Parses a matrix of at most `order_max` parties.
pub(super) fn parse(text: &str, order_max: usize) -> Result<Matrix, Problem> {
    let header = header(text)?;
    let mut body = lines(text, '%');
    let Some((number, line)) = body.next() else {
        return Err(Problem::at_end(text, "a line of rows and columns"));
    };
    let sizes: Vec<Word<'_>> = words(number, line).collect();
    let count = if header.is_coordinate { 3 } else { 2 };
    if sizes.len() != count {
        let names = if header.is_coordinate {
            "rows, columns and entries"
        } else {
            "rows and columns"
        };
        return Err(sizes[0].wrong(format!("a line of {count} numbers, {names}")));
    }
    let order = sizes[0].index(0, order_max, "a number of rows")?;
    sizes[1].index(order, order, "as many columns as rows,")?;
    let values = body.flat_map(|(number, line)| words(number, line));
    if header.is_coordinate {
        let entries = sizes[2].index(0, text.len(), "a number of entries")?;
        coordinates(text, values, header, order, entries)
    } else {
        // Each number takes at least two characters.
        sizes[0].index(0, text.len(), "a number of rows that this file can hold,")?;
        array(text, values, header, order)
    }
}

/// Parses the banner.
fn header(text: &str) -> Result<Header, Problem> {
    let line = text.lines().next().unwrap_or("");
    let fields: Vec<Word<'_>> = words(1, line).skip(1).collect();
    let is = |index: usize, names: &[&str]| {
        fields.get(index).is_some_and(|field| {
            names
                .iter()
                .any(|name| field.text.eq_ignore_ascii_case(name))
        })
    };
    let check = |index: usize, names: &[&str]| {
        if is(index, names) {
            return Ok(());
        }
        let expected = names.join(" or ");
        Err(fields.get(index).map_or_else(
            || Problem {
                line: 1,
                column: line.len() + 1,
                found: "the end of the line".to_owned(),
                expected: expected.clone(),
            },
            |field| field.wrong(expected.clone()),
        ))
    };
    check(0, &["matrix"])?;
    check(1, &["coordinate", "array"])?;
    check(
        2,
        &["real", "integer", "unsigned-integer", "double", "pattern"],
    )?;
    check(3, &["general", "symmetric", "hermitian"])?;
    let header = Header {
        is_coordinate: is(1, &["coordinate"]),
        is_pattern: is(2, &["pattern"]),
        // Without imaginary parts both are the same.
        is_symmetric: is(3, &["symmetric", "hermitian"]),
    };
    if header.is_pattern && !header.is_coordinate {
        return Err(fields[2].wrong("real or integer for an array"));
    }
    Ok(header)
}

/// Parses the body of a file of coordinates.
fn coordinates<'text>(
    text: &str,
    mut words: impl Iterator<Item = Word<'text>>,
    header: Header,
    order: usize,
    entries: usize,
) -> Result<Matrix, Problem> {
    let mut found = Vec::new();
    for index in 0..entries {
        let mut next = || {
            let expected = format!("{entries} entries, not {index}");
            words.next().ok_or_else(|| Problem::at_end(text, expected))
        };
        let from = next()?.index(1, order, "a row")?;
        let to = next()?.index(1, order, "a column")?;
        let bytes = if header.is_pattern {
            1.0
        } else {
            number(&next()?)?
        };
        found.push((from as u32 - 1, to as u32 - 1, bytes));
        if header.is_symmetric && from != to {
            found.push((to as u32 - 1, from as u32 - 1, bytes));
        }
    }
    if let Some(word) = words.next() {
        return Err(word.wrong(format!("the end of the file after {entries} entries")));
    }
    Ok(Matrix::from_entries(order, found))
}

/// Parses a number. Its exponent may start with the `D` of Fortran's double precision.
fn number(word: &Word<'_>) -> Result<f64, Problem> {
    let is_fortran = |mark: char| matches!(mark, 'd' | 'D');
    let begins_as_number =
        |text: &str| text.starts_with(|mark: char| mark.is_ascii_digit() || mark == '.');
    if begins_as_number(word.text.trim_start_matches('+')) && word.text.contains(is_fortran) {
        let text = word.text.replacen(is_fortran, "e", 1);
        let value = Word {
            text: &text,
            ..*word
        }
        .bytes();
        return value.map_err(|problem| Problem {
            found: word.wrong("").found,
            ..problem
        });
    }
    word.bytes()
}

/// Parses the body of an array.
fn array<'text>(
    text: &str,
    mut words: impl Iterator<Item = Word<'text>>,
    header: Header,
    order: usize,
) -> Result<Matrix, Problem> {
    // Arrays are written by columns. A symmetric matrix has only its lower half.
    let mut matrix = Matrix::new(order);
    for to in 0..order {
        let first = if header.is_symmetric { to } else { 0 };
        for from in first..order {
            let missing = || Problem::at_end(text, format!("numbers for {order} columns"));
            let bytes = words
                .next()
                .ok_or_else(missing)
                .and_then(|word| number(&word))?;
            matrix.add(from, to, bytes);
            if header.is_symmetric && from != to {
                matrix.add(to, from, bytes);
            }
        }
    }
    match words.next() {
        Some(word) => Err(word.wrong(format!("the end of the file after {order} columns"))),
        None => Ok(matrix),
    }
}
