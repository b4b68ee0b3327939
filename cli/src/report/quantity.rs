//! Values that a report shows to people as a text and to programs as JSON.

use std::fmt::Display;
use std::time::Duration;

use raddle_model::units::Nanoseconds;
use serde::Serialize;

use crate::units;

/// A value with a text for people and a form in JSON.
pub(crate) trait Quantity {
    /// Returns the text for people.
    fn text(&self) -> String;

    /// Returns the value for JSON.
    fn json(&self) -> impl Serialize;
}

/// A name, or a number that is the same in both forms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<T>(pub(crate) T);

impl<T: Display + Serialize> Quantity for Plain<T> {
    fn text(&self) -> String {
        self.0.to_string()
    }

    fn json(&self) -> impl Serialize {
        &self.0
    }
}

/// A number of things, with its digits in groups of three in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count<T>(pub(crate) T);

impl<T: TryInto<u64> + Serialize + Copy> Quantity for Count<T> {
    fn text(&self) -> String {
        units::grouped(self.0)
    }

    fn json(&self) -> impl Serialize {
        self.0
    }
}

/// A number of bytes, with the unit that fits in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteCount(pub(crate) u64);

impl Quantity for ByteCount {
    fn text(&self) -> String {
        units::bytes(self.0)
    }

    fn json(&self) -> impl Serialize {
        self.0
    }
}

/// A number with the given decimals in the text, and with all digits in JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    number: f64,
    decimals: usize,
    is_percent: bool,
}

impl Decimal {
    /// Creates a number without a unit.
    pub(crate) const fn new(number: f64, decimals: usize) -> Self {
        Self {
            number,
            decimals,
            is_percent: false,
        }
    }

    /// Creates a share of 1, which the text shows in percent.
    pub(crate) const fn percent(share: f64, decimals: usize) -> Self {
        Self {
            number: share,
            decimals,
            is_percent: true,
        }
    }
}

impl Quantity for Decimal {
    fn text(&self) -> String {
        let decimals = self.decimals;
        match self.is_percent {
            true => format!("{:.decimals$} %", 100.0 * self.number),
            false => format!("{:.decimals$}", self.number),
        }
    }

    fn json(&self) -> impl Serialize {
        self.number
    }
}

/// A time, with the unit that fits in the text and in seconds in JSON.
impl Quantity for Duration {
    fn text(&self) -> String {
        units::time(*self)
    }

    fn json(&self) -> impl Serialize {
        self.as_secs_f64()
    }
}

/// A modelled time, with one decimal in the text.
impl Quantity for Nanoseconds {
    fn text(&self) -> String {
        format!("{:.1} ns", self.0)
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

/// A value that may be missing: `-` in the text, null in JSON.
impl<Q: Quantity> Quantity for Option<Q> {
    fn text(&self) -> String {
        self.as_ref().map_or_else(|| "-".to_owned(), Q::text)
    }

    fn json(&self) -> impl Serialize {
        self.as_ref().map(Q::json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn both(quantity: &impl Quantity) -> (String, Value) {
        (quantity.text(), json!(quantity.json()))
    }

    #[test]
    fn the_text_has_a_unit_and_json_has_the_number() {
        assert_eq!(both(&Count(12_345)), ("12,345".to_owned(), json!(12_345)));
        assert_eq!(
            both(&ByteCount(3_456)),
            ("3.46 kB".to_owned(), json!(3_456))
        );
        let time = Duration::from_millis(12);
        assert_eq!(both(&time), ("12.0 ms".to_owned(), json!(0.012)));
        let share = Decimal::percent(0.987, 0);
        assert_eq!(both(&share), ("99 %".to_owned(), json!(0.987)));
        let number = Decimal::new(2.0 / 3.0, 2);
        assert_eq!(both(&number), ("0.67".to_owned(), json!(2.0 / 3.0)));
        assert_eq!(both(&Plain("array")), ("array".to_owned(), json!("array")));
    }

    #[test]
    fn a_missing_value_is_a_dash_and_null() {
        assert_eq!(both(&None::<Duration>), ("-".to_owned(), Value::Null));
        assert_eq!(both(&Some(Plain(3))), ("3".to_owned(), json!(3)));
    }
}
