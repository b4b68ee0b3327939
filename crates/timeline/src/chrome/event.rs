//! One event of the Trace Event Format.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::event::Value;

/// The members of an event that matter. Their types differ between programs, so they are converted
/// later.
#[derive(Debug, Deserialize)]
pub(super) struct RawEvent<'a> {
    #[serde(borrow)]
    pub(super) ph: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) cat: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) pid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) ts: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) dur: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) args: Arguments<'a>,
}

/// The member `args`: names and JSON values. It is empty if it is not an object.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        if !raw.get().starts_with('{') {
            return Ok(Self::default());
        }
        // A reader of texts is cheap to create.
        let mut inner = serde_json::Deserializer::from_str(raw.get());
        inner
            .deserialize_map(Members)
            .map_err(serde::de::Error::custom)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Arguments<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = map.next_entry()? {
            members.push((name, value));
        }
        Ok(Arguments(members))
    }
}

/// A name that is borrowed if it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns a text, or the JSON of another value.
pub(super) fn text(raw: &RawValue) -> Cow<'_, str> {
    let text = serde_json::from_str(raw.get()).map(|Name(text)| text);
    text.unwrap_or(Cow::Borrowed(raw.get()))
}

/// Returns a time or duration in nanoseconds, given in microseconds, as a number or a text. Digits
/// after the third decimal are cut off.
pub(super) fn nanoseconds(raw: &RawValue) -> Option<u64> {
    let text = text(raw);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !whole.is_empty() && are_digits(whole) && are_digits(fraction) {
        let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
        let below = digits.fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'));
        let whole: u64 = whole.parse().ok()?;
        return whole.checked_mul(1_000)?.checked_add(below);
    }
    // Exponents, and times before the first one, which some programs have.
    let microseconds: f64 = text.parse().ok()?;
    // The cast saturates.
    (microseconds.is_finite()).then_some((microseconds * 1e3).round() as u64)
}

/// Returns the number of a process or thread. Some programs have texts instead.
pub(super) fn number(raw: Option<&RawValue>) -> u32 {
    let Some(raw) = raw else { return 0 };
    let text = text(raw);
    let number = text.parse().ok();
    let negative = || text.parse::<i32>().ok().map(|number| number as u32);
    number
        .or_else(negative)
        .unwrap_or_else(|| hash(text.as_bytes()) as u32 | 1 << 31)
}

/// Returns the number of a flow: decimal, hexadecimal or any text.
pub(super) fn flow(raw: &RawValue) -> u64 {
    let text = text(raw);
    let hexadecimal = text.strip_prefix("0x");
    let number = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number.unwrap_or_else(|| hash(text.as_bytes()))
}

/// Converts the value of an argument. `None` stands for null. `buffer` has the text.
pub(super) fn value<'a>(raw: &'a RawValue, buffer: &'a mut Cow<'a, str>) -> Option<Value<'a>> {
    let json = raw.get();
    Some(match json.as_bytes().first() {
        Some(b'"' | b'{' | b'[') => {
            *buffer = text(raw);
            Value::Text(buffer)
        }
        Some(b't') => Value::Flag(true),
        Some(b'f') => Value::Flag(false),
        Some(b'n') | None => return None,
        Some(_) => {
            if let Ok(number) = json.parse() {
                Value::Unsigned(number)
            } else if let Ok(number) = json.parse() {
                Value::Signed(number)
            } else {
                Value::Float(json.parse().ok()?)
            }
        }
    })
}

/// Returns a hash that stays the same (FNV-1a).
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
