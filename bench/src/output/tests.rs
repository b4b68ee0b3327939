//! Readers that go, and disks that are full.

use super::*;

/// Takes one write, and then fails in some way.
struct Failing(io::ErrorKind, usize);

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.contains(&b'\n') {
            self.1 += 1;
        }
        if self.1 > 1 {
            Err(self.0.into())
        } else {
            Ok(bytes.len())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let mut output = Output::new(Failing(io::ErrorKind::BrokenPipe, 0));
    for line in ["one", "two", "three"] {
        output.line(line).expect("nobody is left to tell");
    }
    assert_eq!(output.to.1, 2, "what nobody reads is not written");
}

#[test]
fn what_cannot_be_written_is_a_failure() {
    let mut output = Output::new(Failing(io::ErrorKind::StorageFull, 0));
    output.line("one").expect("there is room for it");
    let failure = output.line("two").expect_err("the disk is full");
    assert!(failure.to_string().starts_with("standard output: "));
}
