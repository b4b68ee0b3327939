//! The elements of a document as plain values that can be changed.
//!
//! Only what a topology needs is kept: user data, the makers of parts and the like are left out
//! here, and so are comments and stray text. Each element knows where it begins in the file, so
//! that what is found later has a place.

use roxmltree::Node;

use super::{Context, XmlProblem};

/// How many objects may stand inside each other; hwloc and we go down the tree by recursion.
pub(super) const DEPTH_MAX: usize = 64;

/// The elements that are kept, by the element that holds them.
const KEPT: [(&str, &[&str]); 6] = [
    (
        "topology",
        &["object", "distances2", "distances2hetero", "cpukind"],
    ),
    ("object", &["object", "distances"]),
    ("distances", &["latency"]),
    ("distances2", &["indexes", "u64values"]),
    ("distances2hetero", &["indexes", "u64values"]),
    ("cpukind", &["info"]),
];

/// The elements of which the text is kept.
pub(super) const WITH_TEXT: [&str; 2] = ["indexes", "u64values"];

/// An element with what is kept of its content.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// Where it begins in the file, in bytes.
    pub(super) offset: usize,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// Copies an element of a document with all below it.
    pub(super) fn read(context: Context<'_>, node: Node<'_, '_>) -> Result<Self, XmlProblem> {
        Self::read_at(context, node, 0)
    }

    fn read_at(context: Context<'_>, node: Node<'_, '_>, depth: usize) -> Result<Self, XmlProblem> {
        // The outermost element holds the machine, whose content may be as deep as the limit.
        if depth > DEPTH_MAX {
            return context.problem_at(
                node.range().start,
                format!("more than {DEPTH_MAX} objects inside each other"),
                "a machine of fewer levels",
            );
        }
        let name = node.tag_name().name();
        let holds = KEPT.iter().find(|(holder, _)| *holder == name);
        let kept = holds.map_or(&[][..], |(_, kept)| kept);
        let children = node
            .children()
            .filter(|child| child.is_element() && kept.contains(&child.tag_name().name()))
            .map(|child| Self::read_at(context, child, depth + 1))
            .collect::<Result<_, _>>()?;
        let attributes = node.attributes();
        Ok(Self {
            name: name.to_owned(),
            offset: node.range().start,
            attributes: attributes
                .map(|attribute| (attribute.name().to_owned(), attribute.value().to_owned()))
                .collect(),
            text: node.text().unwrap_or_default().to_owned(),
            children,
        })
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Sets an attribute, which the element may have already.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.attributes.retain(|(known, _)| known != name);
    }

    /// Iterates over the children of a name.
    pub(super) fn children_named<'element>(
        &'element self,
        name: &'element str,
    ) -> impl Iterator<Item = &'element Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}
