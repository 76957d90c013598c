//! Statements as trees.
//!
//! The text is read once, from its start to its end, with one token of look-ahead. Trees are as
//! deep as their parentheses: operators in a row lie side by side. So the depth is bounded, and
//! with it the stack that anybody needs who walks a tree.

mod fault;
mod lexer;
mod parse_change;
mod parse_condition;
mod parse_expression;
mod parse_joins;
mod parse_path;
mod parse_select;
mod parse_statement;
mod parse_type;
mod parser;
mod place;
mod statement;
mod tree;
mod type_def;

pub(crate) use parse_statement::parse_statement;
pub(crate) use place::Place;
pub(crate) use statement::{
    Change, Delete, FromItem, FromPart, Insert, InsertValue, JoinedTable, Limits, Query, Select,
    SelectList, SortKey, Statement, TableName, TtlUnit, TtlValue, Update, VariableDeclaration,
};
pub(crate) use tree::{
    ArithmeticOp, Comparison, Expr, ExprKind, InList, Matching, Side, Step, StepKind,
};
pub(crate) use type_def::{Quantifier, TypeDef, TypeKind};
