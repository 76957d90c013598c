//! Rewrites aggregates in the names and forms of other databases.

use std::collections::HashSet;

use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, OrderByExpr, Value,
};
use tonnage::{Error, Result};

use super::call::call;
use super::pattern::{fill, parsed};

/// Name, number of arguments, the aggregate that it means, and the function of that one's
/// result.
const AGGREGATES: [(&str, usize, &str, Option<&str>); 17] = [
    ("count_if", 1, "count(CASE WHEN $1 THEN 1 END)", None),
    ("countif", 1, "count(CASE WHEN $1 THEN 1 END)", None),
    ("every", 1, "bool_and($1)", None),
    ("variance", 1, "var_samp($1)", None),
    ("first", 1, "first_value($1)", None),
    ("last", 1, "last_value($1)", None),
    ("group_concat", 1, "string_agg(CAST($1 AS VARCHAR), ',')", None),
    ("group_concat", 2, "string_agg(CAST($1 AS VARCHAR), $2)", None),
    ("listagg", 1, "string_agg(CAST($1 AS VARCHAR), ',')", None),
    ("listagg", 2, "string_agg(CAST($1 AS VARCHAR), $2)", None),
    ("json_agg", 1, "array_agg(to_json($1))", Some("_json_array")),
    ("jsonb_agg", 1, "array_agg(to_json($1))", Some("_json_array")),
    ("json_group_array", 1, "array_agg(to_json($1))", Some("_json_array")),
    ("json_object_agg", 2, "array_agg(_json_member($1, $2))", Some("_json_object")),
    ("jsonb_object_agg", 2, "array_agg(_json_member($1, $2))", Some("_json_object")),
    ("json_group_object", 2, "array_agg(_json_member($1, $2))", Some("_json_object")),
    ("list", 1, "array_agg($1)", None),
];

/// Aggregates that are written in others as their arguments are.
const FORMS: [&str; 3] = ["percentile_disc", "quantile_disc", "mode"];

/// Whether an aggregate is written in others.
pub(super) fn is_known(name: &str) -> bool {
    AGGREGATES.iter().any(|(known, ..)| *known == name) || FORMS.contains(&name)
}

/// These aggregates: name, kind, and what each means.
pub(super) fn own_aggregates() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let written = AGGREGATES.iter().map(|(name, _, meaning, _)| (*name, "aggregate", *meaning));
    written.chain(FORMS.map(|name| (name, "aggregate", "")))
}

/// Writes an aggregate in those that the planner knows.
pub(super) fn respell(expr: &mut Expr) -> Result<()> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let name = function.name.to_string().to_ascii_lowercase();
    sort_once(function);
    match name.as_str() {
        "any_value" if is_sorted(function) => first_not_null(function),
        "mode" if is_sorted(function) => Err(Error::unsupported(
            "ORDER BY in mode(): which of several values that come equally often it is, is open",
        )),
        "count" => count_combinations(function),
        "percentile_disc" | "quantile_disc" => {
            let exact = percentile(&name, function)?;
            *expr = exact;
            Ok(())
        }
        "mode" if !function.within_group.is_empty() => mode(function),
        _ if is_known(&name) => {
            if let Some(written) = expand_alias(&name, function)? {
                *expr = written;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The arguments of a call, in a list with the other items.
fn list_of(function: &mut Function) -> Option<&mut FunctionArgumentList> {
    match &mut function.args {
        FunctionArguments::List(list) => Some(list),
        _ => None,
    }
}

/// Leaves out what sorts by a value once more, which changes nothing. The planner counts it.
fn sort_once(function: &mut Function) {
    let Some(list) = list_of(function) else { return };
    for clause in &mut list.clauses {
        if let FunctionArgumentClause::OrderBy(order) = clause {
            let mut known = HashSet::new();
            order.retain(|sorted| known.insert(sorted.expr.to_string()));
        }
    }
}

fn is_sorted(function: &mut Function) -> bool {
    let clauses = list_of(function).map(|list| &list.clauses);
    let mut clauses = clauses.into_iter().flatten();
    clauses.any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_)))
}

/// `any_value(x ORDER BY y)`: the first value in this order that is there.
fn first_not_null(function: &mut Function) -> Result<()> {
    let Some(list) = list_of(function) else { return Ok(()) };
    let Some(value) = list.args.first().and_then(plain).cloned() else { return Ok(()) };
    let is_there = Expr::IsNotNull(Box::new(Expr::Nested(Box::new(value))));
    function.filter = Some(Box::new(match function.filter.take() {
        Some(filter) => and(Expr::Nested(filter), is_there),
        None => is_there,
    }));
    function.name = ObjectName::from(vec![Ident::new("first_value")]);
    Ok(())
}

fn plain(argument: &FunctionArg) -> Option<&Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

fn unnamed(expr: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
}

