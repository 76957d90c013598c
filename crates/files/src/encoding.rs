//! Decodes text that is not UTF-8 while it is read.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use tonnage_engine::{Error, Result};

/// What is read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// What text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// UTF-8, with or without a mark.
    #[default]
    Utf8,
    /// ISO 8859-1.
    Latin1,
    /// Windows-1252, which many files are that are called Latin-1: it has quotes and dashes beyond
    /// it.
    Windows1252,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
}

/// The characters of Windows-1252 from 0x80 to 0x9f; where it has none, those of Latin-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

impl Encoding {
    /// All encodings.
    pub const ALL: [Encoding; 5] = [
        Encoding::Utf8,
        Encoding::Latin1,
        Encoding::Windows1252,
        Encoding::Utf16Le,
        Encoding::Utf16Be,
    ];

    /// The name as options spell it.
    pub fn label(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Latin1 => "latin1",
            Encoding::Windows1252 => "windows-1252",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
        }
    }

    /// The encoding of text that begins like this: the given one, or that of a mark. Of the two
    /// kinds of UTF-16 the mark knows better, since many say UTF-16 for both.
    pub(crate) fn of(told: Option<Encoding>, head: &[u8]) -> Option<Encoding> {
        let marked = Encoding::of_mark(head);
        match told {
            Some(Encoding::Utf16Le | Encoding::Utf16Be) => marked.or(told),
            _ => told.or(marked),
        }
    }

    /// The encoding that a mark at the beginning tells.
    fn of_mark(head: &[u8]) -> Option<Encoding> {
        match head {
            [0xff, 0xfe, ..] => Some(Encoding::Utf16Le),
            [0xfe, 0xff, ..] => Some(Encoding::Utf16Be),
            _ => None,
        }
    }

    /// Whether bytes look like UTF-16: every second byte is zero in ASCII, of which the first line
    /// often is, whatever the others are written in. No text of another encoding has noughts.
    pub(crate) fn is_utf16_without_mark(head: &[u8]) -> bool {
        let pairs = head.as_chunks::<2>().0;
        let is_end = |pair: &[u8; 2]| matches!(pair, [b'\n', 0] | [0, b'\n']);
        let line = &pairs[..pairs.iter().position(is_end).unwrap_or(pairs.len())];
        [pairs, line].into_iter().any(|pairs| {
            let noughts = |index: usize| {
                pairs.iter().filter(|pair| pair[index] == 0 && pair[1 - index] != 0).count()
            };
            pairs.len() >= 4 && noughts(0).max(noughts(1)) * 2 > pairs.len()
        })
    }

    /// The bytes as UTF-8.
    pub(crate) fn decoding_reader(self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        match self {
            Encoding::Utf8 => reader,
            other => Box::new(Decoder {
                reader,
                encoding: other,
                raw: Vec::new(),
                text: Vec::new(),
                position: 0,
            }),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Encoding> {
        match text.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(Encoding::Utf8),
            "latin1" | "latin-1" | "iso-8859-1" => Ok(Encoding::Latin1),
            "windows-1252" | "cp1252" => Ok(Encoding::Windows1252),
            "utf-16" | "utf16" | "utf-16le" | "utf16le" => Ok(Encoding::Utf16Le),
            "utf-16be" | "utf16be" => Ok(Encoding::Utf16Be),
            _ => {
                let known = Encoding::ALL.map(Encoding::label).join(", ");
                Err(Error::invalid(format!(
                    "{text}: unknown encoding; known are {known}; convert others with iconv"
                )))
            }
        }
    }
}

struct Decoder {
    reader: Box<dyn Read + Send>,
    encoding: Encoding,
    /// Bytes that are the beginning of a character.
    raw: Vec<u8>,
    text: Vec<u8>,
    position: usize,
}

impl Read for Decoder {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.position == self.text.len() {
            (self.position, self.text) = (0, std::mem::take(&mut self.text));
            self.text.clear();
            let kept = self.raw.len();
            self.raw.resize(kept + CHUNK_BYTES, 0);
            let read = self.reader.read(&mut self.raw[kept..]);
            self.raw.truncate(kept + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return if kept == 0 {
                    Ok(0)
                } else {
                    Err(broken("the text ends within a character"))
                };
            }
            self.decode();
        }
        let ready = &self.text[self.position..];
        let bytes = ready.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&ready[..bytes]);
        self.position += bytes;
        Ok(bytes)
    }
}

impl Decoder {
    /// Turns all whole characters into text.
    fn decode(&mut self) {
        match self.encoding {
            Encoding::Utf8 => self.text.append(&mut self.raw),
            Encoding::Latin1 => {
                self.raw.drain(..).for_each(|byte| push(&mut self.text, char::from(byte)))
            }
            Encoding::Windows1252 => self.raw.drain(..).for_each(|byte| match byte {
                0x80..=0x9f => push(&mut self.text, WINDOWS_1252[usize::from(byte - 0x80)]),
                byte => push(&mut self.text, char::from(byte)),
            }),
            Encoding::Utf16Le => self.decode_units(u16::from_le_bytes),
            Encoding::Utf16Be => self.decode_units(u16::from_be_bytes),
        }
    }

    fn decode_units(&mut self, unit: fn([u8; 2]) -> u16) {
        let units = self.raw.as_chunks::<2>().0;
        let is_first_half = |pair: &[u8; 2]| (0xd800..0xdc00).contains(&unit(*pair));
        // The second half of a character may be still to come.
        let whole = units.len() - usize::from(units.last().is_some_and(is_first_half));
        for character in char::decode_utf16(units[..whole].iter().map(|pair| unit(*pair))) {
            match character {
                Ok(character) => push(&mut self.text, character),
                // Half a character, written as one, is not UTF-8: who reads it rejects its record.
                Err(half) => push_half(&mut self.text, half.unpaired_surrogate()),
            }
        }
        self.raw.drain(..whole * 2);
    }
}

fn push(text: &mut Vec<u8>, character: char) {
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

fn push_half(text: &mut Vec<u8>, half: u16) {
    let bits = |from: u32| 0x80 | (half >> from & 0x3f) as u8;
    text.extend_from_slice(&[0xe0 | (half >> 12) as u8, bits(6), bits(0)]);
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
