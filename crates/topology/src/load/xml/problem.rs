//! A problem of an XML file, with its position in the file.

use roxmltree::Document;

use super::element::Element;

/// A problem of a file, and its position.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::load) struct XmlProblem {
    pub(in crate::load) line: u32,
    pub(in crate::load) column: u32,
    pub(in crate::load) found: String,
    pub(in crate::load) expected: String,
}

/// The document, which converts offsets to lines and columns.
#[derive(Clone, Copy)]
pub(super) struct Context<'document> {
    pub(super) document: &'document Document<'document>,
}

impl Context<'_> {
    /// Reports a problem at the start of an element.
    pub(super) fn problem<T>(
        self,
        element: &Element,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<T, XmlProblem> {
        self.problem_at(element.offset, found, expected)
    }

    /// Reports a problem at a byte offset of the file.
    pub(super) fn problem_at<T>(
        self,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<T, XmlProblem> {
        let position = self.document.text_pos_at(offset);
        Err(XmlProblem {
            line: position.row,
            column: position.col,
            found: found.into(),
            expected: expected.into(),
        })
    }
}
