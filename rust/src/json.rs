//! Reading JSON with errors that name the key: `workers[0].phases[2].steps[1].size: expected …`.

use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// One value and the way to it.
pub struct Node<'a> {
    pub path: String,
    pub value: &'a Value,
}

/// An object whose keys are ticked off as they are read, so that one that nobody knows is an error.
pub struct Object<'a> {
    pub path: String,
    map: &'a Map<String, Value>,
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Node<'a> {
    pub fn fail<T>(&self, text: impl std::fmt::Display) -> Result<T> {
        Err(Error::Workload(format!("{}: {text}", self.path)))
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found: String = self.value.to_string().chars().take(60).collect();
        self.fail(format_args!("expected {what}, found {found}"))
    }

    pub fn object(&self) -> Result<Object<'a>> {
        match self.value {
            Value::Object(map) => Ok(Object { path: self.path.clone(), map, read: RefCell::default() }),
            _ => self.expected("an object"),
        }
    }

    pub fn list(&self) -> Result<Vec<Node<'a>>> {
        match self.value {
            Value::Array(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(index, value)| Node { path: format!("{}[{index}]", self.path), value })
                .collect()),
            _ => self.expected("a list"),
        }
    }

    pub fn text(&self) -> Result<&'a str> {
        self.value.as_str().map_or_else(|| self.expected("a text"), Ok)
    }

    pub fn boolean(&self) -> Result<bool> {
        self.value.as_bool().map_or_else(|| self.expected("true or false"), Ok)
    }

    /// A number >= 0.
    pub fn number(&self) -> Result<f64> {
        match self.value.as_f64() {
            Some(number) if number >= 0.0 => Ok(number),
            _ => self.expected("a number, 0 or more"),
        }
    }

    /// A whole number in `least..=most`; 4e6 is one too.
    pub fn whole(&self, least: u64, most: u64) -> Result<u64> {
        let exact =
            |number: f64| (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64);
        match self.value.as_u64().or_else(|| self.value.as_f64().and_then(exact)) {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ if most >= u64::MAX >> 1 => self.expected(&format!("a whole number, {least} or more")),
            _ => self.expected(&format!("a whole number from {least} to {most}")),
        }
    }
}

impl<'a> Object<'a> {
    /// The value of a key, if it is there and not null.
    pub fn get(&self, key: &'static str) -> Option<Node<'a>> {
        self.read.borrow_mut().insert(key);
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Some(Node { path, value })
    }

    pub fn need(&self, key: &'static str) -> Result<Node<'a>> {
        self.get(key).map_or_else(|| self.fail(format_args!("\"{key}\" is missing")), Ok)
    }

    pub fn whole(&self, key: &'static str, least: u64, most: u64) -> Result<Option<u64>> {
        self.get(key).map(|node| node.whole(least, most)).transpose()
    }

    pub fn fail<T>(&self, text: impl std::fmt::Display) -> Result<T> {
        let place = if self.path.is_empty() { "workload" } else { &self.path };
        Err(Error::Workload(format!("{place}: {text}")))
    }

    /// To be called when everything was read.
    pub fn no_other_keys(&self) -> Result<()> {
        let read = self.read.borrow();
        match self.map.keys().find(|key| !read.contains(key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let known: Vec<_> = read.iter().copied().collect();
                self.fail(format_args!("unknown key {key:?}; known here: {}", known.join(", ")))
            }
        }
    }
}
