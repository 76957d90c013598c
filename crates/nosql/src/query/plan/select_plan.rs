//! A SELECT whose names are found.

use std::sync::Arc;

use tonnage::TableSchema;

use super::columns_used::UsedColumns;
use super::grouping::{Aggregate, has_aggregate, lift};
use super::names::Names;
use crate::query::syntax::{
    Expr, ExprKind, FromItem, Limits, Select, SelectList, SortKey, VariableDeclaration,
};
use crate::wire::{Failure, Outcome};

/// What is given for each row or group, by name. One without a name gives the fields of the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutputList {
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) exprs: Vec<Expr>,
}

/// A SELECT that can be run.
#[derive(Clone, Debug)]
pub(crate) struct SelectPlan {
    pub(crate) output: OutputList,
    pub(crate) is_distinct: bool,
    pub(crate) from: Vec<FromItem>,
    pub(crate) filter: Option<Expr>,
    pub(crate) keys: Vec<Expr>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) is_grouped: bool,
    pub(crate) order: Vec<SortKey>,
    pub(crate) limits: Limits,
    pub(crate) used: UsedColumns,
}

impl SelectPlan {
    /// # Errors
    /// Names that mean nothing, and groups that do not have what is asked of them.
    pub(crate) fn of(
        select: &Select,
        schema: &TableSchema,
        variables: &[VariableDeclaration],
    ) -> Outcome<Self> {
        let mut names = Names { schema, table: &select.table, variables, unnested: Vec::new() };
        let mut from = select.from.clone();
        // Each sees the variables of those before it.
        for item in &mut from {
            names.find(&mut item.expr)?;
            names.unnested.push(item.variable.clone());
        }
        let mut filter = select.filter.clone();
        if let Some(filter) = &mut filter {
            names.find(filter)?;
            check_condition(filter, schema)?;
            refuse_aggregates(filter)?;
        }
        let mut keys = select.groups.clone();
        keys.iter_mut().try_for_each(|key| names.find(key))?;
        if !keys.is_empty() && select.list.items.is_none() {
            let message = "Error: select * is not allowed together with group by";
            return Err(Failure::argument(message));
        }
        let mut output = plan_list(&select.list, &names)?;
        let mut order = select.order.clone();
        order.iter_mut().try_for_each(|key| names.find(&mut key.expr))?;
        // They may be variables. Whether they are constant is checked when they are evaluated.
        let mut limits = select.limits.clone();
        let mut ends = limits.limit.iter_mut().chain(&mut limits.offset);
        ends.try_for_each(|end| names.find(end))?;
        // Before groups take the place of columns.
        let mut used = UsedColumns::default();
        let sorted = order.iter().map(|key| &key.expr);
        let of_rows = from.iter().map(|item| &item.expr).chain(&filter).chain(&keys);
        of_rows.chain(&output.exprs).chain(sorted).for_each(|expr| used.add(expr));
        let mut aggregates = Vec::new();
        let is_grouped = !keys.is_empty() || output.exprs.iter().any(has_aggregate);
        if is_grouped {
            for expr in &mut output.exprs {
                lift(expr, &keys, &mut aggregates)?;
            }
            for key in &mut order {
                lift(&mut key.expr, &keys, &mut aggregates)?;
            }
        }
        let is_distinct = select.list.is_distinct;
        Ok(Self {
            output,
            is_distinct,
            from,
            filter,
            keys,
            aggregates,
            is_grouped,
            order,
            limits,
            used,
        })
    }
}

/// The outputs of a list, with a name for each.
///
/// # Errors
/// Names that mean nothing, and names that are given twice.
pub(crate) fn plan_list(list: &SelectList, names: &Names<'_>) -> Outcome<OutputList> {
    let Some(items) = &list.items else {
        // Rows of a JSON collection have fields of their own: one item, and no name for it.
        if names.schema.collection_column().is_some() {
            return Ok(all_fields(list, names));
        }
        let columns = names.schema.columns.iter();
        let column = |at| Expr::new(list.place, ExprKind::Column(at));
        let mut output = OutputList {
            names: columns.map(|column| Arc::from(column.name.as_str())).collect(),
            exprs: (0..names.schema.columns.len()).map(column).collect(),
        };
        for (at, name) in names.unnested.iter().enumerate() {
            output.names.push(Arc::from(name.as_str()));
            output.exprs.push(Expr::new(list.place, ExprKind::Unnested(at)));
        }
        return Ok(output);
    };
    let mut output = OutputList::default();
    for (place, item) in items.iter().enumerate() {
        let mut expr = item.expr.clone();
        names.find(&mut expr)?;
        // Names of columns are equal whatever their case.
        let is_taken = |name: &str, output: &OutputList| {
            output.names.iter().any(|other| other.eq_ignore_ascii_case(name))
        };
        // A name that the client chose must be its own; others give way.
        let name = match &item.alias {
            Some(alias) if is_taken(alias, &output) => {
                return Err(Failure::argument(format!(
                    "Error: {} Duplicate column name in SELECT clause: {alias}",
                    list.place
                )));
            }
            Some(alias) => alias.clone(),
            None => names
                .output_name(&expr)
                .filter(|name| !is_taken(name, &output))
                .unwrap_or_else(|| format!("Column_{}", place + 1)),
        };
        output.names.push(Arc::from(name));
        output.exprs.push(expr);
    }
    Ok(output)
}

/// `*` of a JSON collection: the row alone has no name, and its fields are those of the answer.
fn all_fields(list: &SelectList, names: &Names<'_>) -> OutputList {
    let mut output =
        OutputList { names: Vec::new(), exprs: vec![Expr::new(list.place, ExprKind::Row)] };
    if !names.unnested.is_empty() {
        output.names.push(Arc::from(names.alias()));
        for (at, name) in names.unnested.iter().enumerate() {
            output.names.push(Arc::from(name.as_str()));
            output.exprs.push(Expr::new(list.place, ExprKind::Unnested(at)));
        }
    }
    output
}

/// Refuses a condition that is a column of another type.
fn check_condition(filter: &Expr, schema: &TableSchema) -> Outcome<()> {
    use tonnage::ColumnType;
    let ExprKind::Column(column) = filter.kind else { return Ok(()) };
    let kind = match schema.columns[column].column_type {
        ColumnType::Boolean | ColumnType::Json => return Ok(()),
        ColumnType::Integer => "Integer".to_owned(),
        ColumnType::Long => "Long".to_owned(),
        ColumnType::String => "String".to_owned(),
        other => other.to_string(),
    };
    Err(Failure::argument(format!(
        "Error: {} Cannot promote type :\n{kind}\nto type :\nBoolean?",
        filter.place
    )))
}

fn refuse_aggregates(filter: &Expr) -> Outcome<()> {
    match has_aggregate(filter) {
        false => Ok(()),
        true => Err(Failure::argument(format!(
            "Error: {} Aggregate functions can not appear in the WHERE clause",
            filter.place
        ))),
    }
}
