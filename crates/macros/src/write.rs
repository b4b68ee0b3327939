//! Writing what stands beside the `impl` block: proxies with a method for each entry, and a type for each entry.

mod proxies;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Generics, Path};

use crate::block::{Block, Entry, Function, Message, Refused};
use crate::options::Options;

/// The block as it is, and what belongs to it.
pub(crate) fn write(block: &Block, options: &Options) -> TokenStream {
    let writer = Writer {
        block,
        options,
        one: format_ident!("{}Proxy", block.name),
        all: format_ident!("{}All", block.name),
        inbox: format_ident!("{}Inbox", block.name),
    };
    let (plain, chare) = (&block.plain, writer.chare());
    let (proxies, inbox) = (writer.proxies(), writer.inbox());
    let entries = (0..)
        .zip(&block.entries)
        .map(|(handler, entry)| entry.function.if_it_is(writer.entry(entry, handler)));
    let first = block.entries.len() as u16;
    let messages = (first..)
        .zip(&block.messages)
        .map(|(handler, message)| message.function.if_it_is(writer.message(message, handler)));
    let refused = block.refused.iter().map(|refused| writer.refused(refused));
    let errors = block.errors.to_compile_error();
    quote! {
        #errors
        #plain
        #proxies
        #inbox
        #[allow(
            non_camel_case_types, non_upper_case_globals, unreachable_pub, private_interfaces, missing_docs,
            missing_debug_implementations, dead_code, clippy::unused_unit, clippy::let_unit_value, clippy::too_many_arguments,
            reason = "written by an attribute"
        )]
        const _: () = {
            #chare
            #(#entries)*
            #(#messages)*
            #(#refused)*
        };
    }
}

struct Writer<'a> {
    block: &'a Block,
    options: &'a Options,
    one: Ident,
    all: Ident,
    inbox: Ident,
}

