//! Why bytes are not a document.

use std::fmt;

/// How deep arrays and maps may lie in each other.
pub const DEPTH_MAX: usize = 64;

/// Why bytes are not a document of NSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NsonFault {
    /// No value has a kind of this number.
    UnknownKind(u8),
    /// The bytes end before their value does.
    CutOff {
        /// How many bytes were still to come.
        wanted: usize,
        /// How many there were.
        left: usize,
    },
    /// A packed whole number is cut off, or too large for its kind.
    Number,
    /// A length or a number of elements that cannot be.
    Length(i64),
    /// The elements of an array or a map take less than the bytes that it has.
    Size {
        /// The number of bytes after the last element.
        behind: usize,
    },
    /// A text is not UTF-8.
    Text,
    /// Values lie too deep in each other.
    Depth,
}

impl fmt::Display for NsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NsonFault::UnknownKind(kind) => write!(f, "Unknown value type code: {kind}"),
            NsonFault::CutOff { wanted, left } => {
                write!(f, "Invalid length value, length is {wanted}, but maximum bytes is {left}")
            }
            NsonFault::Number => f.write_str("Invalid packed int"),
            NsonFault::Length(length) => write!(f, "Invalid length value, length is {length}"),
            NsonFault::Size { behind } => {
                write!(f, "Invalid size of an array or a map: {behind} bytes follow its end")
            }
            NsonFault::Text => f.write_str("Invalid text: it is not UTF-8"),
            NsonFault::Depth => {
                write!(f, "Invalid document: values lie more than {DEPTH_MAX} deep in each other")
            }
        }
    }
}

impl std::error::Error for NsonFault {}
