//! Guesses the chunk that holds a global index.
//!
//! If all chunks are equally long, as they are when tasks have equal shares, the guess is a
//! division by that length, computed as a multiplication. Otherwise the indices are cut into
//! buckets of 2ᵏ, eight to sixteen per chunk, and a table holds the chunk in which each bucket
//! begins. If no chunk ends within a bucket, the guess is right. If one chunk ends there, the
//! element lies in the guessed chunk or the next one. Only chunks that are much shorter than the
//! others share a bucket.

use super::Chunk;

/// The minimum number of buckets per chunk in a new table, which has less than twice as many.
const BUCKETS_PER_CHUNK: usize = 8;
/// Bounds of the number of buckets per chunk within which a table is kept while chunks are added.
const BUCKETS_PER_CHUNK_MIN: usize = 4;
const BUCKETS_PER_CHUNK_MAX: usize = 32;

/// Guesses the chunk of an index. The guess is never after the chunk that holds the index.
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
    /// The guess for an array without elements.
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

    /// Returns the chunk to search first, or `None` for an index far beyond the array.
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

    /// Updates the guess after one chunk was added at the end of `chunks`.
    pub(super) fn follow<T>(&mut self, chunks: &[Chunk<T>]) {
        let is_still_valid = match self {
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
        if is_still_valid {
            self.extend(chunks);
        } else {
            *self = Self::of(chunks);
        }
    }

    /// Adds the buckets that begin in elements that were added since the last call.
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

/// Returns `true` if division by `len` can be computed exactly with its reciprocal.
///
/// The error of the reciprocal is below `len`. The quotient is exact if every index times that
/// error stays below 2⁶⁴. The reciprocal must also fit its word, which excludes a `len` below 2.
fn can_divide<T>(chunks: &[Chunk<T>], len: usize) -> bool {
    len >= 2 && (total(chunks) as u64).checked_mul(len as u64).is_some()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
