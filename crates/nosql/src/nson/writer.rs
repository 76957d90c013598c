//! Writes documents.

use super::kind;
use super::packed::write_packed;

/// Writes one document from its beginning to its end.
///
/// ```
/// use tonnage_nosql::nson::{NsonView, NsonWriter, read_document};
///
/// let mut writer = NsonWriter::default();
/// writer.begin_map();
/// writer.field("e").integer(0);
/// writer.end();
/// let bytes = writer.finish();
/// let fields = read_document(&bytes)?.fields().expect("a map");
/// assert_eq!(fields.get("e"), Some(NsonView::Integer(0)));
/// # Ok::<(), tonnage_nosql::nson::NsonFault>(())
/// ```
#[derive(Debug, Default)]
pub struct NsonWriter {
    out: Vec<u8>,
    open: Vec<OpenContainer>,
}

/// An array or a map whose end is still to come.
#[derive(Debug)]
struct OpenContainer {
    /// The position of its size.
    at: usize,
    count: u32,
    is_map: bool,
}

/// A place in a document that is being written.
#[derive(Clone, Copy, Debug)]
pub struct NsonMark {
    len: usize,
    open: usize,
    count: u32,
}

impl NsonWriter {
    /// The place that is written next, to come back to.
    pub fn mark(&self) -> NsonMark {
        let count = self.open.last().map_or(0, |open| open.count);
        NsonMark { len: self.out.len(), open: self.open.len(), count }
    }

    /// Takes back all that was written since.
    pub fn rewind(&mut self, mark: NsonMark) {
        self.out.truncate(mark.len);
        self.open.truncate(mark.open);
        if let Some(open) = self.open.last_mut() {
            open.count = mark.count;
        }
    }

    /// How many bytes there are by now.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The document. Arrays and maps that are open end here.
    pub fn finish(mut self) -> Vec<u8> {
        while !self.open.is_empty() {
            self.end();
        }
        self.out
    }

    /// Begins a map: its fields follow, up to [`NsonWriter::end`].
    pub fn begin_map(&mut self) {
        self.begin(kind::MAP, true);
    }

    /// Begins an array: its elements follow, up to [`NsonWriter::end`].
    pub fn begin_array(&mut self) {
        self.begin(kind::ARRAY, false);
    }

    /// Ends the map or the array that was begun last.
    pub fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let size = self.out.len() - open.at - 4;
        // Longer documents are refused before: bodies are bounded far below.
        let size = i32::try_from(size).unwrap_or(i32::MAX);
        self.out[open.at..open.at + 4].copy_from_slice(&size.to_be_bytes());
        self.out[open.at + 4..open.at + 8].copy_from_slice(&open.count.to_be_bytes());
    }

    /// Names the value of a map that comes next.
    pub fn field(&mut self, name: &str) -> &mut Self {
        if let Some(map) = self.open.last_mut() {
            map.count += 1;
        }
        self.sized(name.as_bytes());
        self
    }

    /// Writes bytes.
    pub fn binary(&mut self, bytes: &[u8]) {
        self.kind(kind::BINARY);
        self.sized(bytes);
    }

    /// Writes true or false.
    pub fn boolean(&mut self, truth: bool) {
        self.kind(kind::BOOLEAN);
        self.out.push(truth.into());
    }

    /// Writes a floating-point number.
    pub fn double(&mut self, number: f64) {
        self.kind(kind::DOUBLE);
        self.out.extend_from_slice(&number.to_be_bytes());
    }

    /// Writes a whole number of 32 bits.
    pub fn integer(&mut self, number: i32) {
        self.kind(kind::INTEGER);
        write_packed(number.into(), &mut self.out);
    }

    /// Writes a whole number of 64 bits.
    pub fn long(&mut self, number: i64) {
        self.kind(kind::LONG);
        write_packed(number, &mut self.out);
    }

    /// Writes text.
    pub fn string(&mut self, text: &str) {
        self.kind(kind::STRING);
        self.sized(text.as_bytes());
    }

    /// Writes a timestamp, as ISO 8601 has it.
    pub fn timestamp(&mut self, text: &str) {
        self.kind(kind::TIMESTAMP);
        self.sized(text.as_bytes());
    }

    /// Writes a decimal number, written out.
    pub fn number(&mut self, text: &str) {
        self.kind(kind::NUMBER);
        self.sized(text.as_bytes());
    }

    /// Writes the null of a JSON document.
    pub fn json_null(&mut self) {
        self.kind(kind::JSON_NULL);
    }

    /// Writes that there is no value.
    pub fn null(&mut self) {
        self.kind(kind::NULL);
    }

    /// Writes that there is no item at all.
    pub fn empty(&mut self) {
        self.kind(kind::EMPTY);
    }

    fn begin(&mut self, kind: u8, is_map: bool) {
        self.kind(kind);
        self.open.push(OpenContainer { at: self.out.len(), count: 0, is_map });
        // Size and number of elements are known at the end.
        self.out.extend_from_slice(&[0; 8]);
    }

    fn kind(&mut self, kind: u8) {
        // Fields of maps were counted with their names.
        if let Some(array) = self.open.last_mut().filter(|open| !open.is_map) {
            array.count += 1;
        }
        self.out.push(kind);
    }

    fn sized(&mut self, bytes: &[u8]) {
        write_packed(bytes.len() as i64, &mut self.out);
        self.out.extend_from_slice(bytes);
    }
}
