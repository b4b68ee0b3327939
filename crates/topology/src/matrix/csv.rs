//! Dense matrices as text: a line for each row.

use super::Matrix;
use super::text::{Problem, Word, lines};

/// Reads a matrix.
pub(super) fn parse(text: &str) -> Result<Matrix, Problem> {
    let mut rows = lines(text, '#').peekable();
    let Some(&(number, first)) = rows.peek() else {
        return Err(Problem::at_end(
            text,
            "a matrix as CSV, Matrix Market file or Scotch graph",
        ));
    };
    let separator = separator_of(first);
    let header: Vec<Word<'_>> = fields(number, first, separator);
    // A line of names: its first field that is not empty is no number.
    let named = header
        .iter()
        .find(|field| !field.text.is_empty())
        .is_some_and(is_name);
    if named {
        rows.next();
    }
    // Whatever stands in the corner, rows have names if the first two of them begin with one.
    let begins_with_name =
        |(number, line)| fields(number, line, separator).first().is_some_and(is_name);
    let mut two = rows.clone().take(2);
    let has_row_names = named
        && (header.first().is_some_and(|field| field.text.is_empty())
            || header.len() > 2 && two.all(begins_with_name));
    let order = header.len() - usize::from(has_row_names);
    let mut names = Vec::new();
    if named {
        names.extend(
            header
                .iter()
                .skip(usize::from(has_row_names))
                .map(|field| unquoted(field.text)),
        );
    }
    // What is allocated before the rows are seen is about what the file itself takes.
    let mut matrix = Matrix::new(order);
    let mut row_count = 0;
    for (number, line) in rows {
        let mut fields = fields(number, line, separator);
        if has_row_names && fields.len() == order + 1 {
            fields.remove(0);
        }
        if fields.len() != order {
            return Err(Problem {
                line: number,
                column: 1,
                found: format!(
                    "a row of {} number{}",
                    fields.len(),
                    if fields.len() == 1 { "" } else { "s" }
                ),
                expected: if named {
                    format!("one of {order} as the names")
                } else {
                    format!("one of {order} as the rows before")
                },
            });
        }
        if row_count == order {
            return Err(fields[0].wrong(format!(
                "the end of the file after {order} rows of {order} numbers"
            )));
        }
        for (to, field) in fields.iter().enumerate() {
            matrix.add(row_count, to, field.bytes()?);
        }
        row_count += 1;
    }
    if row_count < order {
        let missing = format!("{order} rows, as many as columns, and not {row_count}");
        return Err(Problem::at_end(text, missing));
    }
    if names.is_empty() {
        return Ok(matrix);
    }
    matrix.names = names;
    Ok(matrix)
}

/// Whether a field is a name, and no number, not even a wrong one.
fn is_name(field: &Word<'_>) -> bool {
    field.text.parse::<f64>().is_err() && !field.text.starts_with('-') && !field.text.is_empty()
}

const SEPARATORS: [char; 3] = [',', ';', '\t'];

/// What separates the fields of a line; blanks where that is none of these.
fn separator_of(line: &str) -> Option<char> {
    let mut is_outside = outside_quotes(|mark| SEPARATORS.contains(&mark));
    let found: Vec<_> = line.chars().filter(|mark| is_outside(*mark)).collect();
    SEPARATORS.into_iter().find(|mark| found.contains(mark))
}

/// Tells of one character of a line after the other whether it stands outside of quotes, which begin where a field does.
fn outside_quotes(separates: impl Fn(char) -> bool) -> impl FnMut(char) -> bool {
    let (mut is_first, mut is_quoted, mut is_open) = (true, false, false);
    move |mark| {
        if mark == '"' && (is_first || is_quoted) {
            (is_quoted, is_open) = (true, !is_open);
        }
        if separates(mark) && !is_open {
            (is_first, is_quoted) = (true, false);
        } else {
            is_first &= mark.is_whitespace();
        }
        !is_open
    }
}

/// The fields of a line; one that ends it with a separator has no empty field behind.
fn fields(number: usize, line: &str, separator: Option<char>) -> Vec<Word<'_>> {
    let Some(separator) = separator else {
        return super::text::words(number, line).collect();
    };
    let line = line.trim_end();
    let line = line.strip_suffix(separator).unwrap_or(line);
    let mut column = 1;
    let mut is_outside = outside_quotes(|mark| mark == separator);
    line.split(|mark| is_outside(mark) && mark == separator)
        .map(|field| {
            let blanks = field.len() - field.trim_start().len();
            let word = Word {
                text: field.trim(),
                line: number,
                column: column + blanks,
            };
            column += field.len() + separator.len_utf8();
            word
        })
        .collect()
}

fn unquoted(name: &str) -> String {
    name.strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
        .map_or_else(|| name.to_owned(), |name| name.replace("\"\"", "\""))
}
