//! VALUES whose columns have cells of several types.
//!
//! A text beside decimals is the number that it spells, and a day beside timestamps is one of them.
//!
//! The planner casts the doubles to decimals with 15 digits after the point: `0.1::DOUBLE / 3` lost
//! a digit beside `1.5`. Here such a column has doubles, as a union has. Marks of `text/values.rs`
//! are removed.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::type_coercion::binary::type_union_resolution;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, Values};

use super::moments;
use super::numbers::{NumberKind, to_double};
use super::text_reader::read_text;
use super::texts::{self, Part};
use crate::text::{MARK, TEXT_MARK};

/// VALUES with one type for each column that loses no digit of a cell.
///
/// # Errors
/// For a text that spells no value of the type of the others.
pub(super) fn with_one_type(values: Values) -> Result<Values> {
    let Values { schema, values: mut rows } = values;
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    let mut is_changed = false;
    for (place, field) in fields.iter_mut().enumerate() {
        let kind = field.data_type().clone();
        rows.iter_mut().for_each(|row| unmark_text(&mut row[place], &kind));
        if let Some(kind) = read_cells(&mut rows, place)? {
            *field = Arc::new(field.as_ref().clone().with_data_type(kind));
            is_changed = true;
        }
        // A cast around a double shows that the planner has cut it.
        let is_cut = |row: &Vec<Expr>| match &row[place] {
            Expr::Cast(cast) => kind_of(&cast.expr) == NumberKind::Float,
            _ => false,
        };
        if field.data_type().is_decimal() && rows.iter().any(is_cut) {
            for row in &mut rows {
                let cell = std::mem::take(&mut row[place]);
                row[place] = as_double(cell);
            }
            *field = Arc::new(field.as_ref().clone().with_data_type(DataType::Float64));
            is_changed = true;
        }
    }
    // Marks are removed from all columns: `as_double` was the last to need them.
    for cell in rows.iter_mut().flatten() {
        let marked = std::mem::take(cell);
        *cell = marked.transform_up(|part| Ok(remove_mark(part)))?.data;
    }
    let schema = match is_changed {
        true => Arc::new(DFSchema::try_from(Schema::new(fields))?),
        false => schema,
    };
    Ok(Values { schema, values: rows })
}

/// Reads texts beside other values, and makes timestamps of the days beside timestamps. Gives the
/// type of the column then.
fn read_cells(rows: &mut [Vec<Expr>], place: usize) -> Result<Option<DataType>> {
    // The planner casts where there are several types, so of several rows alone.
    if rows.len() < 2 || !rows.iter().any(|row| matches!(row[place], Expr::Cast(_))) {
        return Ok(None);
    }
    let empty = DFSchema::empty();
    let bare = |row: &Vec<Expr>| match &row[place] {
        Expr::Cast(cast) => cast.expr.as_ref().clone(),
        cell => cell.clone(),
    };
    let mut cells: Vec<Expr> = rows.iter().map(bare).collect();
    let mut parts: Vec<Part<'_>> = cells.iter_mut().map(|cell| (cell, &empty)).collect();
    let is_read = texts::choose(&mut parts)?;
    if !moments::choose(&mut parts) && !is_read {
        return Ok(None);
    }
    // NULL has the type that the planner has found before.
    let is_null = |cell: &Expr| matches!(cell, Expr::Literal(value, _) if value.is_null());
    let kinds = cells.iter().filter(|cell| !is_null(cell)).map(|cell| cell.get_type(&empty));
    let kinds = kinds.collect::<Result<Vec<DataType>>>()?;
    let Some(kind) = type_union_resolution(&kinds) else {
        return plan_err!(
            "VALUES have cells of the types {kinds:?} in one column: CAST them to one"
        );
    };
    for (row, cell) in rows.iter_mut().zip(cells) {
        row[place] = match is_null(&cell) {
            true => Expr::Literal(ScalarValue::try_from(&kind)?, None),
            false => cell.cast_to(&kind, &empty)?,
        };
    }
    Ok(Some(kind))
}

/// A marked text as a text that is cast to the type of the column. One with more digits than a
/// timestamp of that type is an error, and is not cut.
fn unmark_text(cell: &mut Expr, kind: &DataType) {
    let marked = match &mut *cell {
        Expr::Cast(cast) => cast.expr.as_mut(),
        cell => cell,
    };
    let text = match marked {
        Expr::ScalarFunction(call) if call.func.name() == TEXT_MARK && call.args.len() == 1 => {
            call.args.remove(0)
        }
        _ => return,
    };
    *cell = match kind {
        DataType::Timestamp(TimeUnit::Microsecond, None) => read_text(text, kind),
        kind => Expr::Cast(Cast::new(Box::new(text), kind.clone())),
    };
}

fn kind_of(value: &Expr) -> NumberKind {
    let kind = value.get_type(&DFSchema::empty());
    kind.map_or(NumberKind::Other, |kind| NumberKind::of(&kind))
}

/// A cell as a double, without the cast that the planner has put around it: a written one is
/// marked.
fn as_double(cell: Expr) -> Expr {
    let cell = match cell {
        Expr::Cast(Cast { expr, .. }) => *expr,
        cell => cell,
    };
    match kind_of(&cell) {
        NumberKind::Float => Expr::Cast(Cast::new(Box::new(cell), DataType::Float64)),
        _ => to_double(cell),
    }
}

fn remove_mark(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::ScalarFunction(mut call) if call.func.name() == MARK && call.args.len() == 1 => {
            Transformed::yes(call.args.remove(0))
        }
        part => Transformed::no(part),
    }
}
