//! Rewrites PIVOT and UNPIVOT as queries.

use datafusion::sql::sqlparser::ast::{
    Expr, ExprWithAlias, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr,
    Ident, NullInclusion, PivotValueSource, Query, Select, SelectItem, SetExpr, TableAlias,
    TableFactor, TableWithJoins, Value, ValueWithSpan,
};
use tonnage::{Error, Result};

use crate::upstream::{derived, read};

/// The query that replaces a table factor, if it is a PIVOT or an UNPIVOT.
pub(super) fn expand(factor: &mut TableFactor) -> Result<()> {
    let (query, alias) = match factor {
        TableFactor::Pivot {
            table,
            aggregate_functions,
            value_column,
            value_source,
            default_on_null,
            alias,
        } => {
            if default_on_null.is_some() {
                return Err(Error::unsupported(
                    "PIVOT with DEFAULT ON NULL: write coalesce around the columns outside",
                ));
            }
            let pivot = Pivot::new(aggregate_functions, value_column, value_source)?;
            (pivot.query(table)?, alias.take())
        }
        TableFactor::Unpivot { table, value, null_inclusion, name, columns, alias } => {
            // Without these words NULLs are left out, as in other databases.
            let with_nulls = *null_inclusion == Some(NullInclusion::IncludeNulls);
            (unpivoted(table, value, name, columns, with_nulls)?, alias.take())
        }
        _ => return Ok(()),
    };
    // The query takes the alias over: names outside still mean the same table.
    *factor = aliased(derived(query), alias);
    Ok(())
}

fn aliased(mut factor: TableFactor, given: Option<TableAlias>) -> TableFactor {
    if let TableFactor::Derived { alias, .. } = &mut factor {
        *alias = given;
    }
    factor
}

/// `PIVOT (aggregates FOR column IN (values))`
struct Pivot<'a> {
    aggregates: &'a [ExprWithAlias],
    column: &'a Expr,
    values: &'a [ExprWithAlias],
}

impl<'a> Pivot<'a> {
    fn new(
        aggregates: &'a [ExprWithAlias],
        columns: &'a [Expr],
        source: &'a PivotValueSource,
    ) -> Result<Self> {
        let PivotValueSource::List(values) = source else {
            return Err(Error::unsupported(
                "PIVOT takes the values that become columns as a list: FOR b IN ('x', 'y')",
            ));
        };
        let [column] = columns else {
            return Err(Error::unsupported("PIVOT takes one column after FOR"));
        };
        Ok(Self { aggregates, column, values })
    }

    /// `SELECT * EXCLUDE (what is pivoted), aggregate FILTER (WHERE column = value) AS value, ...
    /// GROUP BY ALL`
    fn query(&self, table: &TableFactor) -> Result<Query> {
        let mut used = vec![name_of(self.column)?];
        for aggregate in self.aggregates {
            for argument in arguments(&aggregate.expr) {
                let name = name_of(argument)?;
                if !used.contains(&name) {
                    used.push(name);
                }
            }
        }
        let used = used.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let mut query = read(&format!("SELECT * EXCLUDE ({used}) FROM nothing GROUP BY ALL"))?;
        let select = select_of(&mut query)?;
        select.from = vec![table_of(table)];
        for value in self.values {
            for aggregate in self.aggregates {
                select.projection.push(self.item(aggregate, value)?);
            }
        }
        debug_assert!(matches!(select.group_by, GroupByExpr::All(_)));
        Ok(query)
    }

    fn item(&self, aggregate: &ExprWithAlias, value: &ExprWithAlias) -> Result<SelectItem> {
        let mut expr = aggregate.expr.clone();
        let Expr::Function(Function { filter, .. }) = &mut expr else {
            return Err(Error::invalid(format!("PIVOT takes aggregates, not {expr}")));
        };
        // `= NULL` would hold for no row.
        let is_value = match &value.expr {
            Expr::Value(ValueWithSpan { value: Value::Null, .. }) => {
                Expr::IsNull(Box::new(self.column.clone()))
            }
            one => Expr::BinaryOp {
                left: Box::new(self.column.clone()),
                op: datafusion::sql::sqlparser::ast::BinaryOperator::Eq,
                right: Box::new(one.clone()),
            },
        };
        *filter = Some(Box::new(is_value));
        let mut name = match (&value.alias, &value.expr) {
            (Some(alias), _) => alias.value.clone(),
            (None, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. })) => {
                text.clone()
            }
            (None, one) => one.to_string(),
        };
        // With several aggregates the value alone would name several columns.
        match &aggregate.alias {
            Some(alias) => name = format!("{name}_{}", alias.value),
            None if self.aggregates.len() > 1 => name = format!("{name}_{}", aggregate.expr),
            None => {}
        }
        Ok(SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', name) })
    }
}

/// The arguments of an aggregate.
fn arguments(aggregate: &Expr) -> Vec<&Expr> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = aggregate else {
        return Vec::new();
    };
    let expr = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().filter_map(expr).collect()
}

/// The column that an expression is.
fn name_of(expr: &Expr) -> Result<Ident> {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    name.cloned().ok_or_else(|| {
        Error::unsupported(format!(
            "PIVOT and UNPIVOT take columns, not {expr}: compute it in a subquery before"
        ))
    })
}

fn select_of(query: &mut Query) -> Result<&mut Select> {
    match query.body.as_mut() {
        SetExpr::Select(select) => Ok(select),
        _ => Err(Error::internal("a pivot is a SELECT")),
    }
}

fn table_of(table: &TableFactor) -> TableWithJoins {
    TableWithJoins { relation: table.clone(), joins: Vec::new() }
}

/// `SELECT * EXCLUDE (columns), unnest(names) AS name, unnest(values) AS value`, without the values
/// that are NULL.
fn unpivoted(
    table: &TableFactor,
    value: &Expr,
    name: &Ident,
    columns: &[ExprWithAlias],
    with_nulls: bool,
) -> Result<Query> {
    let value = name_of(value)?;
    let names = columns.iter().map(|column| name_of(&column.expr)).collect::<Result<Vec<_>>>()?;
    let listed = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let labels = names.iter().zip(columns).map(|(name, column)| {
        let label = column.alias.as_ref().map_or(&name.value, |alias| &alias.value);
        Value::SingleQuotedString(label.replace('\'', "''")).to_string()
    });
    let labels = labels.collect::<Vec<_>>().join(", ");
    let mut inner = read(&format!(
        "SELECT * EXCLUDE ({listed}), unnest([{labels}]) AS {name}, unnest([{listed}]) AS {value} FROM nothing"
    ))?;
    select_of(&mut inner)?.from = vec![table_of(table)];
    let condition = if with_nulls { String::new() } else { format!(" WHERE {value} IS NOT NULL") };
    let mut outer = read(&format!("SELECT * FROM nothing{condition}"))?;
    select_of(&mut outer)?.from =
        vec![TableWithJoins { relation: derived(inner), joins: Vec::new() }];
    Ok(outer)
}
