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
    /// Reads options; the defaults are an array of one dimension, and `library`.
    pub(crate) fn parse(tokens: TokenStream, library: Path) -> syn::Result<Self> {
        let mut options = Self {
            library,
            index: parse_quote!(usize),
            nodes: false,
            state: false,
        };
        syn::meta::parser(|meta| options.take(&meta)).parse2(tokens)?;
        Ok(options)
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
            return Err(meta.error("expected `index = TYPE`, `nodes`, `state` or `crate = PATH`"));
        }
        Ok(())
    }
}
