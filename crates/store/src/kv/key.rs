//! Keys of the key/value interface: a major path and a minor path.

use std::fmt;
use std::str::FromStr;

use tonnage_engine::{Error, KeyPart, Result};

/// A key: a major path of one or more components, which decides where the pair lives, and a minor
/// path, maybe empty, which orders the pairs under one major path. Components are any bytes; keys
/// sort as their bytes do.
///
/// As text, components are led by `/` and the paths parted by `/-`: `/users/42/-/mail/home`. A
/// component that is `-` or holds `/` or `%` is percent-encoded (`%2D`, `%2F`, `%25`), and so are
/// bytes that are not UTF-8. The text of a key reads back as the same key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    major: Vec<Vec<u8>>,
    minor: Vec<Vec<u8>>,
}

impl Key {
    /// A key of these components: texts or bytes.
    pub fn new<M, N>(major: M, minor: N) -> Self
    where
        M: IntoIterator<Item: Into<Vec<u8>>>,
        N: IntoIterator<Item: Into<Vec<u8>>>,
    {
        Self {
            major: major.into_iter().map(Into::into).collect(),
            minor: minor.into_iter().map(Into::into).collect(),
        }
    }

    /// A key with a major path only.
    pub fn of_major<M: IntoIterator<Item: Into<Vec<u8>>>>(major: M) -> Self {
        Self::new(major, std::iter::empty::<Vec<u8>>())
    }

    /// The major path, as the bytes of its components.
    pub fn major(&self) -> &[Vec<u8>] {
        &self.major
    }

    /// The minor path, likewise.
    pub fn minor(&self) -> &[Vec<u8>] {
        &self.minor
    }

    pub(crate) fn encode(&self, buffer: &mut Vec<u8>) -> Result<()> {
        let major = self.major.iter().map(Vec::as_slice);
        encode_parts(major, self.minor.iter().map(Vec::as_slice), buffer)
    }

    /// Reads what [`Key::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let major_end = KeyPart::Path.end(bytes, 0).ok_or_else(corrupt_key)?;
        Ok(Self {
            major: decode_components(&bytes[..major_end - 2])?,
            minor: decode_components(&bytes[major_end..])?,
        })
    }
}

/// Appends the bytes of a key: each component escaped and terminated by `00 01`, the major path
/// ended by `00 00`.
pub(crate) fn encode_parts<'a>(
    major: impl IntoIterator<Item = &'a [u8]>,
    minor: impl IntoIterator<Item = &'a [u8]>,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let start = buffer.len();
    major.into_iter().for_each(|component| append_component(component, buffer));
    if buffer.len() == start {
        return Err(Error::invalid("a key needs at least one major component, such as /users"));
    }
    buffer.extend_from_slice(&[0, 0]);
    minor.into_iter().for_each(|component| append_component(component, buffer));
    Ok(())
}

/// Appends one component: 0x00 becomes `00 FF`, and `00 01` ends it.
pub(crate) fn append_component(component: &[u8], buffer: &mut Vec<u8>) {
    append_escaped(component, buffer);
    buffer.extend_from_slice(&[0, 1]);
}

/// Appends the escaped bytes of a component without its end.
pub(crate) fn append_escaped(component: &[u8], buffer: &mut Vec<u8>) {
    let mut pieces = component.split(|byte| *byte == 0);
    buffer.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        buffer.extend_from_slice(&[0, 0xFF]);
        buffer.extend_from_slice(piece);
    }
}

/// How many components an encoded minor path has.
pub(crate) fn count_components(mut bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    while !bytes.is_empty() {
        bytes = &bytes[KeyPart::Terminated.end(bytes, 0)?..];
        count += 1;
    }
    Some(count)
}

fn decode_components(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut components = Vec::new();
    while !bytes.is_empty() {
        let end = KeyPart::Terminated.end(bytes, 0).ok_or_else(corrupt_key)?;
        let mut component = Vec::with_capacity(end - 2);
        let mut escaped = false;
        for &byte in &bytes[..end - 2] {
            if !escaped {
                component.push(byte);
            }
            escaped = byte == 0 && !escaped;
        }
        components.push(component);
        bytes = &bytes[end..];
    }
    Ok(components)
}

fn corrupt_key() -> Error {
    Error::corruption("a key/value key cannot be read: run `check`, then restore from a copy")
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.major
            .iter()
            .try_for_each(|component| write!(f, "/{}", EscapedComponent(component)))?;
        if !self.minor.is_empty() {
            f.write_str("/-")?;
        }
        self.minor.iter().try_for_each(|component| write!(f, "/{}", EscapedComponent(component)))
    }
}

/// A component with what would be mistaken for syntax, and what is not text, percent-encoded.
struct EscapedComponent<'a>(&'a [u8]);

impl fmt::Display for EscapedComponent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == b"-" {
            return f.write_str("%2D");
        }
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '/' => f.write_str("%2F")?,
                    '%' => f.write_str("%25")?,
                    other => write!(f, "{other}")?,
                }
            }
            chunk.invalid().iter().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
        }
        Ok(())
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some(path) = text.strip_prefix('/') else {
            return Err(Error::invalid(format!(
                "the key '{text}' does not begin with '/': write /major/-/minor"
            )));
        };
        let mut parts = path.split('/');
        let major: Vec<Vec<u8>> =
            parts.by_ref().take_while(|part| *part != "-").map(unescape).collect::<Result<_>>()?;
        let minor: Vec<Vec<u8>> = parts.map(unescape).collect::<Result<_>>()?;
        if major.is_empty() || major == [b""] {
            return Err(Error::invalid(format!(
                "the key '{text}' has no major component: write /major/-/minor"
            )));
        }
        Ok(Self { major, minor })
    }
}

fn unescape(part: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let code = rest
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        let Some(code) = code else {
            return Err(Error::invalid(format!(
                "the key component '{part}' has a '%' without two hexadecimal digits: write %25 for '%'"
            )));
        };
        bytes.push(code);
        rest = &rest[2..];
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(least: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        let text =
            prop_oneof!["[a-cé\\x00/%-]{0,3}", Just("-".to_string())].prop_map(String::into_bytes);
        proptest::collection::vec(
            prop_oneof![text, proptest::collection::vec(any::<u8>(), 0..4)],
            least..4,
        )
    }

    proptest! {
        #[test]
        fn a_key_is_read_back_from_its_bytes_and_from_its_text(major in path(1), minor in path(0)) {
            let key = Key::new(major, minor);
            let mut bytes = Vec::new();
            key.encode(&mut bytes).unwrap();
            prop_assert_eq!(&Key::decode(&bytes).unwrap(), &key);
            if key.major != [b""] {
                prop_assert_eq!(&key.to_string().parse::<Key>().unwrap(), &key);
            }
        }

        #[test]
        fn keys_sort_as_their_bytes_do(a in (path(1), path(0)), b in (path(1), path(0))) {
            let (a, b) = (Key::new(a.0, a.1), Key::new(b.0, b.1));
            let (mut a_bytes, mut b_bytes) = (Vec::new(), Vec::new());
            a.encode(&mut a_bytes).unwrap();
            b.encode(&mut b_bytes).unwrap();
            prop_assert_eq!(a.cmp(&b), a_bytes.cmp(&b_bytes));
        }
    }

    #[test]
    fn text_that_is_no_key_is_refused_with_the_remedy() {
        for text in ["users", "", "/", "/-/mail", "/a%", "/a%zz"] {
            let error = text.parse::<Key>().unwrap_err();
            assert_eq!(error.kind(), tonnage_engine::ErrorKind::Invalid, "{text}");
        }
    }
}
