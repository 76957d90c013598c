//! What is known of the kinds of values before a row is read.
//!
//! Only columns, their fields and constants have a known type: of everything else nothing is said,
//! and the evaluation decides.

use tonnage::ColumnType;

use crate::query::item::Item;
use crate::query::syntax::{Expr, ExprKind, Place, Step, StepKind};
use crate::wire::{Failure, Outcome};

/// What is known of the tables of a statement.
pub(super) trait KnownTypes {
    /// The type of a column of the first table.
    fn column_type(&self, column: usize) -> ColumnType;

    /// The type of a column of the further table whose row has that position among the items of
    /// FROM.
    fn joined_type(&self, slot: usize, column: &str) -> Option<ColumnType>;
}

/// Functions of sequences whose items have an order, or are numbers.
const OF_ATOMIC_ITEMS: [&str; 4] = ["seq_min", "seq_max", "seq_sum", "seq_avg"];

/// Checks one expression, whose names are found, and not what is inside it.
///
/// # Errors
/// What can be of no use for any row.
pub(super) fn check(names: &dyn KnownTypes, expr: &Expr) -> Outcome<()> {
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

fn check_path(names: &dyn KnownTypes, base: &Expr, steps: &[Step]) -> Outcome<()> {
    let mut own = type_of(names, base);
    for step in steps {
        match &step.kind {
            // A MAP may have any key, and a document any member.
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
            // A fraction is not a position; what is not known may be a whole number.
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

fn type_of(names: &dyn KnownTypes, expr: &Expr) -> Option<ColumnType> {
    match &expr.kind {
        ExprKind::Column(at) => Some(names.column_type(*at)),
        ExprKind::Constant(Item::String(_)) => Some(ColumnType::String),
        ExprKind::Constant(Item::Integer(_)) => Some(ColumnType::Integer),
        ExprKind::Path(base, steps) => {
            let (own, rest) = match (&base.kind, steps.split_first()) {
                // The row of a further table has columns as its fields.
                (ExprKind::Unnested(slot), Some((step, rest))) => {
                    let StepKind::Field(name) = &step.kind else { return None };
                    (names.joined_type(*slot, name)?, rest)
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
