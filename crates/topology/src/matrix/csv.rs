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
    let separator = [',', ';', '\t']
        .into_iter()
        .find(|mark| first.contains(*mark));
    let header: Vec<Word<'_>> = fields(number, first, separator);
    // A line of names: its first field that is not empty is no number.
    let named = header
        .iter()
        .find(|field| !field.text.is_empty())
        .is_some_and(|field| field.text.parse::<f64>().is_err() && !field.text.starts_with('-'));
    let has_row_names = named && header.first().is_some_and(|field| field.text.is_empty());
    let order = header.len() - usize::from(has_row_names);
    let mut names = Vec::new();
    if named {
        rows.next();
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

/// The fields of a line; one that ends it with a separator has no empty field behind.
fn fields(number: usize, line: &str, separator: Option<char>) -> Vec<Word<'_>> {
    let Some(separator) = separator else {
        return super::text::words(number, line).collect();
    };
    let line = line.trim_end();
    let line = line.strip_suffix(separator).unwrap_or(line);
    let mut column = 1;
    // What stands between quotes separates nothing.
    let mut is_quoted = false;
    let separates = |mark: char| {
        is_quoted ^= mark == '"';
        mark == separator && !is_quoted
    };
    line.split(separates)
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
