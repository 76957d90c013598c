//! What a path passes on its way through a value: JSON as text, or a typed value.

use std::borrow::Cow;

use super::function::IndexFunction;
use super::json::{JsonScalar, push_scalar, scalar_of_text};
use super::path_step::{PathParts, PathStep};
use crate::schema::ColumnType;
use crate::value::Value;
use crate::value::json_text::{self, JsonKind};

/// A value on the way of a path.
#[derive(Clone, Debug)]
pub(super) enum Node<'v> {
    /// There is nothing here.
    Nothing,
    /// Text that is JSON.
    Json(&'v str),
    /// A value of a column, or a part of it.
    Value(&'v Value),
    /// The key of a map, or the name of a member.
    Key(Cow<'v, str>),
}

impl<'v> Node<'v> {
    /// The root of a stored value.
    pub(super) fn of(value: &'v Value) -> Self {
        match value {
            Value::Null => Node::Nothing,
            Value::Json(text) => Node::Json(text),
            value => Node::Value(value),
        }
    }

    /// Where names lead from here.
    pub(super) fn at(self, path: &[PathStep]) -> Self {
        path.iter().fold(self, |node, step| match step {
            PathStep::Name(name) => node.member(name),
            PathStep::Each(_) => Node::Nothing,
        })
    }

    fn member(self, name: &str) -> Self {
        match self {
            Node::Json(text) if JsonKind::of(text) == JsonKind::Object => {
                json_text::first_member(text.trim(), name).map_or(Node::Nothing, Node::Json)
            }
            // The names of fields are matched as those of columns are; keys are data.
            Node::Value(Value::Record(fields)) => {
                let field = fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
                field.map_or(Node::Nothing, |(_, value)| Node::of(value))
            }
            Node::Value(Value::Map(members)) => {
                let member = members.iter().find(|(own, _)| own == name);
                member.map_or(Node::Nothing, |(_, value)| Node::of(value))
            }
            _ => Node::Nothing,
        }
    }

    /// The parts that a step leads to, each with its key where it has one.
    pub(super) fn parts(self, parts: PathParts) -> Vec<(Node<'v>, Node<'v>)> {
        match parts {
            PathParts::Elements => {
                self.elements().into_iter().map(|element| (Node::Nothing, element)).collect()
            }
            PathParts::Keys | PathParts::Values => self.members(),
        }
    }

    fn elements(self) -> Vec<Node<'v>> {
        match self {
            Node::Nothing => Vec::new(),
            Node::Json(text) if JsonKind::of(text) == JsonKind::Array => {
                let items = json_text::items(text).unwrap_or_default();
                items.into_iter().map(Node::Json).collect()
            }
            Node::Value(Value::Array(items)) => items.iter().map(Node::of).collect(),
            single => vec![single],
        }
    }

    fn members(self) -> Vec<(Node<'v>, Node<'v>)> {
        match self {
            Node::Json(text) if JsonKind::of(text) == JsonKind::Object => {
                let members = json_text::named_members(text).into_iter();
                members.map(|(name, value)| (Node::Key(name.into()), Node::Json(value))).collect()
            }
            Node::Value(Value::Map(members) | Value::Record(members)) => members
                .iter()
                .map(|(name, value)| (Node::Key(Cow::Borrowed(name)), Node::of(value)))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Appends the cell of what is here, or of a function of it.
    pub(super) fn push_cell(&self, function: Option<&IndexFunction>, cell: &mut Vec<u8>) {
        let scalar = match self {
            Node::Nothing => JsonScalar::Null,
            Node::Json(text) => scalar_of_text(text.trim()).unwrap_or(JsonScalar::Null),
            Node::Key(key) => JsonScalar::Text(Cow::Borrowed(key)),
            Node::Value(value) => scalar_of_value(value),
        };
        match function {
            Some(function) => push_scalar(&function.of(&scalar), cell),
            None => push_scalar(&scalar, cell),
        }
    }
}

/// A typed value as a place in JSON would hold it. What JSON has no kind for is text.
fn scalar_of_value(value: &Value) -> JsonScalar<'_> {
    match value {
        Value::Null => JsonScalar::Null,
        Value::Boolean(value) => JsonScalar::Boolean(*value),
        Value::String(text) => JsonScalar::Text(Cow::Borrowed(text)),
        Value::Array(_) | Value::Map(_) | Value::Record(_) => JsonScalar::Nested,
        Value::Integer(_)
        | Value::Long(_)
        | Value::Float(_)
        | Value::Double(_)
        | Value::Number { .. }
        | Value::WideNumber(_) => match value.convert_to(ColumnType::Double) {
            Ok(Value::Double(number)) => JsonScalar::Number(number),
            // A number beyond all doubles.
            _ => JsonScalar::Null,
        },
        other => JsonScalar::Text(Cow::Owned(other.to_string())),
    }
}
