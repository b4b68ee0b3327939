//! Random numbers that depend only on a seed and an index, so that any worker can compute any of
//! them.
//!
//! # Source
//! G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators. OOPSLA 2014
//! (SplitMix64).

/// The odd number closest to 2^64 divided by the golden ratio.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns number `index` of the sequence of `seed`. All 64 bits are random.
///
/// # Examples
/// ```
/// use raddle_numerics::random;
/// assert_eq!(random::number(7, 3), random::number(7, 3));
/// assert_ne!(random::number(7, 3), random::number(8, 3));
/// ```
#[inline]
pub fn number(seed: u64, index: u64) -> u64 {
    mixed(seed.wrapping_add(STEP.wrapping_mul(index.wrapping_add(1))))
}

/// Fills `items` with the first numbers of the sequence of `seed`, on all workers.
pub fn fill(items: &mut [i32], seed: u64) {
    raddle::for_each_mut(items, |index, item| {
        // The upper half of the bits.
        *item = (number(seed, index as u64) >> 32) as i32;
    });
}

/// Mixes the bits, so that every bit of the result depends on every bit of `bits`. Different
/// arguments give different results.
#[inline]
pub fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_seed_zero_is_the_published_one() {
        let first: Vec<u64> = (0..3).map(|index| number(0, index)).collect();
        assert_eq!(
            first,
            [
                0xE220_A839_7B1D_CDAF,
                0x6E78_9E6A_A1B9_65F4,
                0x06C4_5D18_8009_454F
            ]
        );
    }

    #[test]
    fn a_parallel_fill_equals_a_sequential_one() {
        let mut items = vec![0; 10_000];
        fill(&mut items, 42);
        let alone: Vec<i32> = (0..10_000)
            .map(|index| (number(42, index) >> 32) as i32)
            .collect();
        assert_eq!(items, alone);
    }
}
