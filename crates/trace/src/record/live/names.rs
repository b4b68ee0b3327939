//! Numbers for names: the same text has the same number in all threads.

use std::collections::HashMap;
use std::ops::DerefMut;

use raddle_sync::prim::{AtomicU32, Mutex, Relaxed};

use crate::is_forked;

/// All names that were used so far. The number of a name is its index.
#[derive(Debug, Default)]
struct Names {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);

fn names() -> impl DerefMut<Target = Option<Names>> {
    NAMES.lock().expect("nothing panics under this lock")
}

/// Returns the number of a name, which is new or known.
pub(crate) fn number_of(text: &str) -> u32 {
    let mut names = names();
    let names = names.get_or_insert_default();
    if let Some(number) = names.numbers.get(text) {
        return *number;
    }
    let number = u32::try_from(names.texts.len()).expect("fewer than 2^32 names");
    names.texts.push(text.to_owned());
    names.numbers.insert(text.to_owned(), number);
    number
}

/// The name of a scope at one place of the program, which remembers its number.
#[derive(Debug)]
pub struct ScopeName {
    text: &'static str,
    /// The number plus one, or zero if it is not known yet.
    number: AtomicU32,
}

impl ScopeName {
    /// Creates the name of a scope.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            number: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        // Relaxed: all threads get the same number.
        match self.number.load(Relaxed) {
            0 => self.ask(),
            number => number - 1,
        }
    }

    #[cold]
    fn ask(&self) -> u32 {
        if is_forked() {
            // The thread that holds the lock may not exist here.
            return 0;
        }
        let number = number_of(self.text);
        // Relaxed: as above.
        self.number.store(number + 1, Relaxed);
        number
    }
}

/// Returns all names so far, by number.
pub(crate) fn all() -> Vec<String> {
    names()
        .as_ref()
        .map_or_else(Vec::new, |names| names.texts.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_equal_numbers() {
        let (one, other) = (number_of("one name"), number_of("other name"));
        assert_ne!(one, other);
        assert_eq!(one, number_of(&format!("one {}", "name")));
        assert_eq!(all()[other as usize], "other name");
    }
}
