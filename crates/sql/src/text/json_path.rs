//! Paths into JSON documents as other databases write them: `'$.a.b[0]'`, and `'{a,b}'` after `#>`
//! and `#>>`.
//!
//! The functions that read documents know keys and indices, one each. To them such a path would be
//! the name of a single member.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};
use tonnage::{Error, Result};

use super::call::{arguments, call};
use crate::documents::path_text::path_steps;

/// The functions on documents, whose first argument is the document; of `json_set` the last one is
/// the new value.
fn is_on_documents(name: &str) -> bool {
    name == "json_set"
        || name == "json_as_text"
        || name == "json_length"
        || name == "json_contains"
        || name == "json_object_keys"
        || name.starts_with("json_get")
}

/// An operator on documents whose path is written in one piece, step by step.
pub(super) fn stepwise(expr: &Expr) -> Result<Option<Expr>> {
    if let Expr::BinaryOp { left, op, right } = expr {
        return operator(left, op, right);
    }
    let Some((name, given)) = arguments(expr).filter(|(name, _)| is_on_documents(name)) else {
        return Ok(None);
    };
    let values = usize::from(name == "json_set");
    if given.len() < 2 + values {
        return Ok(None);
    }
    let places = &given[1..given.len() - values];
    // Only a `$` makes a path of a text: a key may have points and brackets of its own.
    let Some(path) = places.iter().find_map(|place| text(place).filter(|text| is_path(text)))
    else {
        return Ok(None);
    };
    // Beside other steps such a text may be a key or a path: a guess might read another member.
    if places.len() > 1 {
        return Err(Error::unsupported(format!(
            "{name} takes '{path}' by itself: one path, or keys and indices one by one"
        )));
    }
    let steps = steps(path)?;
    if steps.is_empty() {
        return Err(Error::unsupported(format!(
            "{name} takes keys and indices: the path '{path}' names none"
        )));
    }
    let first = std::iter::once(given[0].clone());
    Ok(Some(call(
        &name,
        first
            .chain(steps)
            .chain(given[given.len() - values..].iter().map(|value| (*value).clone())),
    )))
}

fn operator(left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<Option<Expr>> {
    let (last, mut steps) = match (op, text(right)) {
        (BinaryOperator::Arrow | BinaryOperator::LongArrow, Some(path)) if is_path(path) => {
            (op.clone(), steps(path)?)
        }
        (BinaryOperator::HashArrow, Some(path)) => (BinaryOperator::Arrow, listed(path)?),
        (BinaryOperator::HashLongArrow, Some(path)) => (BinaryOperator::LongArrow, listed(path)?),
        (BinaryOperator::HashArrow | BinaryOperator::HashLongArrow, None) => {
            // Steps are written out before planning, which is too soon for a path that is computed.
            return Err(Error::unsupported(format!(
                "{op} takes a path in quotes, such as '{{a,b}}'"
            )));
        }
        _ => return Ok(None),
    };
    // A choice between such values cannot be taken back to a document: there a number is an index.
    if is_choice(left)
        && let Some(first) = steps.first_mut()
        && let Some(index) = text(first).and_then(|name| name.parse().ok())
    {
        *first = place(index);
    }
    let Some((end, inner)) = steps.split_last() else {
        return Err(Error::unsupported(format!(
            "{op} needs a path of at least one step: {right} names the document itself"
        )));
    };
    let step = |document: Expr, step: &Expr, op| Expr::BinaryOp {
        left: Box::new(document),
        op,
        right: Box::new(step.clone()),
    };
    let may_be_place = |name: &str| name.parse::<isize>().is_ok();
    let start = match steps.first().and_then(text).is_some_and(may_be_place) {
        true => behind_computed_step(left),
        false => left.clone(),
    };
    // All steps but the last use `->`: the text that `->>` gives has no members.
    let document =
        inner.iter().fold(start, |document, next| step(document, next, BinaryOperator::Arrow));
    Ok(Some(step(document, end, last)))
}

/// What `->` leads to, as the text of a document where that step is computed. Otherwise it would be
/// a value that holds arrays apart from objects, and a step by name looks among the objects alone.
fn behind_computed_step(document: &Expr) -> Expr {
    match unnested(document) {
        // A literal step and those after it become one call, which begins at the document.
        Expr::BinaryOp { left, op: BinaryOperator::Arrow, right } if !is_literal(right) => {
            call("json_get_json", [left.as_ref().clone(), right.as_ref().clone()])
        }
        _ => document.clone(),
    }
}

/// `coalesce(doc->'a', doc->'b')`
fn is_choice(document: &Expr) -> bool {
    matches!(unnested(document), Expr::Function(_) | Expr::Case { .. })
}

fn unnested(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => unnested(inner),
        expr => expr,
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Value(ValueWithSpan { value, .. }) if !matches!(value, Value::Placeholder(_))
    )
}

fn text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => Some(text),
        _ => None,
    }
}

/// Whether a text is a path and not the name of a member: such names begin with `$` as well
/// (`$ref`).
pub(crate) fn is_path(text: &str) -> bool {
    text == "$" || text.starts_with("$.") || text.starts_with("$[")
}

/// The steps of `$.a."b c"[0]`.
fn steps(path: &str) -> Result<Vec<Expr>> {
    let broken = || {
        Error::unsupported(format!(
            "the path '{path}': write keys and indices, such as '$.a.\"b c\"[0]'"
        ))
    };
    // Callers have checked `is_path`: the text begins with `$`.
    let (mut steps, mut rest) = (Vec::new(), &path[1..]);
    while !rest.is_empty() {
        let (step, after) = if let Some(quoted) = rest.strip_prefix(".\"") {
            let (name, after) = quoted.split_once('"').ok_or_else(broken)?;
            (key(name), after)
        } else if let Some(named) = rest.strip_prefix('.') {
            let end = named.find(['.', '[']).unwrap_or(named.len());
            let name = &named[..end];
            // A wildcard names several members, and these functions read one.
            if name.is_empty() || name.contains('*') {
                return Err(broken());
            }
            (key(name), &named[end..])
        } else {
            let (index, after) =
                rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(broken)?;
            let index: u32 = index.trim().parse().map_err(|_| broken())?;
            (place(index), after)
        };
        steps.push(step);
        rest = after;
    }
    Ok(steps)
}

/// The steps of `{a,"b,c",0}`, a list of texts as PostgreSQL writes it. All are keys: a number is a
/// index in an array, and a name in an object.
fn listed(path: &str) -> Result<Vec<Expr>> {
    let steps = path_steps(path).map_err(Error::invalid)?;
    Ok(steps.iter().map(|name| key(name)).collect())
}

fn key(name: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(name.to_owned()))
}

fn place(index: u32) -> Expr {
    Expr::value(Value::Number(index.to_string(), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(steps: Vec<Expr>) -> String {
        steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!(shown(steps("$.a.\"b c\"[10].d").unwrap()), "'a' 'b c' 10 'd'");
        assert_eq!(shown(listed("{a, 0,-1,\"1\"}").unwrap()), "'a' '0' '-1' '1'");
        assert!(is_path("$[0]") && !is_path("$ref") && !is_path("a.b"));
    }

    #[test]
    fn what_is_no_plain_path_is_refused() {
        for path in ["$..a", "$.a[*]", "$.*", "$.a[-1]", "$.a[0", "$a.b"] {
            assert!(steps(path).is_err(), "{path}");
        }
        assert!(listed("a,b").is_err() && listed("{{a}}").is_err() && listed("{a,NULL}").is_err());
    }
}
