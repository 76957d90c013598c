//! What is known of the kinds of values before a row is read.
//!
//! Only columns, their fields and constants have a known type: of everything else nothing is said,
//! and the evaluation decides.

use tonnage::{ColumnType, TableSchema};

use super::names::Names;
use crate::query::item::Item;
use crate::query::syntax::{Expr, ExprKind, Place, Step, StepKind};
use crate::wire::{Failure, Outcome};

/// Functions of sequences whose items have an order, or are numbers.
const OF_ATOMIC_ITEMS: [&str; 4] = ["seq_min", "seq_max", "seq_sum", "seq_avg"];

/// Checks one expression, whose names are found, and not what is inside it.
///
/// # Errors
/// What can be of no use for any row.
pub(super) fn check(names: &Names<'_>, expr: &Expr) -> Outcome<()> {
    match &expr.kind {
        ExprKind::Path(base, steps) => check_path(names, base, steps),
        ExprKind::Call(name, arguments) => {
            let known = |at: usize| arguments.get(at).and_then(|given| type_of(names, given));
            let needs_text = |at: usize| {
                known(at).is_some_and(|own| !matches!(own, ColumnType::String | ColumnType::Json))
            };
            let needs_number = |at: usize| known(at) == Some(ColumnType::String);
            let is_wrong = match name.as_str() {
                "regex_like" => needs_text(1) || needs_text(2),
                "substring" => needs_number(1) || needs_number(2),
                "index_of" => needs_number(2),
                name if OF_ATOMIC_ITEMS.contains(&name) => known(0).is_some_and(is_not_ordered),
                _ => false,
            };
            match is_wrong {
                true => Err(wrong_type(expr.place, &format!("an argument of {name}"))),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn is_not_ordered(own: ColumnType) -> bool {
    own.is_nested() || matches!(own, ColumnType::Binary | ColumnType::FixedBinary(_))
}

fn check_path(names: &Names<'_>, base: &Expr, steps: &[Step]) -> Outcome<()> {
    let mut own = type_of(names, base);
    for step in steps {
        match &step.kind {
            StepKind::Field(name) => {
                if let Some(ColumnType::Record(fields)) = own
                    && fields.field_index(name).is_none()
                {
                    return Err(Failure::argument(format!(
                        "Error: {} There is no field named {name} in type RECORD({fields})",
                        step.place
                    )));
                }
            }
            StepKind::Slice(from, to) => {
                let is_fraction = |end: &Option<Box<Expr>>| {
                    let known = end.as_deref().and_then(|end| type_of(names, end));
                    matches!(known, Some(ColumnType::Float | ColumnType::Double))
                };
                if is_fraction(from) || is_fraction(to) {
                    return Err(wrong_type(step.place, "an end of a slice"));
                }
            }
            _ => {}
        }
        own = own.and_then(|own| behind(own, step));
    }
    Ok(())
}

/// The type of what a step leads to.
fn behind(own: ColumnType, step: &Step) -> Option<ColumnType> {
    match (own, &step.kind) {
        (ColumnType::Record(fields), StepKind::Field(name)) => {
            fields.field_index(name).map(|at| fields.fields()[at].column_type)
        }
        (ColumnType::Map(element), StepKind::Field(_)) => Some(element.column_type()),
        _ => None,
    }
}

fn type_of(names: &Names<'_>, expr: &Expr) -> Option<ColumnType> {
    let of_column = |schema: &TableSchema, at: usize| Some(schema.columns[at].column_type);
    match &expr.kind {
        ExprKind::Column(at) => of_column(names.schema, *at),
        ExprKind::Constant(Item::String(_)) => Some(ColumnType::String),
        ExprKind::Constant(Item::Integer(_)) => Some(ColumnType::Integer),
        ExprKind::Path(base, steps) => {
            let (own, rest) = match (&base.kind, steps.split_first()) {
                (ExprKind::Unnested(slot), Some((step, rest))) => {
                    let joined = names.joined.iter().find(|joined| joined.slot == *slot)?;
                    let StepKind::Field(name) = &step.kind else { return None };
                    let at = joined.schema.column_index(name)?;
                    (of_column(joined.schema, at)?, rest)
                }
                _ => (type_of(names, base)?, &steps[..]),
            };
            rest.iter().try_fold(own, behind)
        }
        _ => None,
    }
}

#[cold]
fn wrong_type(place: Place, what: &str) -> Failure {
    Failure::argument(format!("Error: {place} {what} has a type that it cannot have"))
}
