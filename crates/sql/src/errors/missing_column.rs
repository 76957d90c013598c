//! What is said of a column that is not there, or there several times.

use std::collections::HashSet;

use datafusion::common::{Column, TableReference};

use super::missing_member::MissingMember;
use super::nearest::nearest;
use crate::access::{EXPIRY, VERSION};

/// The words that the store has for a table that is not there.
pub(crate) fn no_column(field: &Column, valid: &[Column]) -> String {
    let Some(member) = MissingMember::of_column(field) else { return not_found(field, valid) };
    let is_table = |table: &TableReference| table.table() == member.column;
    // A table may be called like a column: then the name after it was meant for a column.
    match valid.iter().filter_map(|column| column.relation.as_ref()).any(is_table) {
        true => {
            let table = TableReference::bare(member.column.as_str());
            not_found(&Column::new(Some(table), member.names.join(".")), valid)
        }
        false => member.message(),
    }
}

fn not_found(field: &Column, valid: &[Column]) -> String {
    /// A column by another name than this is no slip of the finger.
    const LIKENESS_MIN: f64 = 0.5;
    let mut seen = HashSet::new();
    // The hidden columns are in every table: listing them would not help.
    let valid: Vec<&Column> = valid
        .iter()
        .filter(|column| ![VERSION, EXPIRY].contains(&column.name.as_str()))
        .filter(|column| seen.insert(column.flat_name()))
        .collect();
    let nearest =
        nearest(&field.name, LIKENESS_MIN, valid.iter().map(|column| column.name.as_str()));
    let nearest = nearest.and_then(|name| valid.iter().find(|column| column.name == name));
    // Names of tables help where there are several.
    let is_one_table = valid.windows(2).all(|pair| pair[0].relation == pair[1].relation);
    let told = |column: &Column| match &column.relation {
        Some(table) if !is_one_table => format!("{table}.{}", as_typed(&column.name)),
        _ => as_typed(&column.name),
    };
    let mut message = format!("there is no column {}", field.flat_name());
    if let Some(nearest) = nearest {
        message.push_str(&format!("; did you mean {}?", told(nearest)));
    }
    if !valid.is_empty() {
        let names: Vec<String> = valid.iter().map(|column| told(column)).collect();
        message.push_str(&format!("; the columns are {}", names.join(", ")));
    }
    message
}

/// What is wrong with a name that several columns have; `meant` lists them, as far as they are
/// known.
pub(crate) fn ambiguous(name: &str, meant: &[String]) -> String {
    let mut message =
        format!("column {name} is ambiguous: several tables have one; write its table before it");
    if !meant.is_empty() {
        message.push_str(&format!(", as in {}", meant.join(" or ")));
    }
    message
}

/// A name of a column in double quotes, where it must be typed so.
pub(crate) fn as_typed(name: &str) -> String {
    let mut letters = name.chars();
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_';
    let is_plain = letters.next().is_some_and(is_first)
        && letters.all(|letter| is_first(letter) || letter.is_ascii_digit());
    match is_plain {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_they_are_typed() {
        let columns = ["id", "customer name"].map(|name| Column::new(Some("t"), name));
        assert_eq!(
            no_column(&Column::new_unqualified("customer_name"), &columns),
            "there is no column customer_name; did you mean \"customer name\"?; the columns are id, \"customer name\""
        );
    }

    #[test]
    fn a_table_may_be_called_like_a_column() {
        let member = MissingMember {
            column: "c".to_owned(),
            column_type: "LONG".to_owned(),
            names: vec!["id".to_owned()],
        };
        let column = Column::new(Some("c"), "c");
        let told = no_column(&member.to_column(column.relation.as_ref()), &[column]);
        assert_eq!(told, "there is no column c.id; the columns are c");
    }
}
