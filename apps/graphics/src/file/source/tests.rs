//! Tests of the lines, tokens, places and limits of a source, for any division of the input into
//! pieces.

use super::*;

/// Delivers one byte per call, the least that a `Read` may do.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((&byte, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        self.0 = rest;
        buffer[0] = byte;
        Ok(1)
    }
}

fn source(bytes: &[u8]) -> Source<'_> {
    Source::new(Box::new(Drip(bytes)), None, u64::MAX, Box::new(|| ()))
}

fn lines(bytes: &[u8]) -> Vec<(Place, Vec<u8>)> {
    let mut source = source(bytes);
    let mut lines = Vec::new();
    while let Some((place, line)) = source.next_line().expect("input cannot fail") {
        lines.push((place, line.to_vec()));
    }
    lines
}

#[test]
fn lines_may_have_any_line_end_and_the_last_may_have_none() {
    let expected = [(1, "one"), (2, ""), (3, "two")]
        .map(|(line, text)| (Place::Line(line), text.as_bytes().to_vec()));
    assert_eq!(lines(b"one\n\r\ntwo\r\n"), expected);
    assert_eq!(lines(b"one\n\ntwo"), expected);
    assert_eq!(lines(b""), []);
}

#[test]
fn tokens_know_their_lines() {
    let mut source = source(b"\n a bc\t\n\nd");
    let mut tokens = Vec::new();
    while let Some((place, token)) = source.next_token().expect("input cannot fail") {
        tokens.push((place, token.to_vec()));
    }
    let expected = [(2, "a"), (2, "bc"), (4, "d")];
    assert_eq!(
        tokens,
        expected.map(|(line, text)| (Place::Line(line), text.into()))
    );
}

#[test]
fn line_numbers_stay_correct_when_tokens_and_lines_alternate() {
    let mut source = source(b"header\nname 1\n2");
    source.next_line().expect("input cannot fail");
    source.next_token().expect("input cannot fail");
    source.next_line().expect("input cannot fail");
    let (place, token) = source
        .next_token()
        .expect("input cannot fail")
        .expect("a token");
    assert_eq!((place, token), (Place::Line(3), &b"2"[..]));
}

#[test]
fn peek_beyond_the_end_names_the_end_and_the_expected_content() {
    let mut source = source(b"abc");
    assert_eq!(
        source.take::<2>("two").expect("three bytes are available"),
        *b"ab"
    );
    let fault = source.peek(2, "two more").expect_err("one is left");
    assert_eq!(fault.place, Place::Byte(3));
    assert!(matches!(fault.problem, FileProblem::Truncated { expected } if expected == "two more"));
}

#[test]
fn skip_and_drain_count_the_skipped_bytes() {
    let mut source = source(b"0123456789");
    source.skip(4, "four").expect("ten bytes are available");
    assert_eq!(source.offset(), 4);
    assert_eq!(source.drain().expect("input cannot fail"), 6);
    assert!(source.skip(1, "one").is_err());
}

#[test]
fn more_data_than_allowed_is_an_error() {
    let mut source = Source::new(
        Box::new(std::io::repeat(b'x')),
        None,
        1 << 20,
        Box::new(|| ()),
    );
    let fault = source.drain().expect_err("the input has no end");
    assert!(matches!(fault.problem, FileProblem::TooLarge { .. }));
}

#[test]
fn a_line_without_end_is_an_error() {
    let mut source = Source::new(
        Box::new(std::io::repeat(b'x')),
        None,
        u64::MAX,
        Box::new(|| ()),
    );
    let fault = source.next_line().expect_err("the line has no end");
    assert!(matches!(fault.problem, FileProblem::TooLarge { .. }));
}

#[test]
fn reservations_never_exceed_the_remaining_bytes() {
    let mut source = Source::new(Box::new(&[0; 100][..]), Some(100), 100, Box::new(|| ()));
    assert_eq!(source.reservation(u64::MAX, 10), 10);
    assert_eq!(source.reservation(3, 10), 3);
    source.skip(95, "most").expect("100 bytes are available");
    assert_eq!(source.reservation(u64::MAX, 10), 0);
    let unknown = Source::new(Box::new(&[0; 100][..]), None, 100, Box::new(|| ()));
    assert_eq!(unknown.reservation(u64::MAX, 10), 1 << 20);
}
