//! Joins that the planner does not know, or takes for others: SEMI and ANTI by themselves, ASOF,
//! USING and NATURAL, and functions that make rows of each document.
//!
//! All but the first become the last join of a join in parentheses, where the planner of relations
//! finds them (`plan/relations.rs`).

use datafusion::sql::sqlparser::ast::{
    FunctionArg, FunctionArgExpr, Join, JoinConstraint, JoinOperator, Select, Spanned, TableFactor,
    TableWithJoins,
};
use tonnage::Result;

use super::documents;
use crate::errors::invalid_at;

/// Functions in FROM that make rows of a document.
pub(super) const OF_DOCUMENTS: [&str; 8] = [
    "json_each",
    "jsonb_each",
    "json_each_text",
    "jsonb_each_text",
    "json_array_elements",
    "jsonb_array_elements",
    "json_array_elements_text",
    "jsonb_array_elements_text",
];

/// Whether a join is one of ASOF.
pub(crate) fn is_asof(join: &Join) -> bool {
    use JoinOperator::{AsOf, Inner, Join as Plain, Left, LeftOuter};
    match &join.join_operator {
        AsOf { .. } => true,
        Plain(_) | Inner(_) | Left(_) | LeftOuter(_) => join.global,
        _ => false,
    }
}

/// Whether a join compares the columns that have the same names on both sides.
pub(crate) fn is_by_names(join: &Join) -> bool {
    use JoinOperator::{FullOuter, Inner, Join as Plain, Left, LeftOuter, Right, RightOuter};
    let (Plain(constraint)
    | Inner(constraint)
    | Left(constraint)
    | LeftOuter(constraint)
    | Right(constraint)
    | RightOuter(constraint)
    | FullOuter(constraint)) = &join.join_operator
    else {
        return false;
    };
    let may_look_aside = matches!(
        join.relation,
        TableFactor::Derived { lateral: true, .. }
            | TableFactor::Function { .. }
            | TableFactor::UNNEST { .. }
    );
    matches!(constraint, JoinConstraint::Using(_) | JoinConstraint::Natural)
        && !join.global
        && !may_look_aside
}

/// The name of the function in FROM that makes rows of a document.
pub(crate) fn of_document(table: &TableFactor) -> Option<String> {
    let name = match table {
        TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => name,
        _ => return None,
    };
    let name = name.to_string().to_ascii_lowercase();
    OF_DOCUMENTS.contains(&name.as_str()).then_some(name)
}

/// Refuses a join that says nothing of its rows: a forgotten ON would give all pairs.
///
/// # Errors
/// `Invalid` for `a JOIN b` alone.
pub(super) fn refuse_without_condition(table: &TableWithJoins) -> Result<()> {
    use JoinOperator::{FullOuter, Inner, Join as Plain, Left, LeftOuter, Right, RightOuter};
    let is_open = |join: &&Join| {
        // These are computed for each row of the left side, so they need no condition.
        let may_look_aside = matches!(
            join.relation,
            TableFactor::Derived { lateral: true, .. }
                | TableFactor::Function { .. }
                | TableFactor::UNNEST { .. }
                | TableFactor::Table { args: Some(_), .. }
        );
        let is_bare = matches!(
            join.join_operator,
            Plain(JoinConstraint::None)
                | Inner(JoinConstraint::None)
                | Left(JoinConstraint::None)
                | LeftOuter(JoinConstraint::None)
                | Right(JoinConstraint::None)
                | RightOuter(JoinConstraint::None)
                | FullOuter(JoinConstraint::None)
        );
        // GLOBAL marks an ASOF JOIN, whose planner says itself what is missing.
        is_bare && !join.global && !may_look_aside
    };
    match table.joins.iter().find(is_open) {
        Some(join) => Err(invalid_at(
            join.relation.span().start,
            format_args!(
                "JOIN {} needs ON or USING: write JOIN ... ON a.k = b.k, or CROSS JOIN for all pairs",
                join.relation
            ),
        )),
        None => Ok(()),
    }
}

/// Puts the joins of a SELECT in their forms.
pub(super) fn of_select(select: &mut Select) -> Result<()> {
    // A function of rows before it belongs to them.
    while let Some(place) =
        select.from.iter().position(|from| of_document(&from.relation).is_some())
    {
        let from = std::mem::take(&mut select.from);
        let mut before = from.into_iter();
        let left: Vec<TableWithJoins> = before.by_ref().take(place).collect();
        let function = before.next();
        let rest: Vec<TableWithJoins> = before.collect();
        if let Some(function) = function {
            select.from.push(lateral(left, function));
        }
        select.from.extend(rest);
    }
    select.from.iter_mut().for_each(of_table);
    Ok(())
}

/// The function joined to all that precedes it.
fn lateral(mut left: Vec<TableWithJoins>, function: TableWithJoins) -> TableWithJoins {
    left.iter_mut().for_each(of_table);
    let cross = |relation: TableFactor| Join {
        relation,
        global: false,
        join_operator: JoinOperator::CrossJoin(JoinConstraint::None),
    };
    let mut left = left.into_iter();
    let mut whole = match left.next() {
        Some(first) => first,
        None => one_row(),
    };
    whole.joins.extend(left.map(|table| cross(parenthesised(table))));
    whole.joins.push(cross(function.relation));
    let whole = nested(whole);
    TableWithJoins { relation: whole, joins: function.joins }
}

/// The left side of a join that has none: one row without columns, which the planner of
/// relations makes.
fn one_row() -> TableWithJoins {
    let relation = TableFactor::UNNEST {
        alias: None,
        array_exprs: Vec::new(),
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    };
    TableWithJoins { relation, joins: Vec::new() }
}

fn parenthesised(table: TableWithJoins) -> TableFactor {
    if table.joins.is_empty() { table.relation } else { nested(table) }
}

fn nested(table: TableWithJoins) -> TableFactor {
    TableFactor::NestedJoin { table_with_joins: Box::new(table), alias: None }
}

/// Puts the joins of a table in their forms.
pub(super) fn of_table(table: &mut TableWithJoins) {
    for join in &mut table.joins {
        // A bare SEMI or ANTI keeps rows of the left side. The planner wants the side to be said.
        match &mut join.join_operator {
            JoinOperator::Semi(constraint) => {
                join.join_operator =
                    JoinOperator::LeftSemi(std::mem::replace(constraint, JoinConstraint::None));
            }
            JoinOperator::Anti(constraint) => {
                join.join_operator =
                    JoinOperator::LeftAnti(std::mem::replace(constraint, JoinConstraint::None));
            }
            _ => {}
        }
    }
    let is_own =
        |join: &Join| is_asof(join) || of_document(&join.relation).is_some() || is_by_names(join);
    let own: Vec<bool> = table.joins.iter().map(is_own).collect();
    if !own.contains(&true) {
        return;
    }
    // The planner of relations gets whole parentheses only, so each such join ends a pair of them.
    let joins = std::mem::take(&mut table.joins);
    for (join, is_own) in joins.into_iter().zip(own) {
        table.joins.push(join);
        if is_own {
            let whole = std::mem::replace(table, one_row());
            table.relation = nested(whole);
            table.joins = Vec::new();
        }
    }
}

/// The arguments of a function in FROM, parts of documents among them as JSON.
pub(super) fn hand_documents_on(table: &mut TableFactor) {
    if of_document(table).is_none() {
        return;
    }
    let arguments = match table {
        TableFactor::Table { args: Some(arguments), .. } => &mut arguments.args,
        TableFactor::Function { args, .. } => args,
        _ => return,
    };
    for argument in arguments {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
            documents::as_json(expr);
        }
    }
}
