//! The bytes with a meaning in a CSV file: the one between fields, the one around them, and the one
//! before a byte that means itself.

use memchr::{memchr, memchr_iter};
use tonnage_engine::{Error, Result};

use crate::options::ReadOptions;

/// How the fields of a file are parted and quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CsvDialect {
    pub(crate) delimiter: u8,
    /// None: quotes are characters as any other.
    pub(crate) quote: Option<u8>,
    pub(crate) escape: Option<u8>,
}

impl Default for CsvDialect {
    fn default() -> Self {
        Self { delimiter: b',', quote: Some(b'"'), escape: None }
    }
}

impl CsvDialect {
    /// The dialect of a file of this name.
    pub(crate) fn of(name: &str, options: &ReadOptions) -> Result<Self> {
        let delimiter = options.delimiter_of(name);
        let quote = options.csv.quote;
        // An escape that is the quote itself is a doubled quote, which is read anyway.
        let escape = options.csv.escape.filter(|escape| quote != Some(*escape));
        let is_wrong = |byte: u8| matches!(byte, b'\n' | b'\r' | 0 | 0x80..);
        let bytes = [(delimiter, "delimiter"), (quote.unwrap_or(b'"'), "quote")];
        let bytes = bytes.into_iter().chain(escape.map(|escape| (escape, "escape")));
        for (byte, what) in bytes {
            if is_wrong(byte) {
                return Err(Error::invalid(format!(
                    "a CSV {what} is one ASCII character that is no line end"
                )));
            }
        }
        if [quote, escape].contains(&Some(delimiter)) {
            return Err(Error::invalid(
                "the CSV delimiter, quote and escape must be different characters",
            ));
        }
        Ok(Self { delimiter, quote, escape })
    }

    pub(crate) fn is_quote(self, byte: u8) -> bool {
        self.quote == Some(byte)
    }

    /// Whether an escape precedes the byte at a position of a field, so that it means itself.
    #[inline]
    pub(crate) fn is_escaped(self, bytes: &[u8], field: usize, at: usize) -> bool {
        let Some(escape) = self.escape else { return false };
        // Both bytes of a line end are meant.
        let is_line_end = bytes[at] == b'\n' && at > field && bytes[at - 1] == b'\r';
        let before = &bytes[field..if is_line_end { at - 1 } else { at }];
        // An escape may itself be escaped.
        before.iter().rev().take_while(|byte| **byte == escape).count() % 2 == 1
    }

    /// Whether a field has an escape before a byte that would have a meaning.
    pub(crate) fn has_escapes(self, field: &[u8]) -> bool {
        let Some(escape) = self.escape else { return false };
        memchr_iter(escape, field)
            .any(|at| field.get(at + 1).is_some_and(|next| self.has_meaning(*next)))
    }

    fn has_meaning(self, byte: u8) -> bool {
        byte == self.delimiter
            || self.is_quote(byte)
            || self.escape == Some(byte)
            || matches!(byte, b'\n' | b'\r')
    }

    /// The text of a field without its escapes and, inside quotes, with quotes that are not doubled.
    pub(crate) fn plain_text(self, is_quoted: bool, field: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(field.len());
        let quote = self.quote.filter(|_| is_quoted);
        let mut rest = field;
        if self.escape.is_none() {
            // Quotes in quotes come in pairs.
            while let Some(at) = quote.and_then(|quote| memchr(quote, rest)) {
                plain.extend_from_slice(&rest[..=at]);
                rest = &rest[(at + 2).min(rest.len())..];
            }
            plain.extend_from_slice(rest);
            return plain;
        }
        while let [byte, behind @ ..] = rest {
            let next = behind.first().copied();
            let is_pair = next.is_some_and(|next| {
                self.escape == Some(*byte) && self.has_meaning(next)
                    || quote == Some(*byte) && next == *byte
            });
            plain.push(next.filter(|_| is_pair).unwrap_or(*byte));
            rest = if is_pair { &behind[1..] } else { behind };
        }
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: impl Fn(&mut ReadOptions)) -> Result<CsvDialect> {
        let mut options = ReadOptions::default();
        change(&mut options);
        CsvDialect::of("a.csv", &options)
    }

    #[test]
    fn bytes_with_a_meaning_are_ascii_and_different() {
        assert_eq!(of(|_| ()).unwrap(), CsvDialect::default());
        assert!(of(|options| options.csv.quote = Some(b',')).is_err());
        assert!(of(|options| options.csv.escape = Some(b',')).is_err());
        assert!(of(|options| options.csv.escape = Some(b'\n')).is_err());
        assert!(of(|options| options.csv.delimiter = Some(b'"')).is_err());
        assert!(of(|options| options.csv.delimiter = Some(0xe9)).is_err());
        // Programs name the quote as the escape where they double quotes.
        let doubled = of(|options| options.csv.escape = Some(b'"')).unwrap();
        assert_eq!(doubled, CsvDialect::default());
        // Where nothing is quoted, a quote may part fields.
        let none = of(|options| {
            options.csv.quote = None;
            options.csv.delimiter = Some(b'"');
        });
        assert_eq!(none.unwrap().quote, None);
    }

    #[test]
    fn escapes_go_and_other_backslashes_stay() {
        let dialect = CsvDialect { escape: Some(b'\\'), ..CsvDialect::default() };
        let plain = |text: &str, is_quoted| {
            String::from_utf8(dialect.plain_text(is_quoted, text.as_bytes())).unwrap()
        };
        let text = r#"a\,b\"c\\d\n""e\"#;
        assert_eq!(plain(text, false), r#"a,b"c\d\n""e\"#);
        assert_eq!(plain(text, true), r#"a,b"c\d\n"e\"#);
        assert!(dialect.has_escapes(b"a\\\nb") && !dialect.has_escapes(b"\\N C:\\dir\\"));
        let at = |text: &str| dialect.is_escaped(text.as_bytes(), 0, text.len() - 1);
        assert!(at("a\\,") && !at("a\\\\,") && at("\\\\\\,") && at("\\\r\n") && !at(","));
    }
}
