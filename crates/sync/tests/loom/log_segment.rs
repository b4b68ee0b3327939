//! Segments of a log: a copy has the words of one use, whatever the owner does (E1, E2).
//!
//! Without either fence of E2, or with a weaker side of E1, the model fails.

use loom::sync::Arc;
use loom::thread;
use raddle_sync::log_segment::LogSegment;

#[test]
fn a_copy_has_the_words_of_one_use() {
    loom::model(|| {
        let segment = Arc::new(LogSegment::<2>::default());
        let owner = {
            let segment = Arc::clone(&segment);
            thread::spawn(move || {
                segment.begin(1, 10);
                segment.append(0, [1]);
                segment.append(1, [1]);
                segment.begin(2, 20);
                segment.append(0, [2]);
            })
        };
        if let Some(copy) = segment.copy() {
            assert_eq!(copy.begun, 10 * copy.number);
            assert!(copy.words.len() <= 3 - copy.number as usize, "{copy:?}");
            assert!(
                copy.words.iter().all(|word| *word == copy.number),
                "{copy:?}"
            );
        }
        owner.join().expect("the owner does not panic");
        let last = segment.copy().expect("in use");
        assert_eq!(
            (last.number, last.begun, &last.words[..]),
            (2, 20, &[2][..])
        );
    });
}
