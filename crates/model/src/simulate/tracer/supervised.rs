//! Frames that a supervisor divides into tiles.

use crate::error::{DomainError, ModelError};

/// A frame that a supervisor divides into tiles, which it assigns one after the other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Supervised {
    /// The number of tiles that a node has been assigned for each of its renderers.
    pub ahead: u32,
    /// The work and the misses of tiles, in any unit, in the order of assignment. If it is empty,
    /// all tiles are equal. If a frame has another number of tiles, they are repeated, or the last
    /// ones are left out.
    tiles: Vec<[f64; 2]>,
}

impl Default for Supervised {
    fn default() -> Self {
        Self {
            ahead: 2,
            tiles: Vec::new(),
        }
    }
}

impl Supervised {
    /// Creates frames with the work and the misses of the tiles of a real run.
    ///
    /// # Errors
    /// [`ModelError`] if there is no work, or a number is below zero or not finite.
    pub fn with_tiles(tiles: Vec<[f64; 2]>) -> Result<Self, ModelError> {
        let wrong = tiles.iter().flatten().find(|it| !(0.0..1e30).contains(*it));
        if let Some(&wrong) = wrong {
            return Err(DomainError::new("work or misses of a tile", wrong, "0 or more").into());
        }
        if tiles.iter().map(|[work, _]| work).sum::<f64>() <= 0.0 {
            return Err(DomainError::new("work of all tiles", 0.0, "more than 0").into());
        }
        Ok(Self {
            tiles,
            ..Self::default()
        })
    }

    /// Returns the work and the misses of the tiles of a frame, relative to their means.
    pub(super) fn shares(&self, count: f64) -> Vec<[f64; 2]> {
        // A frame has at most 4·10⁹ pixels.
        let count = count.max(1.0) as usize;
        if self.tiles.is_empty() {
            return vec![[1.0; 2]; count];
        }
        let tiles: Vec<[f64; 2]> = self.tiles.iter().copied().cycle().take(count).collect();
        let mean = |of: usize| tiles.iter().map(|tile| tile[of]).sum::<f64>() / count as f64;
        let means = [mean(0), mean(1)];
        let relative = |tile: [f64; 2], of: usize| match means[of] > 0.0 {
            true => tile[of] / means[of],
            false => 1.0,
        };
        tiles
            .iter()
            .map(|&tile| [relative(tile, 0), relative(tile, 1)])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_mean_one() {
        let given = Supervised::with_tiles(vec![[10.0, 0.0], [30.0, 0.0]]).expect("valid");
        assert_eq!(given.shares(2.0), [[0.5, 1.0], [1.5, 1.0]]);
        assert_eq!(given.shares(4.0).len(), 4);
        assert_eq!(Supervised::default().shares(3.0), [[1.0; 2]; 3]);
        let misses = Supervised::with_tiles(vec![[1.0, 2.0], [1.0, 6.0]]).expect("valid");
        assert_eq!(misses.shares(2.0), [[1.0, 0.5], [1.0, 1.5]]);
        for wrong in [
            vec![],
            vec![[0.0, 1.0]],
            vec![[1.0, -1.0]],
            vec![[f64::NAN, 0.0]],
        ] {
            Supervised::with_tiles(wrong).expect_err("no work, or a wrong number");
        }
    }
}
