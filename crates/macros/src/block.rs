//! Reading an `impl` block: which of its functions are entries, and which are kinds of messages.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, ImplItem, ImplItemFn, ItemImpl, Meta, Pat, ReturnType, Signature,
    Token, Type, Visibility,
};

/// An `impl` block with what it says of messages.
#[derive(Debug)]
pub(crate) struct Block {
    /// The block as the compiler shall see it.
    pub(crate) plain: ItemImpl,
    pub(crate) name: Ident,
    pub(crate) entries: Vec<Entry>,
    pub(crate) messages: Vec<Message>,
}

/// A function marked `#[entry]`.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) function: Function,
    pub(crate) is_async: bool,
    /// It has a parameter `cx`.
    pub(crate) takes_cx: bool,
    /// What it replies, if it says so.
    pub(crate) output: Option<TokenStream>,
}

/// A function without a body, marked `#[message]`.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) function: Function,
}

/// What both have.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) documentation: Vec<Attribute>,
    /// Its `#[cfg]`s, which hold for all that is written of it too.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<Argument>,
}

#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) of: TokenStream,
}

impl Block {
    /// Entries whose messages cross nodes are known there by their place among all, which must not depend on conditions.
    pub(crate) fn check_doors(&self) -> syn::Result<()> {
        let entries = self.entries.iter().map(|entry| &entry.function);
        let messages = self.messages.iter().map(|message| &message.function);
        match entries
            .chain(messages)
            .find(|function| !function.conditions.is_empty())
        {
            Some(function) => Err(Error::new(
                function.name.span(),
                "an entry of a chare whose messages cross nodes has no `#[cfg]`: all nodes have the same entries",
            )),
            None => Ok(()),
        }
    }

    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let mut plain: ItemImpl = syn::parse2(tokens)?;
        if let Some((_, of, _)) = &plain.trait_ {
            let what = "`#[chare]` belongs on the type's own `impl` block, not on that of a trait";
            return Err(Error::new(of.span(), what));
        }
        if let Some(lifetime) = plain.generics.lifetimes().next() {
            let what = "a chare outlives whatever it could borrow: no lifetimes here; share what is read with an `Arc`";
            return Err(Error::new(lifetime.span(), what));
        }
        let name = name_of(&plain.self_ty)?;
        let self_type = plain.self_ty.to_token_stream();
        let (mut entries, mut messages, mut items) = (Vec::new(), Vec::new(), Vec::new());
        for item in std::mem::take(&mut plain.items) {
            match item {
                ImplItem::Fn(mut function) => {
                    if let Some(mark) = take_mark(&mut function.attrs, "message")? {
                        let what = "a kind of message has no body: it is waited for; end it with `;`, or make it an `#[entry]`";
                        return Err(Error::new(mark, what));
                    }
                    if take_mark(&mut function.attrs, "entry")?.is_some() {
                        entries.push(Entry::read(&function, &self_type)?);
                    }
                    items.push(ImplItem::Fn(function));
                }
                ImplItem::Verbatim(tokens) => {
                    messages.push(Message::read(syn::parse2(tokens)?, &self_type)?);
                }
                other => items.push(other),
            }
        }
        plain.items = items;
        Ok(Self {
            plain,
            name,
            entries,
            messages,
        })
    }
}

impl Entry {
    fn read(function: &ImplItemFn, self_type: &TokenStream) -> syn::Result<Self> {
        let signature = &function.sig;
        let mut inputs = signature.inputs.iter().peekable();
        match inputs.next() {
            Some(FnArg::Receiver(receiver))
                if receiver.reference.is_some() && receiver.colon_token.is_none() => {}
            other => {
                let span = other.map_or(signature.ident.span(), Spanned::span);
                return Err(Error::new(
                    span,
                    "an entry begins with `&mut self` or `&self`",
                ));
            }
        }
        let takes_cx = inputs.next_if(|input| is_cx(input)).is_some();
        check(signature)?;
        let output = match &signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, of) => {
                check_type(of, "a reply")?;
                Some(without_self(of.to_token_stream(), self_type))
            }
        };
        Ok(Self {
            is_async: signature.asyncness.is_some(),
            takes_cx,
            output,
            function: Function {
                documentation: named("doc", &function.attrs),
                conditions: named("cfg", &function.attrs),
                visibility: function.vis.clone(),
                name: signature.ident.clone(),
                arguments: arguments(inputs, self_type)?,
            },
        })
    }
}

/// A function that ends where its body would begin.
struct Bodiless {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
}

impl Parse for Bodiless {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let bodiless = Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
        };
        input.parse::<Token![;]>()?;
        Ok(bodiless)
    }
}

