//! Characters that occur inside numbers besides digits.

/// Separators of thousands, in addition to the comma or point that a notation leaves free.
pub(super) const GROUPING: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'];

/// Returns true if a character other than a digit may occur inside a number in some notation.
pub(super) fn is_mark(mark: char) -> bool {
    matches!(mark, ',' | '.') || GROUPING.contains(&mark)
}
