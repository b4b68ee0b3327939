//! The options in the parentheses of `#[chare(…)]`.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Path, Type, parse_quote};

/// The options in the parentheses of `#[chare(…)]`.
#[derive(Debug)]
pub(crate) struct Options {
    /// The path of the library `raddle-chare`.
    pub(crate) library: Path,
    /// The index type of array elements.
    pub(crate) index: Type,
    /// True if messages can cross nodes, so that arguments and replies are serialised.
    pub(crate) nodes: bool,
    /// True if values can be serialised, to be written to disk or sent to other nodes.
    pub(crate) state: bool,
}

impl Options {
    /// Reads the options, up to the first invalid one, and returns them with its error.
    ///
    /// The defaults are a one-dimensional index and the path `library`.
    pub(crate) fn parse(tokens: TokenStream, library: Path) -> (Self, Option<syn::Error>) {
        let mut options = Self {
            library,
            index: parse_quote!(usize),
            nodes: false,
            state: false,
        };
        let parsed = syn::meta::parser(|meta| options.take(&meta)).parse2(tokens);
        (options, parsed.err())
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("index") {
            self.index = meta.value()?.parse()?;
        } else if meta.path.is_ident("nodes") {
            self.nodes = true;
        } else if meta.path.is_ident("state") {
            self.state = true;
        } else if meta.path.is_ident("crate") {
            self.library = meta.value()?.call(Path::parse_mod_style)?;
        } else {
            let error = meta.error("expected `index = TYPE`, `nodes`, `state` or `crate = PATH`");
            // An unknown option with a type as its value is probably a misspelt `index`. Use the
            // type, because the rest of the program relies on it and would cause further errors.
            if let Ok(Ok(index)) = meta.value().map(|value| value.parse()) {
                self.index = index;
            }
            return Err(error);
        }
        Ok(())
    }
}
