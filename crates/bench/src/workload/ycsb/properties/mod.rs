//! Properties as YCSB reads them: files of Java's format, and `name=value` from the command line.

mod lines;
mod typed;

use std::path::Path;

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
    /// Where it was given: the file and the line where it begins, or `-p`.
    origin: String,
}

impl Properties {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| {
            Error::invalid(format!("{} cannot be read: {error}", path.display())).with_source(error)
        })?;
        Self::parse(&bytes, path)
    }

    /// Takes the bytes of a file; `path` is for messages.
    fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        // Java reads such files as Latin-1, where each byte is the character of the same number.
        let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
        let mut properties = Properties::default();
        for line in lines::logical_lines(&text) {
            let origin = format!("{}, line {}", path.display(), line.number);
            let (name, value) = lines::split(&line.text)
                .map_err(|problem| Error::invalid(format!("{origin}: {problem}")))?;
            properties.all.push(Property { name, value, origin });
        }
        Ok(properties)
    }

    /// Takes `name=value` from the command line.
    pub(super) fn push_argument(&mut self, argument: &str) -> Result<()> {
        let parts = argument.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let (name, value) = parts.ok_or_else(|| {
            Error::invalid(format!("-p {argument}: give NAME=VALUE, as in -p recordcount=1000000"))
        })?;
        let (name, value, origin) = (name.trim().to_owned(), value.to_owned(), "-p".to_owned());
        self.all.push(Property { name, value, origin });
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
    /// Names the property, where it was given, and what to give instead.
    fn message(&self, remedy: &str) -> String {
        format!("{}: {}={}: {remedy}", self.origin, self.name, self.value)
    }
}

#[cfg(test)]
mod tests;
