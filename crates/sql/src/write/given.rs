//! Values that are given: literals and parameters of VALUES and SET.
//!
//! A column stores them exactly or not at all, as it does the values of a file. What SQL computes
//! is rounded to its column instead, as in PostgreSQL.

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{ColumnType, Error, Result, TableSchema, Value};

use super::row_change::Assignment;
use crate::errors::invalid_at;
use crate::session::Parameters;
use crate::text::signed;

/// The most tokens that a value has that is given: a type with its digits, and a text.
const TOKENS_MAX: usize = 6;

/// A literal, or the value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GivenValue {
    /// The digits of a number, with their sign.
    Number(String),
    Value(Value),
}

impl GivenValue {
    /// What an expression gives; nothing for one that is computed.
    ///
    /// # Errors
    /// `Invalid` for a parameter that has no value.
    pub(super) fn of(expr: &ast::Expr, parameters: &Parameters) -> Result<Option<Self>> {
        let value = match expr {
            ast::Expr::Nested(inner) => return Self::of(inner, parameters),
            ast::Expr::Value(ast::ValueWithSpan { value, .. }) => match value {
                ast::Value::Null => Value::Null,
                ast::Value::Boolean(truth) => Value::Boolean(*truth),
                ast::Value::SingleQuotedString(text) | ast::Value::EscapedStringLiteral(text) => {
                    Value::String(text.clone())
                }
                ast::Value::Placeholder(name) => parameters.get(name)?.clone(),
                _ => return Ok(digits_of(expr).map(Self::Number)),
            },
            ast::Expr::TypedString(typed) => match moment_of(typed) {
                Some(moment) => moment,
                None => return Ok(None),
            },
            _ => return Ok(digits_of(expr).map(Self::Number)),
        };
        Ok(Some(Self::Value(value)))
    }

    /// The value as a column holds it, with all of its digits.
    ///
    /// # Errors
    /// `Invalid` when the column does not hold it, or not exactly.
    pub(super) fn held_by(&self, column_type: ColumnType, is_key: bool) -> Result<Value> {
        let value = match self {
            GivenValue::Value(value) => value.clone(),
            GivenValue::Number(digits) => number_for(digits, column_type)?,
        };
        let held = value.convert_to(column_type)?;
        // The nearest one of any number is meant, as everywhere.
        let is_approximate = matches!(column_type, ColumnType::Double | ColumnType::Float);
        if is_approximate || value.is_kept_as(&held) {
            return Ok(held);
        }
        let remedy = match is_key {
            true => "a key column takes values as it can hold them".to_owned(),
            false => format!(
                "literals and parameters are stored as they are given, so give {held}, or a value that is computed, such as CAST('{value}' AS {column_type})"
            ),
        };
        Err(Error::invalid(format!("{value} would be rounded to fit {column_type}: {remedy}")))
    }
}

/// The digits of a number that is written, also with an exponent.
fn digits_of(expr: &ast::Expr) -> Option<String> {
    let literal = |expr: &ast::Expr| match expr {
        ast::Expr::Value(ast::ValueWithSpan { value, .. }) => Some(value.clone()),
        _ => None,
    };
    let digits = match signed(expr) {
        // Numbers with an exponent have become casts of their text.
        ast::Expr::Cast { expr, data_type: ast::DataType::DoublePrecision, .. } => {
            match literal(expr)? {
                ast::Value::SingleQuotedString(digits) if digits.contains(['e', 'E']) => digits,
                _ => return None,
            }
        }
        number => match literal(number)? {
            ast::Value::Number(digits, false) => digits,
            _ => return None,
        },
    };
    let is_negative = matches!(expr, ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, .. });
    Some(format!("{}{}", if is_negative { "-" } else { "" }, digits.replace('_', "")))
}

/// A number for a column: a column of text holds it as it shows.
fn number_for(digits: &str, column_type: ColumnType) -> Result<Value> {
    if let ColumnType::Double | ColumnType::Float = column_type {
        return Ok(Value::String(digits.to_owned()));
    }
    if let Ok(whole) = digits.parse() {
        return Ok(Value::Long(whole));
    }
    let decimal = Value::decimal(digits);
    if let Some(decimal) = decimal {
        return Ok(decimal);
    }
    match column_type {
        // An exponent, or more digits than a number has: the column reads the text.
        ColumnType::Number { .. } => Ok(Value::String(digits.to_owned())),
        _ => Value::parse(digits, ColumnType::Double),
    }
}

/// `DATE '...'`, `TIMESTAMP '...'` and `TIME '...'` without a zone.
fn moment_of(typed: &ast::TypedString) -> Option<Value> {
    use ast::TimezoneInfo::{None as Plain, WithoutTimeZone};
    let ast::Value::SingleQuotedString(text) = &typed.value.value else { return None };
    let read = |column_type| Value::parse_exact(text, column_type).ok();
    match &typed.data_type {
        ast::DataType::Date => read(ColumnType::Date),
        ast::DataType::Time(None, Plain | WithoutTimeZone) => read(ColumnType::Time),
        ast::DataType::Timestamp(None, Plain | WithoutTimeZone) => read(ColumnType::Timestamp(9)),
        ast::DataType::Timestamp(Some(6), Plain | WithoutTimeZone) => {
            read(ColumnType::Timestamp(6))
        }
        _ => None,
    }
}

/// Refuses literals and parameters of SET that their columns would round.
///
/// # Errors
/// `Invalid` with the position of the value and its column.
pub(super) fn refuse_rounded(
    assignments: &[Assignment],
    schema: &TableSchema,
    parameters: &Parameters,
) -> Result<()> {
    for (column, tokens) in assignments {
        let Some(first) = tokens.first().filter(|_| tokens.len() <= TOKENS_MAX) else { continue };
        let Some(expr) = parsed(tokens) else { continue };
        let Some(given) = GivenValue::of(&expr, parameters)? else { continue };
        let column = &schema.columns[*column];
        // Keys are never set.
        if let Err(error) = given.held_by(column.column_type, false) {
            let told = format!("column '{}': {}", column.name, error.message());
            return Err(invalid_at(first.span.start, told));
        }
    }
    Ok(())
}

/// Refuses literals and parameters of a SELECT list likewise, as MERGE makes one of its VALUES.
///
/// # Errors
/// `Invalid` with the column.
pub(super) fn refuse_rounded_items(
    source: &ast::Query,
    columns: &[String],
    schema: &TableSchema,
    parameters: &Parameters,
) -> Result<()> {
    let ast::SetExpr::Select(select) = source.body.as_ref() else { return Ok(()) };
    for (item, name) in select.projection.iter().zip(columns) {
        let (ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }) =
            item
        else {
            // A star gives as many columns as its table has: those after it have other positions.
            return Ok(());
        };
        let Some(given) = GivenValue::of(expr, parameters)? else { continue };
        let column = schema.require_column(name)?;
        let held = given.held_by(schema.columns[column].column_type, schema.is_key(column));
        held.map_err(|error| {
            let told = format!("column '{name}': {}", error.message());
            error.with_message(told)
        })?;
    }
    Ok(())
}

fn parsed(tokens: &[TokenWithSpan]) -> Option<ast::Expr> {
    let tokens: Vec<Token> = tokens.iter().map(|token| token.token.clone()).collect();
    let mut parser = Parser::new(&GenericDialect).with_tokens(tokens);
    let expr = parser.parse_expr().ok()?;
    (parser.peek_token().token == Token::EOF).then_some(expr)
}
