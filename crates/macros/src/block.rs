//! Parses an `impl` block: finds the functions that are entries and those that are kinds of
//! messages.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl, Meta, Pat,
    ReturnType, Signature, Token, Type, Visibility,
};

/// A parsed `impl` block.
#[derive(Debug)]
pub(crate) struct Block {
    /// The block without marks and kinds of messages, for the compiler.
    pub(crate) plain: ItemImpl,
    pub(crate) name: Ident,
    /// The type and its parameters. Lifetimes are replaced by `'static`.
    pub(crate) self_type: Type,
    pub(crate) generics: Generics,
    pub(crate) entries: Vec<Entry>,
    pub(crate) messages: Vec<Message>,
    /// The marked functions with errors. Proxies have methods with their names all the same, so
    /// that a call is not a further error.
    pub(crate) refused: Vec<Refused>,
    pub(crate) errors: Errors,
}

/// The errors of a block, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value of a result, or adds its error and returns `None`.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns code that makes the compiler report all errors.
    pub(crate) fn to_compile_error(&self) -> Option<TokenStream> {
        self.0.as_ref().map(Error::to_compile_error)
    }
}

/// A marked function that is not a valid entry or kind of message.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    /// The parameters of the proxy's method, without `self`.
    pub(crate) inputs: Vec<FnArg>,
    pub(crate) output: Option<TokenStream>,
}

/// A function marked `#[entry]`.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) function: Function,
    pub(crate) is_async: bool,
    /// True if the function has a parameter `cx`.
    pub(crate) takes_cx: bool,
    /// The type of the reply, if there is one.
    pub(crate) output: Option<TokenStream>,
}

/// A function without a body, marked `#[message]`.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) function: Function,
}

