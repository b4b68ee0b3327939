//! The texts of a timeline that is read, each stored once.

use std::collections::HashMap;
use std::sync::Arc;

use super::NameId;

/// Texts with ids. The empty text has the default id.
#[derive(Debug)]
pub(crate) struct Names {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, NameId>,
}

impl Names {
    /// Creates a table with the empty text.
    pub(crate) fn new() -> Self {
        let mut names = Self {
            texts: Vec::new(),
            ids: HashMap::new(),
        };
        names.id("");
        names
    }

    /// Returns the id of a text.
    pub(crate) fn id(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        // A text takes at least 40 bytes of memory and 1 byte of the input. Memory is used up long
        // before the ids are.
        let id = NameId(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    /// Returns the id of a text that may not be UTF-8.
    pub(crate) fn id_of_bytes(&mut self, text: &[u8]) -> NameId {
        self.id(&String::from_utf8_lossy(text))
    }

    /// Returns a text.
    pub(crate) fn text(&self, id: NameId) -> &str {
        &self.texts[id.0 as usize]
    }

    /// Returns all texts, by id.
    pub(crate) fn into_texts(self) -> Vec<Arc<str>> {
        self.texts
    }
}
