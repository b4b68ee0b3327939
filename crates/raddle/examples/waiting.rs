//! Scribes copy books whose pages come in any order: an entry that waits for messages, for a reply and for a reduction.
//!
//! What to see here: an `async` entry awaits the next message of a kind that satisfies a condition; those that do not wait for
//! their turn. So what happens over many messages is written as one function, without callbacks and without states. Meanwhile its
//! worker does other work, and its chare runs no other entry.
//!
//! `cargo run -p raddle --example waiting` prints:
//! ```text
//! scribe 0 wrote "a raddle keeps every thread in its place", 8 of 16 words
//! scribe 1 wrote "who waits for a message keeps nobody waiting", 8 of 16 words
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::prelude::*;
use raddle::reduce::Sum;

const BOOKS: [[&str; 3]; 2] = [
    ["a raddle keeps ", "every thread ", "in its place"],
    ["who waits for ", "a message keeps ", "nobody waiting"],
];

/// Knows how many pages there are in each book.
struct Librarian;

#[chare]
impl Librarian {
    #[entry]
    fn page_count(&self, book: usize) -> usize {
        BOOKS[book].len()
    }
}

/// Copies the book that has its index.
struct Scribe {
    copy: String,
}

#[chare]
impl Scribe {
    /// A page of the book: a kind of message. It has no body, since it is waited for.
    #[message]
    fn page(number: usize, text: &'static str);

    /// Writes the book in the order of its pages; replies how many words there are in it, and in all books.
    #[entry]
    async fn write(&mut self, cx: &mut Cx<Self>, librarian: LibrarianProxy) -> (usize, usize) {
        // A reply.
        let page_count = librarian.page_count(cx.index()).await;
        for wanted in 0..page_count {
            // The message for which the condition holds: other pages may have come long before.
            let (_, text) = cx
                .next_where(Self::page, |&(number, _)| number == wanted)
                .await;
            self.copy.push_str(text);
        }
        let words = self.copy.split_whitespace().count();
        // A reduction: all scribes contribute, and all get the result.
        (words, cx.reduce(Sum(words)).await)
    }

    #[entry]
    fn copy(&self) -> String {
        self.copy.clone()
    }
}

fn main() {
    let runtime = raddle::default_runtime();
    let librarian = runtime.chare(|_| Librarian);
    let scribes = runtime.array(BOOKS.len(), |_| Scribe {
        copy: String::new(),
    });
    let replies = [0, 1].map(|index| scribes.at(index).write(librarian));
    // The last pages first.
    for (index, book) in BOOKS.iter().enumerate() {
        for (number, text) in book.iter().enumerate().rev() {
            scribes.at(index).page(number, text);
        }
    }
    for (index, reply) in replies.into_iter().enumerate() {
        let (words, all_words) = reply.wait();
        let copy = scribes.at(index).copy().wait();
        println!("scribe {index} wrote \"{copy}\", {words} of {all_words} words");
        assert_eq!(copy, BOOKS[index].concat());
    }
}
