//! The errors of blocks, and the parts of a block that are not changed.

use proc_macro2::TokenStream;
use syn::parse_quote;

use super::{Block, Errors};
use crate::options::Options;

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("these are tokens")
}

/// Returns the first error of a block, which must have one.
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

/// Checks that each of the functions has this error.
#[track_caller]
fn expect_refusal(message: &str, functions: &[&str]) {
    for function in functions {
        let block = format!("impl Cell {{ {function} }}");
        assert_eq!(refusal(&block), message, "{function}");
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
        "expected the name of a type of this crate"
    );
}

#[test]
fn an_entry_is_a_method() {
    expect_refusal(
        "an entry begins with `&mut self` or `&self`",
        &[
            "#[entry] fn receive() {}",
            "#[entry] fn receive(value: u32) {}",
            "#[entry] fn receive(self) {}",
            "#[entry] fn receive(self: Box<Self>) {}",
        ],
    );
    expect_refusal(
        "an entry or a kind of message cannot be `unsafe`: the sender cannot make any promise",
        &["#[entry] unsafe fn receive(&mut self) {}"],
    );
}

#[test]
fn the_contents_of_messages_and_replies_have_fixed_types() {
    expect_refusal(
        "the contents of a message have fixed types: no type parameters or lifetimes here",
        &[
            "#[entry] fn receive<T>(&mut self, value: T) {}",
            "#[entry] fn receive<'a>(&mut self, value: &'a str) {}",
            "#[message] fn word<T>(value: T);",
        ],
    );
    expect_refusal(
        "the contents of a message have types with a name: no `impl` here",
        &["#[entry] fn receive(&mut self, value: impl Display) {}"],
    );
    expect_refusal(
        "the contents of a reply have types with a name: no `impl` here",
        &["#[entry] fn say(&self) -> impl Display { 1 }"],
    );
}

#[test]
fn messages_and_replies_cannot_borrow() {
    expect_refusal(
        "a message cannot borrow: send a value, an `Arc` of shared data, or a `&'static` reference",
        &[
            "#[entry] fn receive(&mut self, value: &str) {}",
            "#[entry] async fn receive(&mut self, cx: &mut Cx<Self>, value: &mut u32) {}",
            "#[message] fn word(text: &str);",
        ],
    );
    expect_refusal(
        "a reply cannot borrow: send a value, an `Arc` of shared data, or a `&'static` reference",
        &["#[entry] fn say(&self) -> &str { &self.name }"],
    );
}

#[test]
fn a_kind_of_message_has_only_parameters() {
    expect_refusal(
        "a kind of message has no body, since entries wait for it; \
         end it with `;`, or make it an `#[entry]`",
        &["#[message] fn word(text: String) {}"],
    );
    expect_refusal(
        "a kind of message has no `self`: its parameters are its contents",
        &["#[message] fn word(&mut self, text: String);"],
    );
    expect_refusal(
        "a kind of message has no `cx`: its parameters are its contents",
        &["#[message] fn word(cx: &mut Cx<Self>, text: String);"],
    );
    expect_refusal(
        "a kind of message is not `async` and has no reply",
        &[
            "#[message] fn word() -> String;",
            "#[message] async fn word();",
        ],
    );
    expect_refusal(
        "a function without a body; if it is a kind of message that entries wait for, \
         mark it `#[message]`",
        &[
            "fn word(text: String);",
            "#[entry] fn word(&mut self, text: String);",
        ],
    );
}

#[test]
fn a_chare_cannot_borrow() {
    let borrows = refusal("impl<'text> Reader<'text> { #[entry] fn read(&self) {} }");
    assert_eq!(
        borrows,
        "a chare cannot borrow, so lifetimes are not allowed here; \
         share data that is only read with an `Arc`"
    );
}

#[test]
fn the_name_of_a_method_of_all_proxies_cannot_be_used() {
    expect_refusal(
        "each proxy already has a method `with_priority`: use another name",
        &[
            "#[entry] fn with_priority(&mut self) {}",
            "#[message] fn with_priority();",
        ],
    );
}

#[test]
fn the_context_comes_right_after_self() {
    expect_refusal(
        "the parameter `cx: &mut Cx<Self>` must come right after `self`",
        &["#[entry] fn receive(&mut self, value: u32, cx: &mut Cx<Self>) {}"],
    );
}

#[test]
fn errors_of_marks_and_options_list_the_valid_ones() {
    expect_refusal(
        "`#[entry]` has no options",
        &["#[entry(urgent)] fn receive(&mut self) {}"],
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
fn a_block_is_unchanged_except_for_the_marks() {
    const REST: &str = "const SIDES: u32 = 4; #[inline] fn new() -> Self { Self }";
    const RECEIVE: &str = "#[cfg(test)] fn receive(&mut self, _cx: &mut Cx<Self>, \
                           Point { x, y }: Point, other: Option<Self>) {}";
    let marked =
        format!("impl Cell {{ {REST} #[message] fn word(text: String); #[entry] {RECEIVE} }}");
    let block = Block::parse(tokens(&marked)).expect("it has no errors");
    let plain = format!("impl Cell {{ {REST} {RECEIVE} }}");
    assert_eq!(Ok(block.plain), syn::parse_str(&plain).map_err(drop));
    let ([message], [entry]) = (block.messages.as_slice(), block.entries.as_slice()) else {
        panic!("one function of each is marked");
    };
    assert_eq!(message.function.name, "word");
    assert!(entry.takes_cx && !entry.is_async);
    assert_eq!(entry.function.conditions.len(), 1);
    // `Self` is replaced, since it has another meaning in the generated code.
    let types = entry.function.types().into_iter();
    let types: Vec<String> = types.map(ToString::to_string).collect();
    assert_eq!(types, ["Point", "Option < Cell >"]);
}
