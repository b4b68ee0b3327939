//! The attribute `#[chare]`: makes the values of a type message-driven objects.
//!
//! `block` parses the `impl` block and `write` generates the code beside it. The generated code
//! uses only the public interface of `raddle-chare`.
#![forbid(unsafe_code)]

mod block;
mod options;
mod write;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse_quote;

use block::Block;

#[doc = include_str!("chare.md")]
#[proc_macro_attribute]
pub fn chare(options: TokenStream, block: TokenStream) -> TokenStream {
    expand(options, block, parse_quote!(::raddle_chare))
}

// The same attribute for programs that use the library through `raddle`.
#[doc = include_str!("chare.md")]
#[proc_macro_attribute]
pub fn chare_of_raddle(options: TokenStream, block: TokenStream) -> TokenStream {
    expand(options, block, parse_quote!(::raddle::chare))
}

fn expand(options: TokenStream, block: TokenStream, library: syn::Path) -> TokenStream {
    expand_tokens(options.into(), block.into(), library).into()
}

/// Returns the expansion of a block.
///
/// If the block has errors, the expansion contains them and as much of the other code as possible.
/// Otherwise the compiler would also report each use of an item that was not generated.
fn expand_tokens(
    options: proc_macro2::TokenStream,
    block: proc_macro2::TokenStream,
    library: syn::Path,
) -> proc_macro2::TokenStream {
    let (mut options, unknown) = options::Options::parse(options, library);
    match Block::parse(block.clone()) {
        Ok(mut block) => {
            unknown
                .into_iter()
                .for_each(|error| block.errors.add(error));
            if options.nodes
                && let Err(error) = block.check_handler_ids()
            {
                block.errors.add(error);
                options.nodes = false;
            }
            write::write(&block, &options)
        }
        Err(mut error) => {
            unknown.into_iter().for_each(|other| error.combine(other));
            let errors = error.into_compile_error();
            // Any other item is kept unchanged. The marks are removed from an `impl` block.
            let item = match syn::parse2(block) {
                Ok(syn::Item::Impl(mut block)) => {
                    block::strip(&mut block);
                    Some(syn::Item::Impl(block))
                }
                Ok(item) => Some(item),
                Err(_) => None,
            };
            quote!(#errors #item)
        }
    }
}

#[cfg(test)]
mod tests;
