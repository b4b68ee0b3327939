//! Rust text without its comments and literals, so that rules see code alone.
//!
//! A small scanner, not a parser: it knows line comments, nested block comments, strings, raw
//! strings, byte and C strings, characters and lifetimes. Each blanked character becomes a space
//! and each newline stays, so lines and columns are those of the text.
//!
//! # Source
//! The Rust Reference, chapter "Lexical structure": comments, tokens.

/// Blanks out comments and literals.
#[must_use]
pub fn code_only(text: &str) -> String {
    let mut scanner = Scanner {
        text,
        at: 0,
        code: String::with_capacity(text.len()),
    };
    while let Some(next) = scanner.rest().chars().next() {
        let blank = scanner.literal_length();
        if blank > 0 {
            scanner.blank(blank);
        } else {
            scanner.keep(next);
        }
    }
    scanner.code
}

/// Returns the numbers, from 1, of the lines of `code` that contain `word` as a whole word.
pub fn lines_with_word<'code>(
    code: &'code str,
    word: &'code str,
) -> impl Iterator<Item = usize> + 'code {
    code.lines()
        .enumerate()
        .filter(move |(_, line)| has_word(line, word))
        .map(|(index, _)| index + 1)
}

/// Returns true if `line` has `word` with no alphabetic character, digit or `_` on either side.
#[must_use]
pub fn has_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, found)| {
        let before = line[..at].chars().next_back();
        let after = line[at + found.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

struct Scanner<'text> {
    text: &'text str,
    at: usize,
    code: String,
}

impl<'text> Scanner<'text> {
    fn rest(&self) -> &'text str {
        &self.text[self.at..]
    }

    fn keep(&mut self, character: char) {
        self.code.push(character);
        self.at += character.len_utf8();
    }

    fn blank(&mut self, length: usize) {
        let end = self.at + length;
        for character in self.text[self.at..end].chars() {
            self.code.push(if character == '\n' { '\n' } else { ' ' });
        }
        self.at = end;
    }

    /// Returns the length in bytes of the comment or literal that begins here; 0 if none does.
    fn literal_length(&self) -> usize {
        let rest = self.rest();
        if rest.starts_with("//") {
            return rest.find('\n').unwrap_or(rest.len());
        }
        if rest.starts_with("/*") {
            return block_comment_length(rest);
        }
        if rest.starts_with('"') {
            return string_length(rest);
        }
        if rest.starts_with('\'') {
            return character_length(rest);
        }
        if self.follows_a_name() {
            return 0;
        }
        raw_string_length(rest)
    }

    /// Returns true if the character before belongs to a name: the `r` in `for"` starts no raw
    /// string.
    fn follows_a_name(&self) -> bool {
        self.text[..self.at]
            .chars()
            .next_back()
            .is_some_and(|character| character.is_alphanumeric() || character == '_')
    }
}

fn block_comment_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

fn string_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns the length of a character literal; 0 for a lifetime or a label.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            // The escaped character, byte 2, may itself be a quote.
            rest.get(3..)
                .and_then(|after| after.find('\''))
                .map_or(0, |quote| 3 + quote + 1)
        }
        Some((at, character)) => {
            let after = at + character.len_utf8();
            if rest[after..].starts_with('\'') {
                after + 1
            } else {
                0
            }
        }
        None => 0,
    }
}

/// Returns the length of `r"…"`, `r#"…"#`, `b"…"`, `br"…"`, `c"…"` or `cr"…"`; 0 for anything
/// else.
fn raw_string_length(rest: &str) -> usize {
    let prefix = ["br", "cr", "r", "b", "c"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix));
    let Some(prefix) = prefix else { return 0 };
    let after = &rest[prefix.len()..];
    if !prefix.ends_with('r') {
        return match after.chars().next() {
            Some('"') => prefix.len() + string_length(after),
            Some('\'') if prefix == "b" => match character_length(after) {
                0 => 0,
                length => prefix.len() + length,
            },
            _ => 0,
        };
    }
    let hashes = after.bytes().take_while(|&byte| byte == b'#').count();
    if !after[hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let body = prefix.len() + hashes + 1;
    rest[body..]
        .find(&end)
        .map_or(rest.len(), |at| body + at + end.len())
}

#[cfg(test)]
mod tests;
