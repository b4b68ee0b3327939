//! The elements of a document as plain values that can be modified.
//!
//! Only the parts that a topology needs are kept. User data, names of vendors and the like are
//! dropped here, and so are comments and stray text. Each element stores its offset in the file, so
//! that problems found later have a position.

use roxmltree::Node;

use super::{Context, XmlProblem};

/// The maximum nesting depth of objects. Both hwloc and this crate descend the tree by recursion.
pub(super) const DEPTH_MAX: usize = 64;

/// The names of the elements that are kept, for each enclosing element.
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

/// The names of the elements that are written with their text.
pub(super) const WITH_TEXT: [&str; 2] = ["indexes", "u64values"];

/// An element with the parts of its content that are kept.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// The offset of the element in the file, in bytes.
    pub(super) offset: usize,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// Copies an element of a document with everything inside it.
    pub(super) fn read(context: Context<'_>, node: Node<'_, '_>) -> Result<Self, XmlProblem> {
        Self::read_at(context, node, 0)
    }

    fn read_at(context: Context<'_>, node: Node<'_, '_>, depth: usize) -> Result<Self, XmlProblem> {
        // The outermost element is not an object, so the objects in it may reach the full depth.
        if depth > DEPTH_MAX {
            return context.problem_at(
                node.range().start,
                format!("more than {DEPTH_MAX} nested objects"),
                "a machine of fewer levels",
            );
        }
        let name = node.tag_name().name();
        let entry = KEPT.iter().find(|(enclosing, _)| *enclosing == name);
        let kept = entry.map_or(&[][..], |(_, kept)| kept);
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

    /// Returns the value of an attribute, if the element has it.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Sets an attribute. Replaces its value if the element already has it.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        match self.attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }

    /// Removes an attribute, if the element has it.
    pub(super) fn remove(&mut self, name: &str) {
        self.attributes.retain(|(known, _)| known != name);
    }

    /// Iterates over the children with the given name.
    pub(super) fn children_named<'element>(
        &'element self,
        name: &'element str,
    ) -> impl Iterator<Item = &'element Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}
