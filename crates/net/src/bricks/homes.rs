//! The homes of bricks: which node has which bricks, and in which order.

use std::fmt;
use std::sync::Arc;

use super::error::StartError;
use crate::address::NodeId;

/// The rule by which bricks are distributed over their homes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HomeRule {
    /// Brick k belongs to home k modulo the number of homes. Neighbours have different homes, so
    /// the load is even wherever rays go.
    #[default]
    Cyclic,
    /// Each home has a range of keys. The ranges differ by at most one brick.
    Blocks,
    /// The home of each brick, by key: an index into the list of homes. This is the result of a
    /// placement.
    Table(Arc<[u16]>),
}

/// The homes of the bricks with the keys from 0 on.
#[derive(Clone)]
pub struct Homes {
    nodes: Arc<[NodeId]>,
    brick_count: u64,
    rule: HomeRule,
    /// With a table, the place of each brick among those of its home.
    places: Arc<[u32]>,
    /// With a table, the number of bricks of each home.
    counts: Arc<[u64]>,
}

impl Homes {
    /// Distributes `brick_count` bricks over nodes.
    ///
    /// # Errors
    /// [`StartError::NoHomes`] if there are no nodes; [`StartError::Table`] for a table of another
    /// length, or with a number of a home that does not exist.
    pub fn new(
        nodes: impl Into<Arc<[NodeId]>>,
        brick_count: u64,
        rule: HomeRule,
    ) -> Result<Self, StartError> {
        let nodes = nodes.into();
        if nodes.is_empty() {
            return Err(StartError::NoHomes);
        }
        let mut counts = vec![0_u64; nodes.len()];
        let mut places = Vec::new();
        if let HomeRule::Table(table) = &rule {
            if table.len() as u64 != brick_count {
                return Err(StartError::Table {
                    found: table.len() as u64,
                    expected: brick_count,
                });
            }
            for (key, &home) in table.iter().enumerate() {
                let Some(count) = counts.get_mut(usize::from(home)) else {
                    return Err(StartError::TableEntry {
                        key: key as u64,
                        found: home,
                        expected: nodes.len(),
                    });
                };
                // A table of more entries would not fit into memory.
                places.push(*count as u32);
                *count += 1;
            }
        }
        Ok(Self {
            nodes,
            brick_count,
            rule,
            places: places.into(),
            counts: counts.into(),
        })
    }

    /// Returns the nodes that are homes.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Returns the number of bricks of all homes.
    pub const fn brick_count(&self) -> u64 {
        self.brick_count
    }

    /// Returns the home of a brick, as an index into the list of homes, and the place of the brick
    /// among those of its home. Returns `None` if there is no such brick.
    #[inline]
    pub fn home(&self, key: u64) -> Option<(usize, u64)> {
        if key >= self.brick_count {
            return None;
        }
        let home_count = self.nodes.len() as u64;
        Some(match &self.rule {
            HomeRule::Cyclic => ((key % home_count) as usize, key / home_count),
            HomeRule::Blocks => {
                let (len, longer) = self.block_lens();
                // The first ranges are longer by one.
                let in_longer = longer * (len + 1);
                if key < in_longer {
                    ((key / (len + 1)) as usize, key % (len + 1))
                } else {
                    let rest = key - in_longer;
                    ((longer + rest / len) as usize, rest % len)
                }
            }
            HomeRule::Table(table) => {
                // The table has an entry for each brick, so the key fits `usize`.
                let index = key as usize;
                (table[index].into(), self.places[index].into())
            }
        })
    }

    /// Returns the number of bricks of a home.
    ///
    /// # Panics
    /// If there is no such home.
    pub fn count_of(&self, home: usize) -> u64 {
        let (home_count, index) = (self.nodes.len() as u64, home as u64);
        assert!(index < home_count, "home {home} of {home_count}");
        match &self.rule {
            HomeRule::Cyclic => (self.brick_count + home_count - 1 - index) / home_count,
            HomeRule::Blocks => {
                let (len, longer) = self.block_lens();
                len + u64::from(index < longer)
            }
            HomeRule::Table(_) => self.counts[home],
        }
    }

    /// Returns the keys of the bricks of a home, in the order of their places.
    ///
    /// # Panics
    /// If there is no such home.
    pub fn keys_of(&self, home: usize) -> Box<dyn Iterator<Item = u64> + Send + '_> {
        let (count, home_count) = (self.count_of(home), self.nodes.len() as u64);
        match &self.rule {
            HomeRule::Cyclic => Box::new((0..count).map(move |at| at * home_count + home as u64)),
            HomeRule::Blocks => {
                let (len, longer) = self.block_lens();
                let index = home as u64;
                let start = index * len + index.min(longer);
                Box::new(start..start + count)
            }
            HomeRule::Table(table) => {
                let keys = (0..).zip(table.iter());
                Box::new(
                    keys.filter_map(move |(key, &of)| (usize::from(of) == home).then_some(key)),
                )
            }
        }
    }

    /// Returns the length of the shorter ranges, and the number of longer ones.
    fn block_lens(&self) -> (u64, u64) {
        let home_count = self.nodes.len() as u64;
        (self.brick_count / home_count, self.brick_count % home_count)
    }
}

impl fmt::Debug for Homes {
    /// Prints the rule without its table, which may have millions of entries.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.rule {
            HomeRule::Cyclic => "Cyclic",
            HomeRule::Blocks => "Blocks",
            HomeRule::Table(_) => "Table",
        };
        let (count, nodes) = (self.brick_count, &self.nodes);
        write!(formatter, "{count} bricks, {rule}, of {nodes:?}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nodes(count: u16) -> Vec<NodeId> {
        (0..count).map(|node| NodeId(10 + node)).collect()
    }

    proptest! {
        #[test]
        fn each_brick_has_one_home_and_one_place(
            count in 1..20_u16,
            brick_count in 0..300_u64,
            table in prop::collection::vec(any::<u16>(), 300),
            rule in 0..3,
        ) {
            let table = table.iter().take(brick_count as usize).map(|entry| entry % count);
            let rule = match rule {
                0 => HomeRule::Cyclic,
                1 => HomeRule::Blocks,
                _ => HomeRule::Table(table.collect()),
            };
            let homes = Homes::new(nodes(count), brick_count, rule).expect("valid");
            let mut found = 0;
            for home in 0..usize::from(count) {
                let keys: Vec<_> = homes.keys_of(home).collect();
                prop_assert_eq!(keys.len() as u64, homes.count_of(home));
                for (place, &key) in keys.iter().enumerate() {
                    prop_assert_eq!(homes.home(key), Some((home, place as u64)));
                    found += 1;
                }
            }
            prop_assert_eq!(found, brick_count);
            prop_assert_eq!(homes.home(brick_count), None);
        }
    }

    #[test]
    fn invalid_homes_are_errors() {
        let error = Homes::new([], 5, HomeRule::Cyclic).map(|_| ());
        assert_eq!(
            error.expect_err("no nodes").to_string(),
            "no node is a home"
        );
        let rule = |table: &[u16]| HomeRule::Table(table.into());
        let error = Homes::new(nodes(2), 3, rule(&[0, 1])).map(|_| ());
        let expected = "a table of 2 homes; expected one for each of 3 bricks";
        assert_eq!(error.expect_err("too short").to_string(), expected);
        let error = Homes::new(nodes(2), 3, rule(&[0, 1, 2])).map(|_| ());
        let expected = "brick 2 has home 2; expected a number below 2";
        assert_eq!(error.expect_err("no such home").to_string(), expected);
    }
}
