//! INTERSECT ALL and EXCEPT ALL, which count repeated rows.
//!
//! Upstream: apache/datafusion#12955. Gone in: open
//! Upstream: apache/datafusion#12956. Gone in: open
//!
//! The planner knows both, but counts wrongly. So they become a join in parentheses that no
//! statement writes, which the planner of relations reads (`plan/relations.rs`).

use datafusion::sql::sqlparser::ast::{
    Join, JoinConstraint, JoinOperator, Query, SetExpr, SetOperator, SetQuantifier, Statement,
    TableFactor, TableWithJoins,
};
use datafusion::sql::sqlparser::parser::Parser;
use tonnage::{Error, Result};

use crate::text::OwnDialect;

/// Puts counted sets into FROM.
pub(crate) fn rewrite_counted(body: &mut SetExpr) -> Result<()> {
    let SetExpr::SetOperation { op, set_quantifier, left, right } = body else { return Ok(()) };
    let is_all = matches!(set_quantifier, SetQuantifier::All | SetQuantifier::AllByName);
    // The sides of a counted set become queries of FROM, which the rewriter visits by themselves.
    if *op == SetOperator::Union || !is_all {
        rewrite_counted(left)?;
        return rewrite_counted(right);
    }
    if *set_quantifier == SetQuantifier::AllByName {
        return Err(Error::unsupported(format!(
            "{op} ALL BY NAME: write {op} ALL, with the columns in one order"
        )));
    }
    let constraint = JoinConstraint::None;
    let join_operator = match op {
        SetOperator::Intersect => JoinOperator::LeftSemi(constraint),
        _ => JoinOperator::LeftAnti(constraint),
    };
    let side = |side: &mut Box<SetExpr>| -> Result<TableFactor> {
        let empty = SetExpr::Query(Box::new(read("SELECT 1")?));
        Ok(derived(query_of(std::mem::replace(side.as_mut(), empty))?))
    };
    let (left, right) = (side(left)?, side(right)?);
    // GLOBAL, which no statement may write, distinguishes this join from a SEMI or ANTI JOIN.
    let join = Join { relation: right, global: true, join_operator };
    let table = TableWithJoins { relation: left, joins: vec![join] };
    let mut whole = all_of_nothing()?;
    if let SetExpr::Select(select) = whole.body.as_mut() {
        select.from = vec![TableWithJoins {
            relation: TableFactor::NestedJoin { table_with_joins: Box::new(table), alias: None },
            joins: Vec::new(),
        }];
    }
    *body = *whole.body;
    Ok(())
}

/// The operator of a join that replaces a counted set.
pub(crate) fn is_counted(join: &Join) -> bool {
    use JoinOperator::{LeftAnti, LeftSemi};
    join.global && matches!(join.join_operator, LeftSemi(_) | LeftAnti(_))
}

/// `SELECT *`, without a table yet.
fn all_of_nothing() -> Result<Query> {
    read("SELECT * FROM nothing")
}

/// A query of one body.
fn query_of(body: SetExpr) -> Result<Query> {
    if let SetExpr::Query(query) = body {
        return Ok(*query);
    }
    let mut query = read("SELECT 1")?;
    *query.body = body;
    Ok(query)
}

pub(crate) fn read(text: &str) -> Result<Query> {
    let broken = || Error::internal(format!("'{text}' is not a query"));
    let statements = Parser::parse_sql(&OwnDialect::default(), text).map_err(|_| broken())?;
    match statements.into_iter().next() {
        Some(Statement::Query(query)) => Ok(*query),
        _ => Err(broken()),
    }
}

pub(crate) fn derived(query: Query) -> TableFactor {
    TableFactor::Derived { lateral: false, subquery: Box::new(query), alias: None, sample: None }
}
