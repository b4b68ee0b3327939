//! What the attribute refuses, and what it says then; what it leaves as it is.

use proc_macro2::TokenStream;
use syn::parse_quote;

use super::{Block, Errors};
use crate::options::Options;

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("these are tokens")
}

/// What is said of a block that is refused.
#[track_caller]
fn refusal(block: &str) -> String {
    match Block::parse(tokens(block)) {
        Ok(Block {
            errors: Errors(Some(error)),
            ..
        })
        | Err(error) => error.to_string(),
        Ok(_) => panic!("it was not refused: {block}"),
    }
}

/// Expects all functions to be refused in a block, and the same to be said of each.
#[track_caller]
fn expect_refusal(said: &str, functions: &[&str]) {
    for function in functions {
        let block = format!("impl Cell {{ {function} }}");
        assert_eq!(refusal(&block), said, "{function}");
    }
}

#[test]
fn only_a_types_own_block_has_entries() {
    let of_a_trait = refusal("impl Display for Cell { #[entry] fn fmt(&self) {} }");
    assert_eq!(
        of_a_trait,
        "`#[chare]` belongs on the type's own `impl` block, not on that of a trait"
    );
    assert_eq!(refusal("struct Cell;"), "expected `impl`");
    assert_eq!(
        refusal("impl (u32, u32) {}"),
        "expected the name of a type of one's own"
    );
}

#[test]
fn an_entry_is_a_method() {
    expect_refusal(
        "an entry begins with `&mut self` or `&self`",
        &[
            "#[entry] fn hear() {}",
            "#[entry] fn hear(value: u32) {}",
            "#[entry] fn hear(self) {}",
            "#[entry] fn hear(self: Box<Self>) {}",
        ],
    );
    expect_refusal(
        "who sends a message promises nothing: it cannot be `unsafe`",
        &["#[entry] unsafe fn hear(&mut self) {}"],
    );
}

#[test]
fn what_is_sent_and_what_is_replied_has_one_type() {
    expect_refusal(
        "what a message carries has one type: no type parameters or lifetimes here",
        &[
            "#[entry] fn hear<T>(&mut self, value: T) {}",
            "#[entry] fn hear<'a>(&mut self, value: &'a str) {}",
            "#[message] fn word<T>(value: T);",
        ],
    );
    expect_refusal(
        "what a message carries has one type, with a name: no `impl` here",
        &["#[entry] fn hear(&mut self, value: impl Display) {}"],
    );
    expect_refusal(
        "what a reply carries has one type, with a name: no `impl` here",
        &["#[entry] fn say(&self) -> impl Display { 1 }"],
    );
}

#[test]
fn nothing_that_is_sent_or_replied_is_borrowed() {
    expect_refusal(
        "a message outlives what it is sent from: send a value, an `Arc` of shared data, or a `&'static`",
        &[
            "#[entry] fn hear(&mut self, value: &str) {}",
            "#[entry] async fn hear(&mut self, cx: &mut Cx<Self>, value: &mut u32) {}",
            "#[message] fn word(text: &str);",
        ],
    );
    expect_refusal(
        "a reply outlives what it is sent from: send a value, an `Arc` of shared data, or a `&'static`",
        &["#[entry] fn say(&self) -> &str { &self.name }"],
    );
}

#[test]
fn a_kind_of_message_is_what_it_carries_and_no_more() {
    expect_refusal(
        "a kind of message has no body: it is waited for; end it with `;`, or make it an `#[entry]`",
        &["#[message] fn word(text: String) {}"],
    );
    expect_refusal(
        "a kind of message has no `self`: its parameters are what it carries",
        &["#[message] fn word(&mut self, text: String);"],
    );
    expect_refusal(
        "a kind of message has no `cx`: its parameters are what it carries",
        &["#[message] fn word(cx: &mut Cx<Self>, text: String);"],
    );
    expect_refusal(
        "a kind of message is neither `async` nor does it reply",
        &[
            "#[message] fn word() -> String;",
            "#[message] async fn word();",
        ],
    );
    expect_refusal(
        "a function without a body; if it is a kind of message to be waited for, mark it `#[message]`",
        &[
            "fn word(text: String);",
            "#[entry] fn word(&mut self, text: String);",
        ],
    );
}

#[test]
fn a_chare_borrows_nothing() {
    let borrows = refusal("impl<'text> Reader<'text> { #[entry] fn read(&self) {} }");
    assert_eq!(
        borrows,
        "a chare outlives whatever it could borrow: no lifetimes here; share what is read with an `Arc`"
    );
}

#[test]
fn the_name_of_a_method_of_proxies_is_taken() {
    expect_refusal(
        "each proxy has a method `with_priority` of its own: use another name",
        &[
            "#[entry] fn with_priority(&mut self) {}",
            "#[message] fn with_priority();",
        ],
    );
}

#[test]
fn the_context_comes_right_after_self() {
    expect_refusal(
        "the parameter `cx: &mut Cx<Self>` comes right after `self`",
        &["#[entry] fn hear(&mut self, value: u32, cx: &mut Cx<Self>) {}"],
    );
}

#[test]
fn marks_and_options_say_what_they_know() {
    expect_refusal(
        "`#[entry]` has no options",
        &["#[entry(urgent)] fn hear(&mut self) {}"],
    );
    expect_refusal(
        "`#[message]` has no options",
        &["#[message = \"word\"] fn word();"],
    );
    let parse = |text| Options::parse(tokens(text), parse_quote!(::raddle_chare));
    let (_, unknown) = parse("name = \"cell\"");
    let unknown = unknown.expect("there is no such option");
    let expected = "expected `index = TYPE`, `nodes`, `state` or `crate = PATH`";
    assert_eq!(unknown.to_string(), expected);
    let (known, error) = parse("index = [usize; 2], crate = crate::chare");
    assert!(error.is_none(), "both are known");
    assert_eq!(known.index, parse_quote!([usize; 2]));
    assert_eq!(known.library, parse_quote!(crate::chare));
}

#[test]
fn a_block_keeps_all_but_the_marks() {
    const REST: &str = "const SIDES: u32 = 4; #[inline] fn new() -> Self { Self }";
    const HEAR: &str = "#[cfg(test)] fn hear(&mut self, _cx: &mut Cx<Self>, Point { x, y }: Point, other: Option<Self>) {}";
    let marked =
        format!("impl Cell {{ {REST} #[message] fn word(text: String); #[entry] {HEAR} }}");
    let block = Block::parse(tokens(&marked)).expect("all of it is right");
    let plain = format!("impl Cell {{ {REST} {HEAR} }}");
    assert_eq!(Ok(block.plain), syn::parse_str(&plain).map_err(drop));
    let ([message], [entry]) = (block.messages.as_slice(), block.entries.as_slice()) else {
        panic!("one function of each is marked");
    };
    assert_eq!(message.function.name, "word");
    assert!(entry.takes_cx && !entry.is_async);
    assert_eq!(entry.function.conditions.len(), 1);
    // `Self` means another type where these go.
    let types = entry.function.types().into_iter();
    let types: Vec<String> = types.map(ToString::to_string).collect();
    assert_eq!(types, ["Point", "Option < Cell >"]);
}
