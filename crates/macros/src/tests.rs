//! If a block has errors, the attribute reports only those. It generates all items that other code
//! relies on.

use proc_macro2::TokenStream;
use syn::parse_quote;

use super::expand_tokens;

fn tokens(text: &str) -> TokenStream {
    text.parse().expect("these are tokens")
}

/// Returns the code that the attribute generates, and the number of errors in it.
#[track_caller]
fn expand(options: &str, block: &str) -> (String, usize) {
    let written = expand_tokens(tokens(options), tokens(block), parse_quote!(::raddle_chare));
    let file: syn::File = syn::parse2(written.clone()).expect("it generates valid code");
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

/// Checks that there is one error, and that the proxies have a method with this name.
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
fn proxies_have_methods_for_functions_with_errors() {
    for function in [
        "#[entry] fn receive(word: u32) {}",
        "#[entry] fn receive(self, word: u32) {}",
        "#[entry] fn receive<T: Send>(&mut self, word: T) {}",
        "#[entry] fn receive(&mut self, word: &str) -> &str { word }",
        "#[entry] fn receive(&mut self, word: impl Display) {}",
        "#[entry] unsafe fn receive(&mut self) {}",
        "#[entry] fn receive(&mut self, word: u32, cx: &mut Cx<Self>) {}",
        "#[entry(urgent)] fn receive(&mut self) {}",
        "#[entry] fn receive(&mut self);",
        "#[message] fn receive(word: String) {}",
        "#[message] fn receive(&mut self, word: String);",
        "#[message] fn receive(word: &str);",
        "#[message] async fn receive(word: String);",
        "#[message = \"word\"] fn receive(word: String);",
    ] {
        expect_method("receive", "", function);
    }
}

#[test]
fn a_wrong_option_does_not_affect_the_rest() {
    expect_method("receive", "node", "#[entry] fn receive(&mut self) {}");
    expect_method(
        "receive",
        "state, nods",
        "#[entry] fn receive(&mut self) {}",
    );
    expect_method(
        "receive",
        "nodes",
        "#[cfg(test)] #[entry] fn receive(&mut self) {}",
    );
    let (written, errors) = expand("indx = [usize; 2]", "impl Cell {}");
    assert_eq!(errors, 1);
    assert!(written.contains("type Index = [usize ; 2]"), "{written}");
}

#[test]
fn each_error_is_reported() {
    let block =
        "impl Cell { #[entry] fn one(); #[entry] fn two(word: u32) {} #[message] fn three() {} }";
    let (written, errors) = expand("node", block);
    assert_eq!(errors, 4, "{written}");
}

#[test]
fn entries_can_wait_for_a_kind_of_message_with_an_error() {
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
fn an_item_that_is_not_a_block_of_a_type_is_unchanged() {
    let (written, errors) = expand("", "struct Cell;");
    assert_eq!(
        (written.ends_with("struct Cell ;"), errors),
        (true, 1),
        "{written}"
    );
    let (written, errors) = expand("", "impl (u32, u32) { #[entry] fn receive(&self) {} }");
    assert_eq!(errors, 1);
    assert!(
        written.contains("fn receive") && !written.contains("entry"),
        "{written}"
    );
    let (written, errors) = expand("nodes", "impl Cell { fn }");
    assert_eq!(errors, 1, "{written}");
    let (written, errors) = expand(
        "",
        "impl Receive for Cell { #[entry] fn receive(&mut self) {} }",
    );
    assert_eq!(errors, 1);
    assert!(
        written.contains("impl Receive for Cell") && written.contains("CellProxy"),
        "{written}"
    );
}
