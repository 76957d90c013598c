//! Values where they lie.

use super::cursor::NsonCursor;
use super::fault::NsonFault;
use super::kind;

/// A value of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NsonView<'d> {
    /// Values in order.
    Array(NsonItems<'d>),
    /// Bytes.
    Binary(&'d [u8]),
    /// True or false.
    Boolean(bool),
    /// A floating-point number of 64 bits.
    Double(f64),
    /// A whole number of 32 bits.
    Integer(i32),
    /// A whole number of 64 bits.
    Long(i64),
    /// Values by name.
    Map(NsonFields<'d>),
    /// Text.
    String(&'d str),
    /// A timestamp, as ISO 8601 writes it.
    Timestamp(&'d str),
    /// A decimal number, written out.
    Number(&'d str),
    /// The null of a JSON document.
    JsonNull,
    /// No value.
    Null,
    /// No item at all.
    Empty,
}

/// The elements of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NsonItems<'d> {
    pub(super) contents: &'d [u8],
    pub(super) left: u32,
}

/// The fields of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NsonFields<'d> {
    pub(super) contents: &'d [u8],
    pub(super) left: u32,
}

impl<'d> NsonView<'d> {
    /// The name of its kind, as errors have it.
    pub fn kind_name(&self) -> &'static str {
        match self {
            NsonView::Array(_) => "ARRAY",
            NsonView::Binary(_) => "BINARY",
            NsonView::Boolean(_) => "BOOLEAN",
            NsonView::Double(_) => "DOUBLE",
            NsonView::Integer(_) => "INTEGER",
            NsonView::Long(_) => "LONG",
            NsonView::Map(_) => "MAP",
            NsonView::String(_) => "STRING",
            NsonView::Timestamp(_) => "TIMESTAMP",
            NsonView::Number(_) => "NUMBER",
            NsonView::JsonNull => "JSON_NULL",
            NsonView::Null => "NULL",
            NsonView::Empty => "EMPTY",
        }
    }

    /// Whether it means no value.
    pub fn is_null(&self) -> bool {
        matches!(self, NsonView::Null | NsonView::JsonNull | NsonView::Empty)
    }

    /// The fields of a map.
    pub fn fields(&self) -> Option<NsonFields<'d>> {
        if let NsonView::Map(fields) = self { Some(*fields) } else { None }
    }

    /// A text.
    pub fn text(&self) -> Option<&'d str> {
        if let NsonView::String(text) = self { Some(*text) } else { None }
    }

    /// A whole number of either kind.
    pub fn whole(&self) -> Option<i64> {
        match self {
            NsonView::Integer(number) => Some((*number).into()),
            NsonView::Long(number) => Some(*number),
            _ => None,
        }
    }

    /// True or false.
    pub fn truth(&self) -> Option<bool> {
        if let NsonView::Boolean(truth) = self { Some(*truth) } else { None }
    }

    /// Bytes.
    pub fn bytes(&self) -> Option<&'d [u8]> {
        if let NsonView::Binary(bytes) = self { Some(*bytes) } else { None }
    }
}

impl<'d> Iterator for NsonItems<'d> {
    type Item = NsonView<'d>;

    fn next(&mut self) -> Option<NsonView<'d>> {
        self.left = self.left.checked_sub(1)?;
        let mut cursor = NsonCursor::new(self.contents);
        // The bytes were looked at before: this does not fail.
        let item = read_value(&mut cursor).ok()?;
        self.contents = cursor.rest;
        Some(item)
    }
}

impl<'d> Iterator for NsonFields<'d> {
    type Item = (&'d str, NsonView<'d>);

    fn next(&mut self) -> Option<(&'d str, NsonView<'d>)> {
        self.left = self.left.checked_sub(1)?;
        let mut cursor = NsonCursor::new(self.contents);
        let field = (cursor.text().ok()?, read_value(&mut cursor).ok()?);
        self.contents = cursor.rest;
        Some(field)
    }
}

impl<'d> NsonFields<'d> {
    /// The value of the first field of that name.
    pub fn get(mut self, name: &str) -> Option<NsonView<'d>> {
        self.find_map(|(field, value)| (field == name).then_some(value))
    }
}

/// The next value. The content of an array or a map is not checked.
pub(super) fn read_value<'d>(cursor: &mut NsonCursor<'d>) -> Result<NsonView<'d>, NsonFault> {
    Ok(match cursor.byte()? {
        kind::ARRAY => {
            let (contents, left) = cursor.container()?;
            NsonView::Array(NsonItems { contents, left })
        }
        kind::MAP => {
            let (contents, left) = cursor.container()?;
            NsonView::Map(NsonFields { contents, left })
        }
        kind::BINARY => NsonView::Binary(cursor.sized()?),
        kind::BOOLEAN => NsonView::Boolean(cursor.byte()? != 0),
        kind::DOUBLE => NsonView::Double(f64::from_be_bytes(cursor.array()?)),
        kind::INTEGER => {
            let number = i32::try_from(cursor.packed()?).map_err(|_| NsonFault::Number)?;
            NsonView::Integer(number)
        }
        kind::LONG => NsonView::Long(cursor.packed()?),
        kind::STRING => NsonView::String(cursor.text()?),
        kind::TIMESTAMP => NsonView::Timestamp(cursor.text()?),
        kind::NUMBER => NsonView::Number(cursor.text()?),
        kind::JSON_NULL => NsonView::JsonNull,
        kind::NULL => NsonView::Null,
        kind::EMPTY => NsonView::Empty,
        other => return Err(NsonFault::UnknownKind(other)),
    })
}
