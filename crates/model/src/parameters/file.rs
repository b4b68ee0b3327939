//! Reading parameters from TOML, with the line of each, and writing them.

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Parameters;
use super::registry::{ALL, Parameter, Place, Range, find};
use crate::error::{ModelError, Origin};
use crate::parameters::Curve;

impl Parameters {
    /// Applies the values in a text. `origin` returns the place of a line.
    ///
    /// # Errors
    /// [`ModelError`] of the first error in the text. The values before it have been applied.
    pub(super) fn apply(
        &mut self,
        text: &str,
        origin: impl Fn(usize) -> Origin,
    ) -> Result<(), ModelError> {
        let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|error| ModelError::Syntax {
            origin: origin(error.span().map_or(1, |span| line_of(span.start))),
            found: error.message().replace('\n', " "),
        })?;
        for (at, key, value) in leaves(table.get_ref()) {
            // An empty section: all of its lines are comments.
            if matches!(value, DeValue::Table(_)) && is_section(&key) {
                continue;
            }
            let origin = origin(line_of(at));
            let parameter = find(&key).ok_or_else(|| unknown(&key, origin.clone()))?;
            self.put(parameter, value)
                .map_err(|found| ModelError::Value {
                    origin: origin.clone(),
                    key,
                    found,
                    expected: parameter.expected(),
                })?;
            self.origins.insert(parameter.key, origin);
        }
        Ok(())
    }

    /// Stores a value in its parameter. The error is the text of the invalid value.
    fn put(&mut self, parameter: &Parameter, value: &DeValue<'_>) -> Result<(), String> {
        let range = parameter.range;
        let number = || number(value).filter(|&number| range.holds(number));
        let found = || written(value);
        match (parameter.place)(self) {
            Place::Real(place) => *place = number().ok_or_else(found)?,
            Place::Scaled(place, scale) => *place = number().ok_or_else(found)? * scale,
            Place::Whole(place) => {
                let whole = number().filter(|number| number.fract() == 0.0);
                // The range of a whole number fits into 32 bits.
                *place = whole.ok_or_else(found)? as u32;
            }
            Place::Reals(place) => *place = speeds(value, range).ok_or_else(found)?,
            Place::Curve(place) => {
                *place = match value {
                    DeValue::String(text) if text == "fitted" => Curve::Fitted,
                    DeValue::String(text) if text == "measured" => Curve::Measured,
                    _ => return Err(found()),
                }
            }
            Place::Text(place) => match value {
                DeValue::String(text) => *place = text.clone().into_owned(),
                _ => return Err(found()),
            },
        }
        Ok(())
    }

    /// Returns all parameters as a file that [`Self::read`] accepts, each with its description.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut section = "";
        for parameter in ALL {
            let (of, name) = parameter.key.split_once('.').unwrap_or(("", parameter.key));
            // Writing to a string cannot fail, here and below.
            if of != section {
                let _infallible = write!(text, "\n[{of}]\n");
                section = of;
            }
            let line = format!("{name} = {}", parameter.written(self));
            let _infallible = writeln!(text, "{line:<40} # {}", parameter.about);
        }
        text
    }
}

/// Returns every value that is not a table, with the position of its key and the full key.
fn leaves<'table, 'text>(
    table: &'table DeTable<'text>,
) -> Vec<(usize, String, &'table DeValue<'text>)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), table)];
    while let Some((prefix, table)) = open.pop() {
        for (key, value) in table.iter() {
            let name = format!("{prefix}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) if !inner.is_empty() => {
                    open.push((format!("{name}."), inner));
                }
                leaf => found.push((Spanned::span(key).start, name, leaf)),
            }
        }
    }
    // Sorted by position, so that the first error in the text is reported.
    found.sort_by_key(|&(at, ..)| at);
    found
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(integer) => {
            let digits = integer.as_str().replace('_', "");
            match integer.radix() {
                10 => digits.parse().ok(),
                radix => i64::from_str_radix(&digits, radix)
                    .ok()
                    .map(|number| number as f64),
            }
        }
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
        _ => None,
    }
}

fn speeds(value: &DeValue<'_>, range: Range) -> Option<Vec<f64>> {
    let values = value.as_array()?.iter();
    let numbers: Option<Vec<f64>> = values.map(|value| number(value.get_ref())).collect();
    numbers.filter(|numbers| range.holds_for_speeds(numbers))
}

fn written(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(is) => is.to_string(),
        DeValue::Datetime(when) => when.to_string(),
        DeValue::Array(values) => {
            let values: Vec<_> = values
                .iter()
                .map(|value| written(value.get_ref()))
                .collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Returns whether `name` is a section of parameters.
fn is_section(name: &str) -> bool {
    ALL.iter().any(|parameter| {
        parameter
            .key
            .split_once('.')
            .is_some_and(|(section, _)| section == name)
    })
}

/// Returns the error for an unknown key. It suggests the nearest key or the keys of its section.
fn unknown(key: &str, origin: Origin) -> ModelError {
    let nearest = ALL
        .iter()
        .map(|parameter| (strsim::levenshtein(key, parameter.key), parameter.key))
        .min();
    let section = key.split_once('.').map_or("", |(section, _)| section);
    let of_section: Vec<_> = ALL
        .iter()
        .map(|parameter| parameter.key)
        .filter(|known| known.split_once('.').map_or("", |(section, _)| section) == section)
        .collect();
    let expected = match nearest {
        Some((far, near)) if far <= 1 + key.len() / 4 => format!("expected perhaps {near}"),
        _ if of_section.is_empty() || section.is_empty() => {
            "expected one of the sections core, message, interface, cache, network, system \
             and tracer"
                .to_owned()
        }
        _ => format!("expected one of {}", of_section.join(", ")),
    };
    ModelError::Unknown {
        origin,
        key: key.to_owned(),
        expected,
    }
}
