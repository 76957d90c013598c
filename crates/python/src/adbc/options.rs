//! Values of options.

use adbc_core::error::Result;
use adbc_core::options::OptionValue;

use super::error::invalid;

/// The text of an option.
pub(super) fn text(name: &str, value: OptionValue) -> Result<String> {
    match value {
        OptionValue::String(text) => Ok(text),
        OptionValue::Int(number) => Ok(number.to_string()),
        _ => Err(invalid(format!("the option {name} is a text"))),
    }
}

/// The truth of an option.
pub(super) fn truth(name: &str, value: OptionValue) -> Result<bool> {
    match text(name, value)?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(invalid(format!("the option {name} is '{other}': give 'true' or 'false'"))),
    }
}
