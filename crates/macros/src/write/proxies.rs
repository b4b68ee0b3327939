//! Writing the proxies of a chare, and its inbox.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use super::{Writer, content, phantom};

impl Writer<'_> {
    /// The proxies, by which the type's module knows them.
    pub(super) fn proxies(&self) -> TokenStream {
        let (library, of) = (&self.options.library, &self.block.self_type);
        let (one, all) = (&self.one, &self.all);
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let one_documentation = format!("The address of one [`{}`].", self.block.name);
        let all_documentation = format!(
            "The address of all [`{}`] of an array, or of a section.",
            self.block.name
        );
        let one_proxy = self.proxy(one, &quote!(One), &one_documentation);
        let all_proxy = self.proxy(all, &quote!(All), &all_documentation);
        quote! {
            #one_proxy
            #all_proxy

            impl #parameters ::core::convert::From<#one #names> for #library::One<#of> #bounds {
                fn from(proxy: #one #names) -> Self {
                    proxy.0
                }
            }
        }
    }

    /// A proxy: `inner` with the type's own methods, which are written elsewhere.
    fn proxy(&self, name: &Ident, inner: &TokenStream, documentation: &str) -> TokenStream {
        let (library, of) = (&self.options.library, &self.block.self_type);
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let mut with_lifetime = self.generics().clone();
        with_lifetime.params.insert(0, syn::parse_quote!('raddle));
        let (of_raddle, ..) = with_lifetime.split_for_impl();
        quote! {
            #[doc = #documentation]
            #[allow(unreachable_pub, private_interfaces, reason = "written by an attribute")]
            pub struct #name #parameters (#library::#inner<#of>) #bounds;

            impl #parameters ::core::clone::Clone for #name #names #bounds {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl #parameters ::core::marker::Copy for #name #names #bounds {}

            impl #parameters ::core::fmt::Debug for #name #names #bounds {
                fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Debug::fmt(&self.0, formatter)
                }
            }

            impl #parameters ::core::cmp::PartialEq for #name #names #bounds {
                fn eq(&self, other: &Self) -> bool {
                    self.0 == other.0
                }
            }

            impl #parameters ::core::cmp::Eq for #name #names #bounds {}

            impl #parameters ::core::hash::Hash for #name #names #bounds {
                fn hash<RaddleHasher: ::core::hash::Hasher>(&self, hasher: &mut RaddleHasher) {
                    ::core::hash::Hash::hash(&self.0, hasher);
                }
            }

            impl #parameters #library::serde::Serialize for #name #names #bounds {
                fn serialize<RaddleSerializer: #library::serde::Serializer>(
                    &self,
                    serializer: RaddleSerializer,
                ) -> ::core::result::Result<RaddleSerializer::Ok, RaddleSerializer::Error> {
                    #library::serde::Serialize::serialize(&self.0, serializer)
                }
            }

            impl #of_raddle #library::serde::Deserialize<'raddle> for #name #names #bounds {
                fn deserialize<RaddleDeserializer: #library::serde::Deserializer<'raddle>>(
                    deserializer: RaddleDeserializer,
                ) -> ::core::result::Result<Self, RaddleDeserializer::Error> {
                    #library::serde::Deserialize::deserialize(deserializer).map(Self)
                }
            }

            impl #parameters ::core::convert::From<#library::#inner<#of>> for #name #names #bounds {
                fn from(address: #library::#inner<#of>) -> Self {
                    Self(address)
                }
            }
        }
    }

    /// Where messages wait that asynchronous entries receive.
    pub(super) fn inbox(&self) -> TokenStream {
        let (library, inbox) = (&self.options.library, &self.inbox);
        let (parameters, names, bounds) = self.generics().split_for_impl();
        let queues = self.block.messages.iter().map(|message| {
            let function = &message.function;
            let (name, conditions, content) =
                (&function.name, &function.conditions, content(function));
            quote!(#(#conditions)* #name: #library::Queue<#content>)
        });
        let fields = self.block.messages.iter().map(|message| {
            let (name, conditions) = (&message.function.name, &message.function.conditions);
            quote!(#(#conditions)* #name: ::core::default::Default::default())
        });
        let given_up = self.block.messages.iter().map(|message| {
            let (name, conditions) = (&message.function.name, &message.function.conditions);
            let label = name.unraw().to_string();
            quote!(#(#conditions)* lost.take(#label, &mut self.#name);)
        });
        let waiting = self.block.messages.iter().map(|message| {
            let (name, conditions) = (&message.function.name, &message.function.conditions);
            let label = name.unraw().to_string();
            quote! {
                #(#conditions)*
                if !self.#name.is_empty() {
                    return ::core::option::Option::Some(#label);
                }
            }
        });
        let phantom = phantom(self.generics());
        quote! {
            /// Messages that asynchronous entries wait for.
            #[doc(hidden)]
            #[allow(unreachable_pub, private_interfaces, missing_debug_implementations, reason = "written by an attribute")]
            pub struct #inbox #parameters #bounds {
                #(#queues,)*
                of: ::core::marker::PhantomData<#phantom>,
            }

            impl #parameters ::core::default::Default for #inbox #names #bounds {
                fn default() -> Self {
                    Self {
                        #(#fields,)*
                        of: ::core::marker::PhantomData,
                    }
                }
            }

            impl #parameters #library::Inbox for #inbox #names #bounds {
                fn waiting(&self) -> ::core::option::Option<&'static str> {
                    #(#waiting)*
                    ::core::option::Option::None
                }

                #[allow(unused_variables, reason = "there may be no kinds of messages")]
                fn give_up(&mut self, lost: &mut #library::Lost<'_>) {
                    #(#given_up)*
                }
            }
        }
    }
}
