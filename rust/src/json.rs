//! What serde leaves open: numbers within bounds, enums by a key, and errors that name the key:
//! `workers[0].phases[2].steps[1].size: expected …`.
//!
//! The text of an error below the root begins with the rest of the path, if there is one: `.size: expected …`. Whoever
//! knows the path so far puts it in front.

use crate::error::{Error, Result};
use crate::kind::NAMES;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde_json::{Map, Value};

pub type Keys = Map<String, Value>;

/// The upper bound of numbers that have no other.
pub const MANY: u64 = u64::MAX >> 1;

/// The keys, besides kinds, whose value may be a list: serde would read any object from a list of its values.
const LIST_KEYS: &[&str] =
    &["workers", "phases", "steps", "of", "names", "open_flags", "faults", "latency_ns", "default"];

/// Read a workload. A key whose value is null counts as absent.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    let mut value = serde_json::from_str(text)
        .map_err(|error| Error::Workload(format!("the workload is no JSON: {error}")))?;
    tidy(&mut value, false).and_then(|()| read(value)).map_err(|text| {
        Error::Workload(text.strip_prefix('.').map_or(format!("workload: {text}"), str::to_owned))
    })
}

/// Remove nulls, and refuse lists where none belongs.
fn tidy(value: &mut Value, may_be_list: bool) -> Result<(), String> {
    match value {
        Value::Object(keys) => {
            keys.retain(|_, value| !value.is_null());
            keys.iter_mut().try_for_each(|(key, value)| {
                let may_be_list = LIST_KEYS.contains(&key.as_str()) || NAMES.contains(&key.as_str());
                tidy(value, may_be_list).map_err(|text| join(&format!(".{key}"), &text))
            })
        }
        Value::Array(items) if may_be_list => items.iter_mut().enumerate().try_for_each(|(index, item)| {
            tidy(item, false).map_err(|text| join(&format!("[{index}]"), &text))
        }),
        Value::Array(_) => Err("a list does not belong here".to_owned()),
        _ => Ok(()),
    }
}

/// Read a part of a workload.
pub fn read<T: DeserializeOwned>(value: impl Into<Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(value.into()).map_err(|error| {
        let text = error.inner().to_string();
        match error.path().to_string().as_str() {
            "." => text,
            path if path.starts_with('[') => join(path, &text),
            path => join(&format!(".{path}"), &text),
        }
    })
}

/// Put a path in front of an error.
pub fn join(path: &str, text: &str) -> String {
    format!("{path}{}{text}", if text.starts_with(['.', '[']) { "" } else { ": " })
}

/// Read an enum by its key "name".
pub fn by_name<'de, D: Deserializer<'de>, T: DeserializeOwned>(reader: D) -> Result<T, D::Error> {
    read_tagged("name", Keys::deserialize(reader)?).map_err(D::Error::custom)
}

/// Read an enum by its key "kind".
pub fn by_kind<'de, D: Deserializer<'de>, T: DeserializeOwned>(reader: D) -> Result<T, D::Error> {
    read_tagged("kind", Keys::deserialize(reader)?).map_err(D::Error::custom)
}

/// Read an enum: the value of the key `tag` is its variant, the other keys are the variant's.
fn read_tagged<T: DeserializeOwned>(tag: &str, mut keys: Keys) -> Result<T, String> {
    let variant: String = match keys.remove(tag) {
        Some(value) => read(value).map_err(|text| format!(".{tag}: {text}"))?,
        None => return Err(format!("missing field `{tag}`")),
    };
    let prefix = format!(".{variant}");
    read(Keys::from_iter([(variant, keys.into())])).map_err(|text| match text.strip_prefix(&prefix) {
        Some(text) => text.trim_start_matches(": ").to_owned(),
        None => format!(".{tag}: {text}"),
    })
}

fn expected<T, E: serde::de::Error>(what: &str, value: &Value) -> Result<T, E> {
    let text: String = value.to_string().chars().take(60).collect();
    Err(E::custom(format_args!("expected {what}, found {text}")))
}

/// Objects in which an unknown key is an error.
macro_rules! keys {
    ($($name:ident { $($key:ident: $type:ty),* $(,)? })+) => {
        $(#[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $(pub $key: $type),* })+
    };
}

pub(crate) use keys;

/// A whole number in `LEAST..=MOST`; 4e6 is one too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole<const LEAST: u64, const MOST: u64, const DEFAULT: u64 = LEAST>(pub u64);

impl<const LEAST: u64, const MOST: u64, const DEFAULT: u64> Default for Whole<LEAST, MOST, DEFAULT> {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<'de, const LEAST: u64, const MOST: u64, const DEFAULT: u64> Deserialize<'de>
    for Whole<LEAST, MOST, DEFAULT>
{
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(reader)?;
        let exact =
            |number: f64| (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64);
        match value.as_u64().or_else(|| value.as_f64().and_then(exact)) {
            Some(number) if (LEAST..=MOST).contains(&number) => Ok(Self(number)),
            _ if MOST >= MANY => expected(&format!("a whole number, {LEAST} or more"), &value),
            _ => expected(&format!("a whole number from {LEAST} to {MOST}"), &value),
        }
    }
}

/// A number from 0 to `MOST`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number<const MOST: u64 = { u64::MAX }>(pub f64);

pub type Share = Number<1>;

impl<'de, const MOST: u64> Deserialize<'de> for Number<MOST> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(reader)?;
        match value.as_f64().filter(|number| *number >= 0.0) {
            Some(number) if MOST == u64::MAX || number <= MOST as f64 => Ok(Self(number)),
            _ if MOST == u64::MAX => expected("a number, 0 or more", &value),
            _ => expected(&format!("a number from 0 to {MOST}"), &value),
        }
    }
}
