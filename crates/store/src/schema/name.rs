//! The names of tables, columns, fields and indexes.

use tonnage_engine::{Error, Result};

use super::NAME_BYTES_MAX;

/// Refuses what cannot be the name of a `what`.
pub(crate) fn check_name(name: &str, what: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::invalid(format!("the name of a {what} is empty")));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the name of {what} '{name}' is longer than {NAME_BYTES_MAX} bytes"
        )));
    }
    if name.contains('.') || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!(
            "the name of {what} '{}' holds a point or a control character",
            name.escape_debug()
        )));
    }
    Ok(())
}

/// The name as DDL reads it back, in double quotes where it needs them.
pub(crate) fn quoted_name(name: &str) -> String {
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_');
    if plain && !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name)) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// Words that a list of columns or a list of changes would take for something else.
const RESERVED: [&str; 6] = ["PRIMARY", "SHARD", "USING", "COLUMN", "IF", "TABLE"];
