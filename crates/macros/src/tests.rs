//! Where something is wrong, the attribute tells of that alone: it writes all that other code
//! relies on.

use proc_macro2::TokenStream;
use syn::parse_quote;

use super::expand_tokens;

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("these are tokens")
}

/// What the attribute writes, as a file; and how many errors there are among it.
#[track_caller]
fn expand(options: &str, block: &str) -> (String, usize) {
    let written = expand_tokens(tokens(options), tokens(block), parse_quote!(::raddle_chare));
    let file: syn::File = syn::parse2(written.clone()).expect("what it writes is code");
    let is_error = |item: &&syn::Item| match item {
        syn::Item::Macro(item) => {
            let path = &item.mac.path;
            path.segments
                .last()
                .is_some_and(|last| last.ident == "compile_error")
        }
        _ => false,
    };
    let count = file.items.iter().filter(is_error).count();
    (written.to_string(), count)
}

/// Expects one error, and a proxy with a method of this name.
#[track_caller]
fn expect_method(name: &str, options: &str, function: &str) {
    let block = format!("impl Cell {{ {function} #[entry] fn other(&mut self) {{}} }}");
    let (written, errors) = expand(options, &block);
    assert_eq!(errors, 1, "{function}: {written}");
    for part in [
        "pub struct CellProxy",
        "pub struct CellAll",
        ":: Chare for Cell",
        ":: CrossesNodes for Cell",
        "fn other",
        &format!("fn {name}"),
    ] {
        assert!(written.contains(part), "{function}: {part} in {written}");
    }
    assert!(!written.contains("# [entry"), "{written}");
    assert!(!written.contains("# [message"), "{written}");
}

#[test]
fn proxies_have_the_functions_that_are_refused() {
    for function in [
        "#[entry] fn hear(word: u32) {}",
        "#[entry] fn hear(self, word: u32) {}",
        "#[entry] fn hear<T: Send>(&mut self, word: T) {}",
        "#[entry] fn hear(&mut self, word: &str) -> &str { word }",
        "#[entry] fn hear(&mut self, word: impl Display) {}",
        "#[entry] unsafe fn hear(&mut self) {}",
        "#[entry] fn hear(&mut self, word: u32, cx: &mut Cx<Self>) {}",
        "#[entry(urgent)] fn hear(&mut self) {}",
        "#[entry] fn hear(&mut self);",
        "#[message] fn hear(word: String) {}",
        "#[message] fn hear(&mut self, word: String);",
        "#[message] fn hear(word: &str);",
        "#[message] async fn hear(word: String);",
        "#[message = \"word\"] fn hear(word: String);",
    ] {
        expect_method("hear", "", function);
    }
}

#[test]
fn options_that_are_wrong_leave_the_rest_as_it_is() {
    expect_method("hear", "node", "#[entry] fn hear(&mut self) {}");
    expect_method("hear", "state, nods", "#[entry] fn hear(&mut self) {}");
    expect_method(
        "hear",
        "nodes",
        "#[cfg(test)] #[entry] fn hear(&mut self) {}",
    );
    let (written, errors) = expand("indx = [usize; 2]", "impl Cell {}");
    assert_eq!(errors, 1);
    assert!(written.contains("type Index = [usize ; 2]"), "{written}");
}

#[test]
fn each_error_is_told() {
    let block =
        "impl Cell { #[entry] fn one(); #[entry] fn two(word: u32) {} #[message] fn three() {} }";
    let (written, errors) = expand("node", block);
    assert_eq!(errors, 4, "{written}");
}

#[test]
fn a_kind_of_message_that_is_wrong_can_be_waited_for() {
    let (written, _) = expand("", "impl Cell { #[message] fn word(text: String) {} }");
    assert!(written.contains("const word : word_message"), "{written}");
}

#[test]
fn a_block_that_borrows_has_proxies_without_lifetimes() {
    let block =
        "impl<'text, T: Send> Reader<'text, T> { #[entry] fn read(&self, from: Text<'text>) {} }";
    let (written, errors) = expand("", block);
    assert_eq!(errors, 1);
    assert!(
        written.contains("pub struct ReaderProxy < T : Send >"),
        "{written}"
    );
    assert!(
        written.contains("Chare for Reader < 'static , T >"),
        "{written}"
    );
    assert!(
        written.contains("impl < 'text , T : Send > Reader < 'text , T >"),
        "{written}"
    );
}

#[test]
fn what_is_no_block_of_a_type_stays() {
    let (written, errors) = expand("", "struct Cell;");
    assert_eq!(
        (written.ends_with("struct Cell ;"), errors),
        (true, 1),
        "{written}"
    );
    let (written, errors) = expand("", "impl (u32, u32) { #[entry] fn hear(&self) {} }");
    assert_eq!(errors, 1);
    assert!(
        written.contains("fn hear") && !written.contains("entry"),
        "{written}"
    );
    let (written, errors) = expand("nodes", "impl Cell { fn }");
    assert_eq!(errors, 1, "{written}");
    let (written, errors) = expand("", "impl Hear for Cell { #[entry] fn hear(&mut self) {} }");
    assert_eq!(errors, 1);
    assert!(
        written.contains("impl Hear for Cell") && written.contains("CellProxy"),
        "{written}"
    );
}
