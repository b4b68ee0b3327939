//! The interface's address translations: a few are kept, the least recently used one is evicted,
//! and finding another takes a page-table walk.
//!
//! # Source
//! Parker 2013, section 3.3.1: "a TLB and a page-table walk engine". The study does not give the
//! size of the TLB.

/// The translations that an interface keeps.
#[derive(Clone, Debug)]
pub(in crate::simulate) struct Translations {
    /// The pages, from the least to the most recently used.
    pages: Vec<u64>,
    capacity: usize,
    page_bytes: u64,
    /// The number of translations that were found in the list, and of those that took a walk.
    pub(in crate::simulate) hits: u64,
    pub(in crate::simulate) walks: u64,
}

impl Translations {
    pub(in crate::simulate) const fn new(capacity: u32, page_bytes: u32) -> Self {
        Self {
            pages: Vec::new(),
            capacity: capacity as usize,
            page_bytes: page_bytes as u64,
            hits: 0,
            walks: 0,
        }
    }

    /// Translates `bytes` bytes from an address on, and returns the number of walks that this took.
    ///
    /// Takes time linear in the number of kept translations.
    #[inline]
    pub(in crate::simulate) fn translate(&mut self, address: u64, bytes: u64) -> u32 {
        if bytes == 0 {
            return 0;
        }
        let first = address / self.page_bytes;
        let last = address.saturating_add(bytes - 1) / self.page_bytes;
        (first..=last)
            .map(|page| u32::from(self.walks_for(page)))
            .sum()
    }

    fn walks_for(&mut self, page: u64) -> bool {
        // The search starts at the most recently used page.
        if let Some(place) = self.pages.iter().rposition(|&kept| kept == page) {
            self.hits += 1;
            self.pages[place..].rotate_left(1);
            return false;
        }
        self.walks += 1;
        if self.pages.len() == self.capacity {
            self.pages.remove(0);
        }
        self.pages.push(page);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_page_is_evicted() {
        let mut translations = Translations::new(2, 4096);
        assert_eq!(translations.translate(0, 4096), 1);
        assert_eq!(
            translations.translate(4095, 2),
            1,
            "two pages, one of them new"
        );
        assert_eq!(translations.translate(100, 1), 0);
        assert_eq!(translations.translate(8192, 1), 1);
        assert_eq!(translations.translate(4096, 1), 1, "which had to go");
        assert_eq!(translations.translate(0, 0), 0);
        assert_eq!((translations.hits, translations.walks), (2, 4));
    }
}
