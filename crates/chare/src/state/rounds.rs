//! The reductions and scans to which an element contributes next.
//!
//! Elements number their reductions and their scans, separately for the array and for each section.
//! The numbers belong to the element, and move with it.

/// The elements that reduce or scan together: all of the array (`None`), or a section.
pub(crate) type Group = Option<u32>;

/// Returns the name of a group of elements in messages; `name` is that of the elements.
pub(crate) fn name_of(group: Group, name: &str) -> String {
    match group {
        None => name.to_owned(),
        Some(section) => format!("section {section} of {name}"),
    }
}

/// The reductions and scans to which an element contributes next: over its array, and over
/// sections.
#[derive(Clone, Debug, Default)]
pub(crate) struct NextRounds {
    array: u64,
    scan: u64,
    sections: Vec<Next>,
}

/// The next rounds of one section.
#[derive(Clone, Debug)]
struct Next {
    section: u32,
    round: u64,
    scan: u64,
}

impl NextRounds {
    /// Creates the rounds of an inserted element. It takes the place of an element that has ended.
    /// Scans over that place lack a contribution, so the scan number is the largest one.
    pub(crate) fn from_array(array: u64) -> Self {
        Self {
            array,
            scan: u64::MAX,
            sections: Vec::new(),
        }
    }

    /// Creates the rounds of an element of an array without sections: its reduction and its scan.
    pub(crate) const fn of((array, scan): (u64, u64)) -> Self {
        Self {
            array,
            scan,
            sections: Vec::new(),
        }
    }

    /// Returns the scan to which the element contributes next.
    pub(crate) fn scan_of(&self, group: Group) -> u64 {
        match group {
            None => self.scan,
            Some(section) => self.section(section).map_or(0, |next| next.scan),
        }
    }

    /// Advances to the next scan, because the element contributes to the present one.
    pub(crate) fn take_scan(&mut self, group: Group) {
        let next = match group {
            None => &mut self.scan,
            Some(section) => &mut self.section_mut(section).scan,
        };
        *next = next.saturating_add(1);
    }

    pub(crate) fn array(&self) -> u64 {
        self.array
    }

    /// Returns the reduction of a section to which the element contributes next.
    pub(crate) fn of_section(&self, section: u32) -> u64 {
        self.section(section).map_or(0, |next| next.round)
    }

    fn section(&self, section: u32) -> Option<&Next> {
        self.sections.iter().find(|next| next.section == section)
    }

    fn section_mut(&mut self, section: u32) -> &mut Next {
        let mut known = self.sections.iter();
        let at = known.position(|next| next.section == section);
        let at = at.unwrap_or_else(|| {
            self.sections.push(Next {
                section,
                round: 0,
                scan: 0,
            });
            self.sections.len() - 1
        });
        &mut self.sections[at]
    }

    /// Raises each of these numbers to that of `other`, if larger.
    pub(crate) fn raise_to(&mut self, other: &Self) {
        self.array = self.array.max(other.array);
        self.scan = self.scan.max(other.scan);
        for of in &other.sections {
            let own = self.section_mut(of.section);
            own.round = own.round.max(of.round);
            own.scan = own.scan.max(of.scan);
        }
    }

    /// Returns true if the element has contributed to a section, or scanned in one.
    pub(crate) fn has_sections(&self) -> bool {
        !self.sections.is_empty()
    }

    /// Removes a section that no longer exists.
    pub(crate) fn forget(&mut self, section: u32) {
        self.sections.retain(|next| next.section != section);
    }

    /// Returns the reduction to which the element contributes now, and advances to the next one.
    pub(crate) fn take(&mut self, group: Group) -> u64 {
        let next = match group {
            None => &mut self.array,
            Some(section) => &mut self.section_mut(section).round,
        };
        *next += 1;
        *next - 1
    }

    /// Returns the next reduction of each group with which the element has reduced.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Group, u64)> {
        let sections = self.sections.iter().filter(|next| next.round > 0);
        let sections = sections.map(|next| (Some(next.section), next.round));
        std::iter::once((None, self.array)).chain(sections)
    }
}