fn expand_alias(name: &str, function: &mut Function) -> Result<Option<Expr>> {
    let within = std::mem::take(&mut function.within_group);
    let Some(list) = list_of(function) else { return Ok(None) };
    // SEPARATOR of MySQL is the second argument of `string_agg`.
    if let Some(place) = list
        .clauses
        .iter()
        .position(|clause| matches!(clause, FunctionArgumentClause::Separator(_)))
        && let FunctionArgumentClause::Separator(separator) = list.clauses.remove(place)
    {
        list.args.push(unnamed(Expr::Value(separator)));
    }
    if !within.is_empty() {
        list.clauses.push(FunctionArgumentClause::OrderBy(within));
    }
    let given: Option<Vec<&Expr>> = list.args.iter().map(plain).collect();
    let Some(given) = given else { return Ok(None) };
    let found =
        AGGREGATES.iter().find(|(known, count, ..)| *known == name && *count == given.len());
    let Some((_, _, meaning, outer)) = found else { return Ok(None) };
    let mut meaning = parsed(meaning)?;
    fill(&mut meaning, &given)?;
    let (treatment, clauses) = (list.duplicate_treatment, std::mem::take(&mut list.clauses));
    // FILTER, OVER and the order belong to the aggregate: an outer function takes its result alone.
    if let Expr::Function(inner) = &mut meaning {
        inner.filter = function.filter.take();
        inner.over = function.over.take();
        inner.null_treatment = function.null_treatment.take();
        if let Some(made) = list_of(inner) {
            made.duplicate_treatment = treatment;
            made.clauses = clauses;
        }
    }
    Ok(Some(match outer {
        Some(outer) => call(outer, [meaning]),
        None => meaning,
    }))
}

/// `count(DISTINCT a, b)`: the combinations of which no part is NULL.
fn count_combinations(function: &mut Function) -> Result<()> {
    let Some(list) = list_of(function) else { return Ok(()) };
    if list.duplicate_treatment != Some(DuplicateTreatment::Distinct) || list.args.len() < 2 {
        return Ok(());
    }
    let parts: Option<Vec<Expr>> = list.args.iter().map(|part| plain(part).cloned()).collect();
    let Some(parts) = parts else { return Ok(()) };
    let are_there = parts
        .iter()
        .cloned()
        .map(|part| Expr::IsNotNull(Box::new(Expr::Nested(Box::new(part)))))
        .reduce(and)
        .unwrap_or_else(|| Expr::value(Value::Boolean(true)));
    let mut combination = parsed("CASE WHEN $1 THEN $2 END")?;
    fill(&mut combination, &[&are_there, &call("struct", parts)])?;
    list.args = vec![unnamed(combination)];
    Ok(())
}

fn and(one: Expr, other: Expr) -> Expr {
    use datafusion::sql::sqlparser::ast::BinaryOperator::And;
    Expr::BinaryOp { left: Box::new(one), op: And, right: Box::new(other) }
}

/// `mode() WITHIN GROUP (ORDER BY x)` as `mode(x)`.
fn mode(function: &mut Function) -> Result<()> {
    let order = std::mem::take(&mut function.within_group);
    let (Some(list), [sorted]) = (list_of(function), order.as_slice()) else {
        return Err(Error::invalid("mode() takes one value: WITHIN GROUP (ORDER BY x)"));
    };
    list.args = vec![unnamed(sorted.expr.clone())];
    Ok(())
}

/// The value at a share of the values in their order: `percentile_disc(0.5) WITHIN GROUP (ORDER BY
/// x)` and `quantile_disc(x, 0.5)`.
fn percentile(name: &str, function: &mut Function) -> Result<Expr> {
    let form = || {
        Error::invalid(if name == "percentile_disc" {
            "write percentile_disc(0.5) WITHIN GROUP (ORDER BY x)"
        } else {
            "write quantile_disc(x, 0.5)"
        })
    };
    let mut order = std::mem::take(&mut function.within_group);
    let (filter, over) = (function.filter.take(), function.over.take());
    let list = list_of(function).ok_or_else(form)?;
    let given: Vec<Expr> = list.args.iter().filter_map(|part| plain(part).cloned()).collect();
    let (share, sorted) = match (given.as_slice(), order.pop()) {
        ([share], Some(sorted)) if order.is_empty() => (share.clone(), sorted),
        ([value, share], None) => {
            let sorted =
                OrderByExpr { expr: value.clone(), options: Default::default(), with_fill: None };
            (share.clone(), sorted)
        }
        _ => return Err(form()),
    };
    if let Ok(number) = share.to_string().parse::<f64>()
        && !(0.0..=1.0).contains(&number)
    {
        return Err(Error::invalid(format!("{name} takes a share from 0 to 1, not {number}")));
    }
    // NULL has no rank: it must be neither in the array nor counted.
    let is_there = Expr::IsNotNull(Box::new(Expr::Nested(Box::new(sorted.expr.clone()))));
    let filter = Box::new(match filter {
        Some(filter) => and(Expr::Nested(filter), is_there),
        None => is_there,
    });
    let aggregate = |text: &str, order: Option<OrderByExpr>| -> Result<Expr> {
        let mut expr = parsed(text)?;
        fill(&mut expr, &[&sorted.expr])?;
        if let Expr::Function(made) = &mut expr {
            made.filter = Some(filter.clone());
            made.over = over.clone();
            if let (Some(order), Some(list)) = (order, list_of(made)) {
                list.clauses.push(FunctionArgumentClause::OrderBy(vec![order]));
            }
        }
        Ok(expr)
    };
    let all = aggregate("array_agg($1)", Some(sorted.clone()))?;
    let count = aggregate("count($1)", None)?;
    // Elements count from 1, and a share of 0 means the first one.
    let mut exact = parsed("array_element($1, greatest(CAST(ceil($2 * $3) AS BIGINT), 1))")?;
    fill(&mut exact, &[&all, &share, &count])?;
    Ok(exact)
}