/// The parts that entries and kinds of messages have in common.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) documentation: Vec<Attribute>,
    /// The `#[cfg]` attributes, which also apply to the generated code.
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
    /// Checks that no entry or kind of message has a `#[cfg]`.
    ///
    /// If messages cross nodes, the handler id of an entry is its index among all. It must be the
    /// same on all nodes, so it must not depend on conditions.
    pub(crate) fn check_handler_ids(&self) -> syn::Result<()> {
        let entries = self.entries.iter().map(|entry| &entry.function);
        let messages = self.messages.iter().map(|message| &message.function);
        match entries
            .chain(messages)
            .find(|function| !function.conditions.is_empty())
        {
            Some(function) => Err(Error::new(
                function.name.span(),
                "an entry of a chare with the option `nodes` has no `#[cfg]`: \
                 all nodes have the same entries",
            )),
            None => Ok(()),
        }
    }

    /// Parses a block. The result contains the errors of its functions.
    ///
    /// The valid parts are parsed all the same. If items that other code uses were missing, the
    /// compiler would report further errors.
    ///
    /// # Errors
    /// If the tokens are not an `impl` block of a type with a name.
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let mut plain: ItemImpl = syn::parse2(tokens.clone())?;
        let name = name_of(&plain.self_ty)?;
        let mut errors = Errors::default();
        if let Some((_, of, _)) = &plain.trait_ {
            let what = "`#[chare]` belongs on the type's own `impl` block, not on that of a trait";
            errors.add(Error::new(of.span(), what));
        }
        let mut source = plain.clone();
        if let Some(lifetime) = plain.generics.lifetimes().next() {
            let what = "a chare cannot borrow, so lifetimes are not allowed here; \
                        share data that is only read with an `Arc`";
            errors.add(Error::new(lifetime.span(), what));
            source = syn::parse2(without_lifetimes(tokens))?;
            source.generics.params = type_parameters(&source.generics);
        }
        strip(&mut plain);
        let mut block = Self {
            plain,
            name,
            self_type: *source.self_ty,
            generics: source.generics,
            entries: Vec::new(),
            messages: Vec::new(),
            refused: Vec::new(),
            errors,
        };
        source.items.into_iter().for_each(|item| block.read(item));
        Ok(block)
    }

    /// Parses an item, which may be an entry or a kind of message.
    fn read(&mut self, item: ImplItem) {
        let self_type = self.self_type.to_token_stream();
        match item {
            ImplItem::Fn(mut function) => {
                let message = take_mark(&mut function.attrs, "message", &mut self.errors);
                let entry = take_mark(&mut function.attrs, "entry", &mut self.errors);
                let ImplItemFn {
                    attrs, vis, sig, ..
                } = &function;
                if let Some(mark) = message {
                    let what = "a kind of message has no body, since entries wait for it; \
                                end it with `;`, or make it an `#[entry]`";
                    self.errors.add(Error::new(mark, what));
                    let bodiless = Bodiless {
                        attributes: attrs.clone(),
                        visibility: vis.clone(),
                        signature: sig.clone(),
                    };
                    self.guess_message(bodiless, &self_type);
                } else if entry.is_some() {
                    match Entry::read(&function, &self_type) {
                        Ok(entry) => self.entries.push(entry),
                        Err(error) => {
                            self.errors.add(error);
                            self.refuse(attrs, vis, sig, &self_type);
                        }
                    }
                }
            }
            ImplItem::Verbatim(tokens) => {
                let Some(bodiless) = self.errors.keep(syn::parse2::<Bodiless>(tokens)) else {
                    return;
                };
                match Message::read(bodiless.clone(), &self_type, &mut self.errors) {
                    Ok(message) => self.messages.push(message),
                    Err(error) => {
                        self.errors.add(error);
                        self.guess_message(bodiless, &self_type);
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds a function with an error as the kind of message that was probably meant.
    ///
    /// If it cannot be one, it is refused.
    fn guess_message(&mut self, mut function: Bodiless, self_type: &TokenStream) {
        let attributes = &mut function.attributes;
        let is_entry = take_mark(attributes, "entry", &mut Errors::default()).is_some();
        let signature = &function.signature;
        let borrows_nothing = arguments(parameters(signature), self_type).ok();
        match borrows_nothing.filter(|_| !is_entry && check(signature).is_ok()) {
            Some(arguments) => self.messages.push(Message {
                function: Function::of(
                    &function.attributes,
                    &function.visibility,
                    signature,
                    arguments,
                ),
            }),
            None => {
                let Bodiless {
                    attributes,
                    visibility,
                    signature,
                } = &function;
                self.refuse(attributes, visibility, signature, self_type);
            }
        }
    }

    /// Adds a function with an error, so that proxies get a method with its name.
    fn refuse(
        &mut self,
        attributes: &[Attribute],
        visibility: &Visibility,
        signature: &Signature,
        self_type: &TokenStream,
    ) {
        let output = match &signature.output {
            ReturnType::Default => None,
            // The concrete type is not known.
            ReturnType::Type(_, of) if matches!(**of, Type::ImplTrait(_)) => Some(quote!(())),
            ReturnType::Type(_, of) => Some(without_self(of.to_token_stream(), self_type)),
        };
        let of_proxy =
            |input: &FnArg| syn::parse2(without_self(input.to_token_stream(), self_type)).ok();
        self.refused.push(Refused {
            conditions: named("cfg", attributes),
            visibility: visibility.clone(),
            name: signature.ident.clone(),
            generics: signature.generics.clone(),
            inputs: parameters(signature).filter_map(of_proxy).collect(),
            output,
        });
    }
}

/// Removes the parts that are not for the compiler: marks, and kinds of messages.
pub(crate) fn strip(block: &mut ItemImpl) {
    let has_mark = |function: &ImplItemFn, name: &str| {
        let mut attributes = function.attrs.iter();
        attributes.any(|attribute| attribute.path().is_ident(name))
    };
    block.items.retain_mut(|item| match item {
        ImplItem::Fn(function) if has_mark(function, "message") => false,
        ImplItem::Fn(function) => {
            let attributes = &mut function.attrs;
            attributes.retain(|attribute| !attribute.path().is_ident("entry"));
            true
        }
        ImplItem::Verbatim(_) => false,
        _ => true,
    });
}

/// Returns the generic parameters that are not lifetimes.
fn type_parameters(generics: &Generics) -> Punctuated<GenericParam, Token![,]> {
    let parameters = generics.params.iter();
    parameters
        .filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
        .cloned()
        .collect()
}

/// Replaces all lifetimes by `'static`.
fn without_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut after_quote = false;
    let replaced = tokens.into_iter().map(|token| {
        let is_lifetime = std::mem::take(&mut after_quote);
        match token {
            TokenTree::Ident(name) if is_lifetime => Ident::new("static", name.span()).into(),
            TokenTree::Punct(mark) => {
                after_quote = mark.as_char() == '\'';
                mark.into()
            }
            TokenTree::Group(group) => {
                let inside = without_lifetimes(group.stream());
                let mut with = Group::new(group.delimiter(), inside);
                with.set_span(group.span());
                with.into()
            }
            other => other,
        }
    });
    replaced.collect()
}

/// Returns the parameters except `self` and `cx`.
fn parameters(signature: &Signature) -> impl Iterator<Item = &FnArg> {
    let inputs = signature.inputs.iter();
    inputs.filter(|input| matches!(input, FnArg::Typed(_)) && !is_cx(input))
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
            function: Function::of(
                &function.attrs,
                &function.vis,
                signature,
                arguments(inputs, self_type)?,
            ),
        })
    }
}

