//! Properties as YCSB reads them: files of Java's format, and `name=value` from the command line.

mod lines;
mod typed;

use std::fmt;
use std::path::{Path, PathBuf};

use tonnage::{Error, Result};
pub(super) use typed::Typed;

/// Names and values, each with where it was given. What is given later wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Properties {
    all: Vec<Property>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Property {
    name: String,
    value: String,
    origin: PropertyOrigin,
}

/// Where a property was given.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PropertyOrigin {
    /// In a file, on the line where it begins.
    File(PathBuf, usize),
    /// As `-p name=value`.
    CommandLine,
}

impl Properties {
    /// Reads a file.
    ///
    /// # Errors
    /// `Invalid` when it cannot be read, or holds a broken escape.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| {
            Error::invalid(format!("{} cannot be read: {error}", path.display())).with_source(error)
        })?;
        Self::parse(&bytes, path)
    }

    /// Takes the bytes of a file; `path` is for messages.
    ///
    /// # Errors
    /// `Invalid` for a broken escape.
    pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        // Java reads such files as Latin-1, where each byte is the character of the same number.
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        let mut properties = Properties::default();
        for line in lines::logical_lines(&text) {
            let (name, value) = lines::split(&line.text).map_err(|problem| {
                Error::invalid(format!("{}, line {}: {problem}", path.display(), line.number))
            })?;
            properties.all.push(Property {
                name,
                value,
                origin: PropertyOrigin::File(path.to_owned(), line.number),
            });
        }
        Ok(properties)
    }

    /// Takes `name=value` from the command line.
    ///
    /// # Errors
    /// `Invalid` when there is no equals sign, or no name.
    pub(super) fn push_argument(&mut self, argument: &str) -> Result<()> {
        let (name, value) = argument
            .split_once('=')
            .filter(|(name, _)| !name.trim().is_empty())
            .ok_or_else(|| {
                Error::invalid(format!(
                    "-p {argument}: give NAME=VALUE, as in -p recordcount=1000000"
                ))
            })?;
        self.all.push(Property {
            name: name.trim().to_owned(),
            value: value.to_owned(),
            origin: PropertyOrigin::CommandLine,
        });
        Ok(())
    }

    /// Takes over all of another, which win over those that are here.
    pub(super) fn extend(&mut self, other: &Properties) {
        self.all.extend_from_slice(&other.all);
    }

    /// Whether one of this name is given.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The one of a name that wins.
    fn get(&self, name: &str) -> Option<&Property> {
        self.all.iter().rev().find(|property| property.name == name)
    }
}

impl Property {
    /// An error that names the property, where it was given, and what to give instead.
    fn wrong(&self, remedy: &str) -> Error {
        Error::invalid(self.message(remedy))
    }

    fn message(&self, remedy: &str) -> String {
        format!("{}: {}={}: {remedy}", self.origin, self.name, self.value)
    }
}

impl fmt::Display for PropertyOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PropertyOrigin::File(path, line) => {
                write!(formatter, "{}, line {line}", path.display())
            }
            PropertyOrigin::CommandLine => formatter.write_str("-p"),
        }
    }
}

#[cfg(test)]
mod tests;
