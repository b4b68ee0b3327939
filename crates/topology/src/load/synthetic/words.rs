//! Splits a description into words, and parses the numbers in them.

use super::Problem;

/// Splits at blanks outside parentheses and brackets, before an opening bracket, and after a
/// closing bracket or parenthesis. hwloc requires no blank in the latter two places.
pub(super) fn split(description: &str) -> Result<Vec<&str>, Problem> {
    let mut words = Vec::new();
    let mut open: Vec<char> = Vec::new();
    let mut start = None;
    for (index, character) in description.char_indices() {
        let is_outside = open.is_empty();
        if is_outside && (character.is_ascii_whitespace() || character == '[') {
            words.extend(start.take().map(|start| &description[start..index]));
        }
        match character {
            '(' | '[' => open.push(character),
            ')' | ']' => {
                let opening = if character == ')' { '(' } else { '[' };
                if open.pop() != Some(opening) {
                    return Err(Problem::new(
                        format!("{character:?} that closes nothing"),
                        format!("{opening:?} before it"),
                    ));
                }
            }
            blank if is_outside && blank.is_ascii_whitespace() => continue,
            _ => {}
        }
        start.get_or_insert(index);
        if !is_outside && open.is_empty() {
            words.extend(start.take().map(|start| &description[start..=index]));
        }
    }
    if let Some(opening) = open.pop() {
        let closing = if opening == '(' { ')' } else { ']' };
        return Err(Problem::new(
            format!("{opening:?} that is not closed"),
            format!("{closing:?} after it"),
        ));
    }
    words.extend(start.map(|start| &description[start..]));
    Ok(words)
}

/// Parses a positive decimal number. A leading zero is not allowed, because hwloc reads `010` as
/// eight.
pub(super) fn whole_number(digits: &str) -> Option<u32> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}