impl Writer<'_> {
    fn generics(&self) -> &Generics {
        &self.block.generics
    }

    fn chare(&self) -> TokenStream {
        let (library, index, of) = (
            &self.options.library,
            &self.options.index,
            &self.block.self_type,
        );
        let (one, all, inbox) = (&self.one, &self.all, &self.inbox);
        let name = self.block.name.to_string();
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let handlers = self.handlers();
        // Where something is wrong, it is not that messages do not cross.
        let crosses = (self.options.nodes || !self.block.errors.is_empty())
            .then(|| quote!(impl #parameters #library::CrossesNodes for #of #bounds {}));
        let state = self.options.state.then(|| {
            quote! {
                const STATE: ::core::option::Option<#library::nodes::Crossing<Self>> =
                    ::core::option::Option::Some(#library::nodes::Crossing::new());
            }
        });
        quote! {
            impl #parameters #library::Chare for #of #bounds {
                const NAME: &'static str = #name;
                #handlers
                #state
                type Index = #index;
                type Inbox = #inbox #names;
                type One = #one #names;
                type All = #all #names;
            }

            #crosses

            impl #parameters #one #names #bounds {
                /// The same address, with messages of another priority: smaller ones are more urgent, the default is 0.
                #[must_use]
                pub fn with_priority(self, priority: i32) -> Self {
                    Self(self.0.with_priority(priority))
                }
            }

            impl #parameters #all #names #bounds {
                /// The same address, with messages that are more urgent than others: smaller priorities are more urgent, the default is 0.
                ///
                /// # Panics
                /// When `priority` is positive.
                #[must_use]
                #[track_caller]
                pub fn with_priority(self, priority: i32) -> Self {
                    Self(self.0.with_priority(priority))
                }
            }
        }
    }

    /// By which messages of other nodes come in, entries first.
    fn handlers(&self) -> Option<TokenStream> {
        if !self.options.nodes {
            return None;
        }
        let library = &self.options.library;
        let (_, names, _) = self.generics().split_for_impl();
        let names = names.as_turbofish();
        let entries = self.block.entries.iter().map(|entry| {
            let marker = entry.function.kind("entry");
            let open = if entry.is_async {
                quote!(start)
            } else {
                quote!(entry)
            };
            quote!(#library::nodes::Handler::#open::<#marker #names>())
        });
        let messages = self.block.messages.iter().map(|message| {
            let marker = message.function.kind("message");
            quote!(#library::nodes::Handler::message::<#marker #names>())
        });
        Some(quote! {
            const HANDLERS: &'static [#library::nodes::Handler<Self>] = &[#(#entries,)* #(#messages,)*];
        })
    }

    /// How messages that carry this cross nodes: each part in the best way of its type, which is known where that stands written.
    fn across(
        &self,
        handler: u16,
        carried: &Carried<'_>,
        output: &TokenStream,
    ) -> Option<TokenStream> {
        let library = &self.options.library;
        let all = &carried.all;
        self.options.nodes.then(|| {
            let crossing = carried.crossing(library);
            let output_crossing = whole(library, output);
            quote! {
                const ACROSS: ::core::option::Option<#library::nodes::Across<#all, #output>> = {
                    use #library::nodes::BySerde as _;
                    ::core::option::Option::Some(#library::nodes::Across::new(
                        #handler,
                        #crossing,
                        #output_crossing,
                    ))
                };
            }
        })
    }

    fn entry(&self, entry: &Entry, handler: u16) -> TokenStream {
        let (library, of) = (&self.options.library, &self.block.self_type);
        let (one, all) = (&self.one, &self.all);
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let Function {
            documentation,
            visibility,
            name,
            ..
        } = &entry.function;
        let (arguments, types) = (entry.function.names(), entry.function.types());
        let args = tuple(name, &types);
        let marker = entry.function.kind("entry");
        let phantom = phantom(self.generics());
        let label = name.unraw().to_string();
        // Not the names that arguments may have: these stand beside them.
        let [me, cx] = ["me", "cx"].map(|name| Ident::new(name, Span::mixed_site()));
        let passed_cx = entry.takes_cx.then(|| quote!(#cx,));
        let unit = quote!(());
        let output = entry.output.as_ref().unwrap_or(&unit);
        let carried = Carried {
            all: args.clone(),
            parts: Some(&types),
        };
        let across = self.across(handler, &carried, output);
        let (of_trait, call) = if entry.is_async {
            let call = quote! {
                #[allow(clippy::manual_async_fn, reason = "written by an attribute")]
                fn call<'a>(
                    #me: &'a mut #of,
                    #cx: &'a mut #library::Cx<#of>,
                    (#(#arguments,)*): #args,
                ) -> impl ::core::future::Future<Output = #output> + ::core::marker::Send + 'a {
                    let _ = &#cx;
                    async move { <#of>::#name(#me, #passed_cx #(#arguments),*).await }
                }
            };
            (quote!(AsyncEntry), call)
        } else {
            let call = quote! {
                #[inline]
                fn call(#me: &mut #of, #cx: &mut #library::Cx<#of>, (#(#arguments,)*): #args) -> #output {
                    let _ = &#cx;
                    <#of>::#name(#me, #passed_cx #(#arguments),*)
                }
            };
            (quote!(Entry), call)
        };
        let (send, ask) = if entry.is_async {
            ("start", "ask_start")
        } else {
            ("send", "ask")
        };
        let (send, ask) = (format_ident!("{send}"), format_ident!("{ask}"));
        let (method, reply) = match &entry.output {
            Some(output) => (&ask, quote!(-> #library::Reply<#output>)),
            None => (&send, quote!()),
        };
        quote! {
            struct #marker #parameters (::core::marker::PhantomData<#phantom>) #bounds;

            impl #parameters #library::Method for #marker #names #bounds {
                type Chare = #of;
                type Args = #args;
                type Output = #output;
                const NAME: &'static str = #label;
                #across
            }

            impl #parameters #library::#of_trait for #marker #names #bounds {
                #call
            }

            impl #parameters #one #names #bounds {
                #(#documentation)*
                #[inline]
                #visibility fn #name(&self, #(#arguments: #types),*) #reply {
                    self.0.#method::<#marker #names>((#(#arguments,)*))
                }
            }

            impl #parameters #all #names #bounds {
                #(#documentation)*
                #visibility fn #name(&self, #(#arguments: #types),*)
                where
                    for<'raddle> (#(#types,)*): ::core::clone::Clone,
                {
                    self.0.#send::<#marker #names>((#(#arguments,)*))
                }
            }
        }
    }

    /// Methods of the proxies for a function that is wrong.
    fn refused(&self, refused: &Refused) -> Option<TokenStream> {
        let library = &self.options.library;
        let Refused {
            conditions,
            visibility,
            name,
            generics,
            inputs,
            output,
        } = refused;
        // Each proxy has this one.
        if name == "with_priority" {
            return None;
        }
        let (own_parameters, _, own_bounds) = generics.split_for_impl();
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let method = |proxy: &Ident, reply: Option<TokenStream>| {
            quote! {
                impl #parameters #proxy #names #bounds {
                    #(#conditions)*
                    #[allow(unused_variables, reason = "written by an attribute")]
                    #visibility fn #name #own_parameters (&self, #(#inputs),*) #reply #own_bounds {
                        ::core::panic!("the attribute has refused this function")
                    }
                }
            }
        };
        let reply = output
            .as_ref()
            .map(|output| quote!(-> #library::Reply<#output>));
        let (one, all) = (method(&self.one, reply), method(&self.all, None));
        Some(quote!(#one #all))
    }

    fn message(&self, message: &Message, handler: u16) -> TokenStream {
        let (library, of) = (&self.options.library, &self.block.self_type);
        let (one, all) = (&self.one, &self.all);
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let Function {
            documentation,
            visibility,
            name,
            ..
        } = &message.function;
        let (arguments, types) = (message.function.names(), message.function.types());
        let marker = message.function.kind("message");
        let phantom = phantom(self.generics());
        let content = content(&message.function);
        let carried = Carried {
            all: content.clone(),
            parts: (types.len() != 1).then_some(&types),
        };
        let label = name.unraw().to_string();
        let across = self.across(handler, &carried, &quote!(()));
        let value = match arguments.as_slice() {
            [argument] => quote!(#argument),
            arguments => quote!((#(#arguments),*)),
        };
        quote! {
            #[doc(hidden)]
            #[allow(missing_debug_implementations, reason = "written by an attribute")]
            #visibility struct #marker #parameters (::core::marker::PhantomData<#phantom>) #bounds;

            impl #parameters #library::Method for #marker #names #bounds {
                type Chare = #of;
                type Args = #content;
                type Output = ();
                const NAME: &'static str = #label;
                #across
            }

            impl #parameters #library::Message for #marker #names #bounds {
                fn queue(
                    inbox: &mut <#of as #library::Chare>::Inbox,
                ) -> &mut #library::Queue<#content> {
                    &mut inbox.#name
                }
            }

            impl #parameters #of #bounds {
                #(#documentation)*
                #visibility const #name: #marker #names = #marker(::core::marker::PhantomData);
            }

            impl #parameters #one #names #bounds {
                #(#documentation)*
                #visibility fn #name(&self, #(#arguments: #types),*) {
                    self.0.file::<#marker #names>(#value)
                }
            }

            impl #parameters #all #names #bounds {
                #(#documentation)*
                #visibility fn #name(&self, #(#arguments: #types),*)
                where
                    for<'raddle> #content: ::core::clone::Clone,
                {
                    self.0.file::<#marker #names>(#value)
                }
            }
        }
    }
}