impl Message {
    fn read(mut function: Bodiless, self_type: &TokenStream) -> syn::Result<Self> {
        let signature = &function.signature;
        if take_mark(&mut function.attributes, "message")?.is_none() {
            let what = "a function without a body; if it is a kind of message to be waited for, mark it `#[message]`";
            return Err(Error::new(signature.span(), what));
        }
        if let Some(receiver) = signature.receiver() {
            let what = "a kind of message has no `self`: its parameters are what it carries";
            return Err(Error::new(receiver.span(), what));
        }
        if signature.asyncness.is_some() || !matches!(signature.output, ReturnType::Default) {
            let what = "a kind of message is neither `async` nor does it reply";
            return Err(Error::new(signature.span(), what));
        }
        if let Some(cx) = signature.inputs.iter().find(|input| is_cx(input)) {
            let what = "a kind of message has no `cx`: its parameters are what it carries";
            return Err(Error::new(cx.span(), what));
        }
        check(signature)?;
        Ok(Self {
            function: Function {
                arguments: arguments(signature.inputs.iter(), self_type)?,
                documentation: named("doc", &function.attributes),
                conditions: named("cfg", &function.attributes),
                visibility: function.visibility,
                name: signature.ident.clone(),
            },
        })
    }
}

impl Function {
    /// The name of the type that stands for it.
    pub(crate) fn kind(&self, what: &str) -> Ident {
        format_ident!("{}_{what}", self.name)
    }

    pub(crate) fn types(&self) -> Vec<&TokenStream> {
        self.arguments.iter().map(|argument| &argument.of).collect()
    }

    pub(crate) fn names(&self) -> Vec<&Ident> {
        self.arguments
            .iter()
            .map(|argument| &argument.name)
            .collect()
    }
}

/// What no message can carry.
fn check(signature: &Signature) -> syn::Result<()> {
    if signature.ident == "with_priority" {
        let what = "each proxy has a method `with_priority` of its own: use another name";
        return Err(Error::new(signature.ident.span(), what));
    }
    if let Some(parameter) = signature.generics.params.first() {
        let what = "what a message carries has one type: no type parameters or lifetimes here";
        return Err(Error::new(parameter.span(), what));
    }
    if let Some(unsafety) = &signature.unsafety {
        let what = "who sends a message promises nothing: it cannot be `unsafe`";
        return Err(Error::new(unsafety.span(), what));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new(
            variadic.span(),
            "expected parameters with types",
        ));
    }
    Ok(())
}

fn arguments<'a>(
    inputs: impl Iterator<Item = &'a FnArg>,
    self_type: &TokenStream,
) -> syn::Result<Vec<Argument>> {
    inputs
        .enumerate()
        .map(|(place, input)| {
            let FnArg::Typed(typed) = input else {
                return Err(Error::new(input.span(), "expected a parameter"));
            };
            if is_cx(input) {
                let what = "the parameter `cx: &mut Cx<Self>` comes right after `self`";
                return Err(Error::new(input.span(), what));
            }
            check_type(&typed.ty, "a message")?;
            let name = match &*typed.pat {
                Pat::Ident(name) => name.ident.clone(),
                _ => format_ident!("argument_{place}", span = Span::mixed_site()),
            };
            Ok(Argument {
                name,
                of: without_self(typed.ty.to_token_stream(), self_type),
            })
        })
        .collect()
}

/// A type that `what` cannot have.
fn check_type(of: &Type, what: &str) -> syn::Result<()> {
    match of {
        Type::Reference(reference)
            if reference
                .lifetime
                .as_ref()
                .is_none_or(|lifetime| lifetime.ident != "static") =>
        {
            let what = format!(
                "{what} outlives what it is sent from: send a value, an `Arc` of shared data, or a `&'static`"
            );
            Err(Error::new(reference.span(), what))
        }
        Type::ImplTrait(some) => {
            let what = format!("what {what} carries has one type, with a name: no `impl` here");
            Err(Error::new(some.span(), what))
        }
        _ => Ok(()),
    }
}

/// True for a parameter `&mut Cx<…>`.
fn is_cx(input: &FnArg) -> bool {
    let FnArg::Typed(typed) = input else {
        return false;
    };
    let Type::Reference(reference) = &*typed.ty else {
        return false;
    };
    let Type::Path(path) = &*reference.elem else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "Cx")
}

/// Takes the attribute `name` away, and says where it was.
fn take_mark(attributes: &mut Vec<Attribute>, name: &str) -> syn::Result<Option<Span>> {
    let is_it = |attribute: &Attribute| attribute.path().is_ident(name);
    let Some(at) = attributes.iter().position(is_it) else {
        return Ok(None);
    };
    let mark = attributes.remove(at);
    match &mark.meta {
        Meta::Path(_) => Ok(Some(mark.span())),
        _ => Err(Error::new(
            mark.span(),
            format!("`#[{name}]` has no options"),
        )),
    }
}

fn named(name: &str, attributes: &[Attribute]) -> Vec<Attribute> {
    let is_it = |attribute: &&Attribute| attribute.path().is_ident(name);
    attributes.iter().filter(is_it).cloned().collect()
}

/// The last word of a type's path.
fn name_of(of: &Type) -> syn::Result<Ident> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.clone()),
        _ => None,
    }
    .ok_or_else(|| Error::new(of.span(), "expected the name of a type of one's own"))
}

/// Puts the type in place of `Self`, which means something else where the tokens go.
fn without_self(tokens: TokenStream, self_type: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(word) if word == "Self" => self_type.clone(),
        TokenTree::Group(group) => {
            let inside = without_self(group.stream(), self_type);
            let mut with = Group::new(group.delimiter(), inside);
            with.set_span(group.span());
            TokenTree::Group(with).into()
        }
        other => quote!(#other),
    });
    replaced.collect()
}

#[cfg(test)]
mod tests;
