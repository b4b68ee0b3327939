//! From a global index to the chunk that probably holds it.
//!
//! Chunks of equal length, as tasks with equal shares make them, need a division by that length, which is a multiplication. For others
//! the indices are cut into buckets of 2ᵏ, eight to sixteen for each chunk, and a table has the chunk at which each bucket begins. Where a
//! bucket holds no end of a chunk the guess is right; where it holds one, the element lies in the chunk guessed or in the next. Only
//! chunks that are much shorter than the others share a bucket.

use super::Chunk;

/// A new table has so many buckets for each chunk, or nearly twice as many.
const BUCKETS_PER_CHUNK: usize = 8;
/// While chunks are added the table is kept as long as it has no fewer and no more.
const BUCKETS_PER_CHUNK_MIN: usize = 4;
const BUCKETS_PER_CHUNK_MAX: usize = 32;

/// Where the search for an index begins: never behind the chunk that holds it.
#[derive(Clone, Debug)]
pub(super) enum Guess {
    /// All chunks have `len` elements but the last, which may have fewer.
    Equal {
        len: usize,
        /// 2⁶⁴ / `len`, rounded up.
        reciprocal: u64,
    },
    /// The chunk that holds the first element of each bucket of 2^`shift` indices.
    Buckets { shift: u32, first: Vec<u32> },
}

impl Guess {
    /// For an array without elements.
    pub(super) const NOWHERE: Self = Self::Buckets {
        shift: 0,
        first: Vec::new(),
    };

    pub(super) fn of<T>(chunks: &[Chunk<T>]) -> Self {
        let len = chunks.first().map_or(0, |chunk| chunk.items.len());
        let are_equal = chunks.split_last().is_some_and(|(last, others)| {
            last.items.len() <= len && others.iter().all(|chunk| chunk.items.len() == len)
        });
        if are_equal && can_divide(chunks, len) {
            let reciprocal = u64::MAX / len as u64 + 1;
            return Self::Equal { len, reciprocal };
        }
        let total = total(chunks);
        let bucket_len = total / chunks.len().saturating_mul(BUCKETS_PER_CHUNK).max(1);
        let mut guess = Self::Buckets {
            shift: bucket_len.max(1).ilog2(),
            first: Vec::new(),
        };
        guess.extend(chunks);
        guess
    }

    /// The chunk to look into first; none for an index far beyond the array.
    #[inline]
    pub(super) fn chunk_of(&self, index: usize) -> Option<usize> {
        match self {
            Self::Equal { reciprocal, .. } => {
                Some(((index as u128 * u128::from(*reciprocal)) >> 64) as usize)
            }
            Self::Buckets { shift, first } => {
                first.get(index >> shift).map(|&chunk| chunk as usize)
            }
        }
    }

    /// `chunks` has one chunk more, at its end.
    pub(super) fn follow<T>(&mut self, chunks: &[Chunk<T>]) {
        let still_stands = match self {
            Self::Equal { len, .. } => {
                matches!(chunks, [.., before, last]
                    if before.items.len() == *len && last.items.len() <= *len)
                    && can_divide(chunks, *len)
            }
            Self::Buckets { shift, .. } => {
                let bucket_count = total(chunks).div_ceil(1 << *shift);
                let per_chunk = bucket_count / chunks.len();
                per_chunk <= BUCKETS_PER_CHUNK_MAX
                    && (per_chunk >= BUCKETS_PER_CHUNK_MIN || *shift == 0)
            }
        };
        if still_stands {
            self.extend(chunks);
        } else {
            *self = Self::of(chunks);
        }
    }

    /// Adds the buckets that begin in elements not yet seen.
    fn extend<T>(&mut self, chunks: &[Chunk<T>]) {
        let Self::Buckets { shift, first } = self else {
            return;
        };
        let bucket_count = total(chunks).div_ceil(1 << *shift);
        let mut chunk = first.last().map_or(0, |&chunk| chunk as usize);
        while first.len() < bucket_count {
            let index = first.len() << *shift;
            while chunks[chunk].end() <= index {
                chunk += 1;
            }
            let Ok(number) = u32::try_from(chunk) else {
                panic!("chunk {chunk} is one too many: an array has fewer than 2^32");
            };
            first.push(number);
        }
    }
}

fn total<T>(chunks: &[Chunk<T>]) -> usize {
    chunks.last().map_or(0, Chunk::end)
}

/// True when every index times the error of the reciprocal, which is below `len`, stays below 2⁶⁴, so that the product of the two is
/// exact, and when the reciprocal of `len` fits its word.
fn can_divide<T>(chunks: &[Chunk<T>], len: usize) -> bool {
    len >= 2 && (total(chunks) as u64).checked_mul(len as u64).is_some()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
