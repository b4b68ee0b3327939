//! Scribes copy books from pages that arrive in any order: an entry waits for messages, for a reply
//! and for a reduction.
//!
//! This example shows an `async` entry that waits for the next message of a kind that satisfies a
//! condition; other messages stay in the queue. A sequence of messages is thus handled in one
//! function, without callbacks and without states. While the entry waits, its worker does other
//! work, and its chare runs no other entry.
//!
//! `cargo run -p raddle --example waiting` prints:
//! ```text
//! scribe 0 wrote "a raddle keeps every thread in its place", 8 of 16 words
//! scribe 1 wrote "a waiting entry keeps no worker from working", 8 of 16 words
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::prelude::*;
use raddle::reduce::Sum;

const BOOKS: [[&str; 3]; 2] = [
    ["a raddle keeps ", "every thread ", "in its place"],
    ["a waiting entry ", "keeps no worker ", "from working"],
];

/// A chare that knows the number of pages in each book.
struct Librarian;

#[chare]
impl Librarian {
    #[entry]
    fn page_count(&self, book: usize) -> usize {
        BOOKS[book].len()
    }
}

/// A chare that copies the book with its index.
struct Scribe {
    copy: String,
}

#[chare]
impl Scribe {
    /// Delivers a page of the book. This is a kind of message, without a body because an entry
    /// waits for it.
    #[message]
    fn page(number: usize, text: &'static str);

    /// Writes the book in the order of its pages. Returns the number of words in it, and in all
    /// books.
    #[entry]
    async fn write(&mut self, cx: &mut Cx<Self>, librarian: LibrarianProxy) -> (usize, usize) {
        // Waits for a reply.
        let page_count = librarian.page_count(cx.index()).await;
        for wanted in 0..page_count {
            // Waits for the message that satisfies the condition. Other pages may have arrived long
            // before.
            let (_, text) = cx
                .next_where(Self::page, |&(number, _)| number == wanted)
                .await;
            self.copy.push_str(text);
        }
        let words = self.copy.split_whitespace().count();
        // Waits for a reduction: all scribes contribute, and all get the result.
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
    // Sends the last pages first.
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
