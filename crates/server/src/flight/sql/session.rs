//! Session options. arrow-flight 59 lacks these messages, so they are defined here.

use std::collections::HashMap;
use std::time::Duration;

use prost::Message;
use tonnage::{Error, Result};

use super::names::{CATALOG, SCHEMA};
use crate::auth::Caller;
use crate::context::ServerContext;
use crate::sessions::SessionOptions;

#[derive(Clone, PartialEq, Message)]
struct SessionOptionValue {
    #[prost(oneof = "SessionValue", tags = "1, 2, 3, 4, 5")]
    value: Option<SessionValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum SessionValue {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Truth(bool),
    #[prost(sfixed64, tag = "3")]
    Whole(i64),
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(message, tag = "5")]
    List(StringListValue),
}

#[derive(Clone, PartialEq, Message)]
struct StringListValue {
    #[prost(string, repeated, tag = "1")]
    values: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct SessionOptionMap {
    #[prost(map = "string, message", tag = "1")]
    options: HashMap<String, SessionOptionValue>,
}

#[derive(Clone, PartialEq, Message)]
struct SetSessionOptionsResult {
    #[prost(map = "string, message", tag = "1")]
    errors: HashMap<String, SetSessionOptionError>,
}

#[derive(Clone, PartialEq, Message)]
struct SetSessionOptionError {
    #[prost(int32, tag = "1")]
    value: i32,
}

#[derive(Clone, PartialEq, Message)]
struct CloseSessionResult {
    #[prost(int32, tag = "1")]
    status: i32,
}

const INVALID_NAME: i32 = 1;
const INVALID_VALUE: i32 = 2;
const CLOSED: i32 = 1;
const NOT_CLOSEABLE: i32 = 3;

/// Sets options, and gives the answer with the session's name.
pub(super) fn set(
    context: &ServerContext,
    caller: &Caller,
    body: &[u8],
) -> Result<(Vec<u8>, String)> {
    let asked = SessionOptionMap::decode(body).map_err(|error| {
        Error::invalid(format!("the options of the session cannot be read: {error}"))
    })?;
    let mut options = context.sessions.options(caller.session());
    let mut errors = HashMap::new();
    for (name, value) in asked.options {
        if let Err(value) = set_one(&mut options, &name, value.value) {
            errors.insert(name, SetSessionOptionError { value });
        }
    }
    let session = context.sessions.set(caller.session(), options)?;
    Ok((SetSessionOptionsResult { errors }.encode_to_vec(), session))
}

fn set_one(
    options: &mut SessionOptions,
    name: &str,
    value: Option<SessionValue>,
) -> std::result::Result<(), i32> {
    let is_text = |wanted: &str| matches!(&value, Some(SessionValue::Text(text)) if text == wanted);
    match name {
        // There is one of each.
        "catalog" if is_text(CATALOG) || value.is_none() => Ok(()),
        "schema" if is_text(SCHEMA) || value.is_none() => Ok(()),
        "timeout_ms" => {
            let milliseconds = match value {
                None => None,
                Some(SessionValue::Whole(number)) => {
                    Some(u64::try_from(number).or(Err(INVALID_VALUE))?)
                }
                Some(SessionValue::Text(text)) => Some(text.parse().or(Err(INVALID_VALUE))?),
                Some(_) => return Err(INVALID_VALUE),
            };
            options.timeout = milliseconds.filter(|number| *number > 0).map(Duration::from_millis);
            Ok(())
        }
        "catalog" | "schema" => Err(INVALID_VALUE),
        _ => Err(INVALID_NAME),
    }
}

/// The options of a session.
pub(super) fn get(context: &ServerContext, caller: &Caller) -> Vec<u8> {
    let options = context.sessions.options(caller.session());
    let text = |text: &str| SessionOptionValue { value: Some(SessionValue::Text(text.to_owned())) };
    let mut told =
        HashMap::from([("catalog".to_owned(), text(CATALOG)), ("schema".to_owned(), text(SCHEMA))]);
    if let Some(timeout) = options.timeout {
        let whole = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX);
        told.insert(
            "timeout_ms".to_owned(),
            SessionOptionValue { value: Some(SessionValue::Whole(whole)) },
        );
    }
    SessionOptionMap { options: told }.encode_to_vec()
}

/// Ends a session.
pub(super) fn close(context: &ServerContext, caller: &Caller) -> Vec<u8> {
    let status = if context.sessions.close(caller.session()) { CLOSED } else { NOT_CLOSEABLE };
    CloseSessionResult { status }.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_there_are_not_are_told_from_wrong_values() {
        let mut options = SessionOptions::default();
        let text = |text: &str| Some(SessionValue::Text(text.to_owned()));
        assert_eq!(set_one(&mut options, "catalog", text("tonnage")), Ok(()));
        assert_eq!(set_one(&mut options, "schema", text("other")), Err(INVALID_VALUE));
        assert_eq!(set_one(&mut options, "colour", text("red")), Err(INVALID_NAME));
        assert_eq!(set_one(&mut options, "timeout_ms", Some(SessionValue::Whole(1_500))), Ok(()));
        assert_eq!(options.timeout, Some(Duration::from_millis(1_500)));
        assert_eq!(set_one(&mut options, "timeout_ms", text("soon")), Err(INVALID_VALUE));
        assert_eq!(set_one(&mut options, "timeout_ms", None), Ok(()));
        assert_eq!(options.timeout, None);
    }
}
