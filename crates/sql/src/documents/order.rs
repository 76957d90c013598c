//! The order of documents, as bytes that sort like them.
//!
//! As in PostgreSQL: `null`, texts, numbers, truth values, arrays, objects. Numbers are ordered as
//! doubles; arrays and objects by how much is in them, then by how they are written.

use std::sync::Arc;

use arrow::array::BinaryBuilder;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::Expr;

use super::scan::{Kind, all_members, checked, items, string};
use crate::functions::{Gives, Scalar, text_of};

const ORDER: Scalar = Scalar {
    name: "_json_order",
    form: "ORDER BY document",
    count: (1, 1),
    gives: Gives::Type(|| DataType::Binary),
    work: |arguments| {
        let texts = arguments.texts(0)?;
        let mut keys = BinaryBuilder::with_capacity(arguments.rows, 16 * arguments.rows);
        let mut key = Vec::new();
        for row in 0..arguments.rows {
            match text_of(&texts, row) {
                Some(text) => {
                    key.clear();
                    write_key(checked(text)?, &mut key)?;
                    keys.append_value(&key);
                }
                None => keys.append_null(),
            }
        }
        Ok(Arc::new(keys.finish()))
    },
};

pub(super) const ALL: [Scalar; 1] = [ORDER];

/// A call that gives what a document is ordered by.
pub(crate) fn order_of(document: Expr) -> Expr {
    ORDER.call(vec![document])
}

fn write_key(text: &str, key: &mut Vec<u8>) -> Result<()> {
    match Kind::of(text) {
        Kind::Null => key.push(0),
        Kind::String => {
            key.push(1);
            key.extend_from_slice(string(text)?.as_bytes());
        }
        Kind::Number => {
            key.push(2);
            key.extend_from_slice(&sortable(text.trim().parse().unwrap_or(f64::NAN)));
        }
        Kind::Boolean => key.extend_from_slice(&[3, u8::from(text.trim() == "true")]),
        Kind::Array => write_container(4, items(text)?.len(), text, key),
        Kind::Object => write_container(5, all_members(text)?.len(), text, key),
    }
    Ok(())
}

fn write_container(rank: u8, count: usize, text: &str, key: &mut Vec<u8>) {
    key.push(rank);
    key.extend_from_slice(&(count as u64).to_be_bytes());
    key.extend_from_slice(text.trim().as_bytes());
}

/// The bits of a double, turned so that bytes compare as numbers do.
fn sortable(number: f64) -> [u8; 8] {
    // `-0` and `0` are one number.
    let bits = (number + 0.0).to_bits();
    let turned = if bits >> 63 == 1 { !bits } else { bits | (1 << 63) };
    turned.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        write_key(text, &mut key).unwrap();
        key
    }

    #[test]
    fn documents_sort_by_kind_and_numbers_by_value() {
        let sorted = [
            "null",
            r#""""#,
            r#""10""#,
            r#""9""#,
            r#""a""#,
            "-1e3",
            "-2",
            "0",
            "9",
            "10",
            "1e2",
            "false",
            "true",
            "[]",
            "[1]",
            "[9,1]",
            "{}",
            r#"{"a":1}"#,
        ];
        for pair in sorted.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{} before {}", pair[0], pair[1]);
        }
        assert_eq!(key("-0"), key("0.0"));
        assert_eq!(key(" 1.0 "), key("1"));
        assert_eq!(key(r#""\u0041""#), key(r#""A""#));
    }
}