impl Function {
    /// What is written of it, where its conditions hold.
    fn if_it_is(&self, written: TokenStream) -> TokenStream {
        if self.conditions.is_empty() {
            return written;
        }
        let conditions = &self.conditions;
        quote! {
            #(#conditions)*
            const _: () = {
                #written
            };
        }
    }
}

/// What a message of a kind carries: its one argument, or a tuple of them.
fn content(function: &Function) -> TokenStream {
    match function.types().as_slice() {
        [of] => quote!(#of),
        types => tuple(&function.name, types),
    }
}

/// What a message carries: a tuple of parts, or, without these, one value.
struct Carried<'a> {
    all: TokenStream,
    parts: Option<&'a [&'a TokenStream]>,
}

impl Carried<'_> {
    /// How it is written and read.
    fn crossing(&self, library: &Path) -> TokenStream {
        let Some(types) = self.parts else {
            return whole(library, &self.all);
        };
        let part = |(index, of)| Ident::new(&format!("part_{index}"), span_of(of));
        let parts: Vec<_> = types.iter().copied().enumerate().map(part).collect();
        let writes = types.iter().zip(&parts);
        let writes =
            writes.map(|(of, part)| call_best(library, of, "write_best", &quote!(#part, to)));
        let reads = types.iter();
        let reads = reads.map(|of| call_best(library, of, "read_best", &quote!(from)));
        quote! {
            #library::nodes::Crossing::by(
                |(#(#parts,)*), to| {
                    let _ = &to;
                    #(#writes?;)*
                    ::core::result::Result::Ok(())
                },
                |from| {
                    let _ = &from;
                    ::core::result::Result::Ok((#(#reads?,)*))
                },
            )
        }
    }
}

/// Where the first word of a type stands. Errors about what is written there point to it.
fn span_of(of: &TokenStream) -> Span {
    let first = of.clone().into_iter().next();
    first.map_or_else(Span::call_site, |first| {
        Span::call_site().located_at(first.span())
    })
}

/// Calls a function of the best way of a type, which the compiler finds.
fn call_best(
    library: &Path,
    of: &TokenStream,
    function: &str,
    arguments: &TokenStream,
) -> TokenStream {
    let span = span_of(of);
    let function = Ident::new(function, span);
    quote_spanned!(span=> <#library::nodes::Crossing<#of>>::#function(#arguments))
}

/// How one value is written and read.
fn whole(library: &Path, of: &TokenStream) -> TokenStream {
    let value = Ident::new("value", span_of(of));
    let write = call_best(library, of, "write_best", &quote!(#value, to));
    let read = call_best(library, of, "read_best", &quote!(from));
    quote!(#library::nodes::Crossing::by(|#value, to| #write, |from| #read))
}

/// The tuple of arguments, which the compiler points to by the name of their function: there it says what cannot be sent.
fn tuple(of: &Ident, types: &[&TokenStream]) -> TokenStream {
    let mut tuple = Group::new(Delimiter::Parenthesis, quote!(#(#types,)*));
    tuple.set_span(of.span());
    quote!(#tuple)
}

/// A type that mentions all type parameters and has nothing of them.
fn phantom(generics: &Generics) -> TokenStream {
    let types = generics.type_params().map(|parameter| &parameter.ident);
    quote!(fn() -> (#(#types,)*))
}