/// A function without a body, which ends with `;`.
#[derive(Clone)]
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
    fn read(
        mut function: Bodiless,
        self_type: &TokenStream,
        errors: &mut Errors,
    ) -> syn::Result<Self> {
        let signature = &function.signature;
        if take_mark(&mut function.attributes, "message", errors).is_none() {
            let what = "a function without a body; if it is a kind of message that entries wait \
                        for, mark it `#[message]`";
            return Err(Error::new(signature.span(), what));
        }
        if let Some(receiver) = signature.receiver() {
            let what = "a kind of message has no `self`: its parameters are its contents";
            return Err(Error::new(receiver.span(), what));
        }
        if signature.asyncness.is_some() || !matches!(signature.output, ReturnType::Default) {
            let what = "a kind of message is not `async` and has no reply";
            return Err(Error::new(signature.span(), what));
        }
        if let Some(cx) = signature.inputs.iter().find(|input| is_cx(input)) {
            let what = "a kind of message has no `cx`: its parameters are its contents";
            return Err(Error::new(cx.span(), what));
        }
        check(signature)?;
        let arguments = arguments(signature.inputs.iter(), self_type)?;
        Ok(Self {
            function: Function::of(
                &function.attributes,
                &function.visibility,
                signature,
                arguments,
            ),
        })
    }
}

impl Function {
    fn of(
        attributes: &[Attribute],
        visibility: &Visibility,
        signature: &Signature,
        arguments: Vec<Argument>,
    ) -> Self {
        Self {
            documentation: named("doc", attributes),
            conditions: named("cfg", attributes),
            visibility: visibility.clone(),
            name: signature.ident.clone(),
            arguments,
        }
    }

    /// Returns the name of the type that represents the function.
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

/// Checks that a function can be an entry or a kind of message.
fn check(signature: &Signature) -> syn::Result<()> {
    if signature.ident == "with_priority" {
        let what = "each proxy already has a method `with_priority`: use another name";
        return Err(Error::new(signature.ident.span(), what));
    }
    if let Some(parameter) = signature.generics.params.first() {
        let what = "the contents of a message have fixed types: no type parameters or lifetimes \
                    here";
        return Err(Error::new(parameter.span(), what));
    }
    if let Some(unsafety) = &signature.unsafety {
        let what = "an entry or a kind of message cannot be `unsafe`: \
                    the sender cannot make any promise";
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

/// Returns the arguments of a message, given the parameters of its function.
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
                let what = "the parameter `cx: &mut Cx<Self>` must come right after `self`";
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

/// Checks that `what`, a message or a reply, can contain a value of a type.
fn check_type(of: &Type, what: &str) -> syn::Result<()> {
    match of {
        Type::Reference(reference)
            if reference
                .lifetime
                .as_ref()
                .is_none_or(|lifetime| lifetime.ident != "static") =>
        {
            let what = format!(
                "{what} cannot borrow: \
                 send a value, an `Arc` of shared data, or a `&'static` reference"
            );
            Err(Error::new(reference.span(), what))
        }
        Type::ImplTrait(some) => {
            let what = format!("the contents of {what} have types with a name: no `impl` here");
            Err(Error::new(some.span(), what))
        }
        _ => Ok(()),
    }
}

/// Returns true for a parameter of type `&mut Cx<…>`.
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

/// Removes the attribute `name`, and returns its span if there was one.
fn take_mark(attributes: &mut Vec<Attribute>, name: &str, errors: &mut Errors) -> Option<Span> {
    let is_it = |attribute: &Attribute| attribute.path().is_ident(name);
    let at = attributes.iter().position(is_it)?;
    let mark = attributes.remove(at);
    if !matches!(mark.meta, Meta::Path(_)) {
        let what = format!("`#[{name}]` has no options");
        errors.add(Error::new(mark.span(), what));
    }
    Some(mark.span())
}

/// Returns the attributes with this name.
fn named(name: &str, attributes: &[Attribute]) -> Vec<Attribute> {
    let is_it = |attribute: &&Attribute| attribute.path().is_ident(name);
    attributes.iter().filter(is_it).cloned().collect()
}

/// Returns the last segment of the path of a type.
fn name_of(of: &Type) -> syn::Result<Ident> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.clone()),
        _ => None,
    }
    .ok_or_else(|| Error::new(of.span(), "expected the name of a type of this crate"))
}

/// Replaces `Self` by the type, since `Self` has another meaning in the generated code.
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
