//! What stands in the parentheses of `#[chare(…)]`.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Path, Type, parse_quote};

/// What stands in the parentheses of `#[chare(…)]`.
#[derive(Debug)]
pub(crate) struct Options {
    /// Where `raddle-chare` is.
    pub(crate) library: Path,
    /// What elements of arrays are called.
    pub(crate) index: Type,
    /// Messages cross nodes.
    pub(crate) nodes: bool,
    /// Values are written to disk, and to other nodes.
    pub(crate) state: bool,
}

impl Options {
    /// Reads options up to one that is wrong, and says what is wrong with it; the defaults are an
    /// array of one dimension, and `library`.
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
            // What has a type for a value is `index`, misspelt: the rest of the program relies on
            // it.
            if let Ok(Ok(index)) = meta.value().map(|value| value.parse()) {
                self.index = index;
            }
            return Err(error);
        }
        Ok(())
    }
}
