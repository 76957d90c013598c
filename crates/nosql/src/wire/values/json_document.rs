//! JSON text as a document, without a tree between.

use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use crate::nson::NsonWriter;

/// Writes the document of a JSON text. Text that is none, which no column holds, becomes a string,
/// and so do documents that lie too deep in each other.
pub(super) fn write_document(text: &str, out: &mut NsonWriter) {
    let mark = out.mark();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_any(DocumentVisitor(out)).and_then(|()| reader.end());
    if read.is_err() {
        out.rewind(mark);
        out.string(text);
    }
}

/// Writes the members of a JSON text as fields of the map that is being written. Text that has none
/// becomes one field of that name.
pub(super) fn write_members(text: &str, name: &str, out: &mut NsonWriter) {
    let mark = out.mark();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_map(MembersVisitor(out)).and_then(|()| reader.end());
    if read.is_err() {
        out.rewind(mark);
        write_document(text, out.field(name));
    }
}

/// Writes the members of a map, and refuses everything else.
struct MembersVisitor<'w>(&'w mut NsonWriter);

impl<'de> Visitor<'de> for MembersVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            self.0.field(&name);
            members.next_value_seed(DocumentVisitor(&mut *self.0))?;
        }
        Ok(())
    }
}

/// Writes what it visits.
struct DocumentVisitor<'w>(&'w mut NsonWriter);

impl<'de> DeserializeSeed<'de> for DocumentVisitor<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DocumentVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<(), E> {
        self.0.boolean(truth);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        match i32::try_from(number) {
            Ok(number) => self.0.integer(number),
            Err(_) => self.0.long(number),
        }
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<(), E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => {
                self.0.number(&number.to_string());
                Ok(())
            }
        }
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.0.double(number);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.string(text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.json_null();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.begin_array();
        while items.next_element_seed(DocumentVisitor(&mut *self.0))?.is_some() {}
        self.0.end();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        self.0.begin_map();
        MembersVisitor(&mut *self.0).visit_map(members)?;
        self.0.end();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::json_text::json_text;
    use super::*;
    use crate::nson::{NsonView, read_document};

    fn document(text: &str) -> Vec<u8> {
        let mut out = NsonWriter::default();
        write_document(text, &mut out);
        out.finish()
    }

    #[test]
    fn a_document_keeps_its_kinds_and_the_order_of_its_keys() {
        for text in [
            r#"{"z":1,"a":1099511627776,"M":3.0,"n":null,"m":{},"l":[],"x":{"y":[1,[2,null]]}}"#,
            r#""a\u0000\"é😀""#,
            "[true,false,-5,1e300]",
            "null",
        ] {
            let bytes = document(text);
            let again = json_text(read_document(&bytes).unwrap()).unwrap();
            let value = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&again), value(text));
        }
        assert_eq!(read_document(&document("3.0")), Ok(NsonView::Double(3.0)));
        assert_eq!(read_document(&document("3")), Ok(NsonView::Integer(3)));
        assert_eq!(read_document(&document("null")), Ok(NsonView::JsonNull));
    }

    #[test]
    fn members_become_fields_and_what_has_none_becomes_one() {
        for (text, expected) in [
            (r#"{"a":1,"b":[{}]}"#, r#"{"id":7,"a":1,"b":[{}]}"#),
            ("{}", r#"{"id":7}"#),
            ("[1]", r#"{"id":7,"document":[1]}"#),
            (r#"{"a":1"#, r#"{"id":7,"document":"{\"a\":1"}"#),
        ] {
            let mut out = NsonWriter::default();
            out.begin_map();
            out.field("id").integer(7);
            write_members(text, "document", &mut out);
            out.end();
            let bytes = out.finish();
            assert_eq!(json_text(read_document(&bytes).unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn text_that_is_no_json_does_no_harm() {
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        for text in ["", "{", "[1,", "{\"a\":1}}", &"[".repeat(100_000), &deep] {
            let mut out = NsonWriter::default();
            out.begin_array();
            write_document(text, &mut out);
            out.end();
            let bytes = out.finish();
            let NsonView::Array(mut items) = read_document(&bytes).unwrap() else { panic!() };
            assert_eq!((items.next(), items.next()), (Some(NsonView::String(text)), None));
        }
    }
}
