//! Properties as YCSB reads them: files of Java's format, and `name=value` from the command line.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use java_properties::{LineContent, PropertiesIter};
use tonnage::{Error, Result};

/// Properties by name. What is given later wins.
pub(super) type Properties = BTreeMap<String, Property>;

/// A name and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) value: String,
    /// Where it was given: the file and the line where it begins, or `-p`.
    origin: String,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Properties> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::invalid(format!("{} cannot be read: {error}", path.display())).with_source(error)
    })?;
    parse(&bytes, path)
}

/// Takes the bytes of a file; `path` is for messages.
fn parse(bytes: &[u8], path: &Path) -> Result<Properties> {
    let mut properties = Properties::new();
    for line in PropertiesIter::new(&as_java_reads(bytes)[..]) {
        let line = line.map_err(|error| {
            let at = error.line_number().unwrap_or_default();
            Error::invalid(format!(
                "{}, line {at}: {error}: give four hexadecimal digits behind \\u, or two \
                 backslashes for one",
                path.display()
            ))
        })?;
        let origin = format!("{}, line {}", path.display(), line.line_number());
        if let LineContent::KVPair(name, value) = line.consume_content() {
            properties.insert(name.clone(), Property { name, value, origin });
        }
    }
    Ok(properties)
}

/// The same text, without what the reader takes otherwise than Java does.
fn as_java_reads(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut place = 0;
    while place < bytes.len() {
        // The reader takes the sign for a hexadecimal digit. A `?` is refused with its line.
        if bytes[place..].starts_with(b"\\u+") {
            bytes[place + 2] = b'?';
        }
        place += if bytes[place] == b'\\' { 2 } else { 1 };
    }
    // The reader leaves out a last line that a backslash ends, as if it went on.
    bytes.push(b'\n');
    bytes
}

impl Property {
    /// Takes `name=value` from the command line.
    pub(super) fn from_argument(argument: &str) -> Result<Self> {
        let parts = argument.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let (name, value) = parts.ok_or_else(|| {
            Error::invalid(format!("-p {argument}: give NAME=VALUE, as in -p recordcount=1000000"))
        })?;
        let (name, value) = (name.trim().to_owned(), value.to_owned());
        Ok(Property { name, value, origin: "-p".to_owned() })
    }

    /// A whole number of at most `max`.
    pub(super) fn count<T: TryFrom<u64>>(&self, max: u64) -> Result<T> {
        let count = self.text().parse().ok().filter(|count: &u64| *count <= max);
        let remedy = || match max {
            u64::MAX => "give a whole number, 0 or more".to_owned(),
            _ => format!("give a whole number from 0 to {max}"),
        };
        count.and_then(|count| T::try_from(count).ok()).ok_or_else(|| self.invalid(&remedy()))
    }

    /// A number from 0 to `max`, infinite ones left out.
    pub(super) fn number(&self, max: f64) -> Result<f64> {
        let number = self.text().parse().ok().filter(|number: &f64| (0.0..=max).contains(number));
        let remedy = || match max {
            f64::MAX => "give a number, 0 or more".to_owned(),
            _ => format!("give a number from 0 to {max}"),
        };
        number.ok_or_else(|| self.invalid(&remedy()))
    }

    /// One of a few, by its name.
    pub(super) fn choice<T: Copy + Display>(&self, all: &[T]) -> Result<T> {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        let place = names.iter().position(|name| name.eq_ignore_ascii_case(self.text()));
        let remedy = || format!("give one of {}", names.join(", "));
        place.map(|place| all[place]).ok_or_else(|| self.invalid(&remedy()))
    }

    /// A text that is not empty.
    pub(super) fn nonempty(&self) -> Result<String> {
        match self.text() {
            "" => Err(self.invalid("give a name")),
            text => Ok(text.to_owned()),
        }
    }

    /// The value without white space around it.
    pub(super) fn text(&self) -> &str {
        self.value.trim()
    }

    /// What YCSB knows and this program does not do.
    pub(super) fn unsupported(&self, remedy: &str) -> Error {
        Error::unsupported(self.message(remedy))
    }

    fn invalid(&self, remedy: &str) -> Error {
        Error::invalid(self.message(remedy))
    }

    /// Names the property, where it was given, and what to give instead.
    fn message(&self, remedy: &str) -> String {
        format!("{}: {}={}: {remedy}", self.origin, self.name, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(bytes: &[u8]) -> Result<Vec<(String, String, String)>> {
        let properties = parse(bytes, Path::new("workload"))?;
        let all = properties.into_values();
        Ok(all.map(|Property { name, value, origin }| (name, value, origin)).collect())
    }

    #[test]
    fn names_values_and_lines_are_those_of_java() {
        let text = b"# one\\\r\na: b\\\n  c\r\rd\\ e = \\u0041\xe9\nd\\ e=later";
        let expected = [("a", "bc", "workload, line 2"), ("d e", "later", "workload, line 6")];
        let expected = expected.map(|(name, value, at)| (name.into(), value.into(), at.into()));
        assert_eq!(parsed(text).unwrap(), expected);
        assert_eq!(parsed(b"a=\\u0041\xe9").unwrap()[0].1, "A\u{e9}");
    }

    #[test]
    fn a_broken_escape_is_named_with_its_line() {
        let texts = [&b"x=1\na=\\u00g1"[..], b"x=1\na=\\u12", b"x=1\na=\\ud800", b"x=1\na=\\u+123"];
        for text in texts {
            let error = parsed(text).unwrap_err().to_string();
            assert!(error.contains("workload, line 2: "), "{error}");
            assert!(error.contains("four hexadecimal digits"), "{error}");
        }
    }

    /// The story of a bug: such a line was left out without a word.
    #[test]
    fn a_last_line_that_a_backslash_ends_is_a_line() {
        for (text, value) in [(&b"x=1\na=b\\"[..], "b"), (&b"x=1\na=b\\\\"[..], "b\\")] {
            let last = ("a".to_owned(), value.to_owned(), "workload, line 2".to_owned());
            assert!(parsed(text).unwrap().contains(&last), "{value}");
        }
    }

    #[test]
    fn a_sign_behind_an_escaped_backslash_is_a_sign() {
        assert_eq!(parsed(b"a=\\\\u+123").unwrap()[0].1, "\\u+123");
    }

    #[test]
    fn an_argument_without_name_or_equals_sign_is_refused() {
        for argument in ["recordcount", "=5", ""] {
            let error = Property::from_argument(argument).unwrap_err().to_string();
            assert!(error.contains("NAME=VALUE"), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = parsed(&bytes);
        }
    }
}
