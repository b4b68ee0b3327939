//! The attribute `#[chare]`: makes the values of a type message-driven objects.
//!
//! `block` reads the `impl` block, `write` writes what is to stand beside it. What is written uses the public interface of
//! `raddle-chare` and no more.
#![forbid(unsafe_code)]

mod block;
mod options;
mod write;

use proc_macro::TokenStream;
use syn::parse_quote;

#[doc = include_str!("chare.md")]
#[proc_macro_attribute]
pub fn chare(options: TokenStream, block: TokenStream) -> TokenStream {
    expand(options, block, parse_quote!(::raddle_chare))
}

// The same for those who have the library through `raddle`.
#[doc = include_str!("chare.md")]
#[proc_macro_attribute]
pub fn chare_of_raddle(options: TokenStream, block: TokenStream) -> TokenStream {
    expand(options, block, parse_quote!(::raddle::chare))
}

fn expand(options: TokenStream, block: TokenStream, library: syn::Path) -> TokenStream {
    let expanded = options::Options::parse(options.into(), library)
        .and_then(|options| Ok((block::Block::parse(block.into())?, options)))
        .and_then(|(block, options)| {
            if options.nodes {
                block.check_doors()?;
            }
            Ok((block, options))
        });
    match expanded {
        Ok((block, options)) => write::write(&block, &options),
        Err(error) => error.into_compile_error(),
    }
    .into()
}
