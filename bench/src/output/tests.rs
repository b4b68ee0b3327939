//! Closed pipes and full disks.

use super::*;

/// Accepts one line, and fails on every further one with the given kind of error.
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
fn a_closed_pipe_is_no_failure_and_ends_the_output() {
    let mut output = Output::new(Failing(io::ErrorKind::BrokenPipe, 0));
    for line in ["one", "two", "three"] {
        output.line(line).expect("a closed pipe is not an error");
    }
    assert_eq!(
        output.to.1, 2,
        "nothing is written after the pipe has closed"
    );
}

#[test]
fn any_other_write_failure_is_an_error() {
    let mut output = Output::new(Failing(io::ErrorKind::StorageFull, 0));
    output.line("one").expect("the first write succeeds");
    let failure = output.line("two").expect_err("the disk is full");
    assert!(failure.to_string().starts_with("standard output: "));
}
