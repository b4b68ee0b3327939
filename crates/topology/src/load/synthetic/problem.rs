//! A problem of a synthetic description, for the error message.

/// A problem of a description.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::load) struct Problem {
    pub(in crate::load) found: String,
    pub(in crate::load) expected: String,
}

impl Problem {
    pub(super) fn new(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            found: found.into(),
            expected: expected.into(),
        }
    }
}
