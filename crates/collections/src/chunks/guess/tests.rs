//! Guesses are never behind the chunk, and exact for chunks of equal length. The table is small.

use proptest::prelude::*;

use super::{BUCKETS_PER_CHUNK_MAX, Chunk, Guess};

fn chunks_of(lens: &[usize]) -> Vec<Chunk<()>> {
    let mut start = 0;
    let chunk = |&len: &usize| {
        let chunk = Chunk::new(start, vec![(); len]);
        start = chunk.end();
        chunk
    };
    lens.iter().map(chunk).collect()
}

/// Generates short, long and empty chunks, and sequences of equal chunks.
fn lens() -> impl Strategy<Value = Vec<usize>> {
    let len = prop_oneof![Just(0), Just(1), 0..9_usize, 0..3_000_usize];
    prop_oneof![
        proptest::collection::vec(len, 0..60),
        (1..200_usize, 1..50_usize, 0..300_usize).prop_map(|(len, count, last)| {
            let mut lens = vec![len; count];
            lens.push(last);
            lens
        }),
    ]
}

fn check(guess: &Guess, chunks: &[Chunk<()>]) {
    for (chunk, place) in chunks.iter().enumerate() {
        for index in place.start..place.end() {
            let guessed = guess.chunk_of(index).expect("there is such an element");
            let is_right = match guess {
                Guess::Equal { .. } => guessed == chunk,
                Guess::Buckets { .. } => guessed <= chunk,
            };
            assert!(
                is_right,
                "{guess:?} returns {guessed} for {index}, which is in {chunk}"
            );
        }
    }
    if let Guess::Buckets { first, .. } = guess {
        let most = (BUCKETS_PER_CHUNK_MAX + 1) * chunks.len();
        assert!(
            first.len() <= most,
            "{} buckets for {} chunks",
            first.len(),
            chunks.len()
        );
    }
}

proptest! {
    #[test]
    fn a_guess_is_the_chunk_or_an_earlier_one(lens in lens()) {
        let chunks = chunks_of(&lens);
        check(&Guess::of(&chunks), &chunks);
    }

    #[test]
    fn guesses_stay_right_when_chunks_are_added(lens in lens(), from in 0..4_usize) {
        let chunks = chunks_of(&lens);
        let from = from.min(lens.len());
        let mut guess = Guess::of(&chunks[..from]);
        for count in from + 1..=lens.len() {
            guess.follow(&chunks[..count]);
        }
        check(&guess, &chunks);
    }
}

#[test]
fn equal_chunks_are_found_by_division() {
    for lens in [
        &[7][..],
        &[7, 7, 7],
        &[7, 7, 3],
        &[2, 0],
        &[1 << 31, 1 << 31, 5],
    ] {
        let guess = Guess::of(&chunks_of(lens));
        assert!(
            matches!(guess, Guess::Equal { len, .. } if len == lens[0]),
            "{lens:?}: {guess:?}"
        );
    }
    for lens in [
        &[][..],
        &[0],
        &[1, 1],
        &[7, 8],
        &[7, 3, 7],
        &[1 << 40, 1 << 40],
    ] {
        let guess = Guess::of(&chunks_of(lens));
        assert!(
            matches!(guess, Guess::Buckets { .. }),
            "{lens:?}: {guess:?}"
        );
    }
}

#[test]
fn chunks_are_found_up_to_the_greatest_index() {
    let half = usize::MAX / 2;
    let chunks = chunks_of(&[half, half, 1]);
    let guess = Guess::of(&chunks);
    for (index, chunk) in [
        (0, 0),
        (half - 1, 0),
        (half, 1),
        (usize::MAX - 2, 1),
        (usize::MAX - 1, 2),
    ] {
        let guessed = guess.chunk_of(index).expect("there is such an element");
        assert!(
            guessed <= chunk,
            "{guessed} for {index}, which is in {chunk}"
        );
    }
}
