//! Puts the defaults of columns where VALUES or SET say DEFAULT.

use std::borrow::Cow;

use datafusion::sql::sqlparser::ast::{Expr, Parens, Query, SetExpr};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Token;
use tonnage::{ColumnType, DefaultFunction, Error, Result, TableSchema, Value};

/// The source with DEFAULT among VALUES replaced. A column that has it in every
/// row is taken out, for the store fills it.
pub(super) fn with_defaults<'a>(
    source: &'a Query,
    columns: &mut Vec<String>,
    schema: &TableSchema,
) -> Result<Cow<'a, Query>> {
    let has_defaults = match source.body.as_ref() {
        SetExpr::Values(values) => values.rows.iter().flat_map(|row| &row.content).any(is_default),
        _ => false,
    };
    if !has_defaults {
        return Ok(Cow::Borrowed(source));
    }
    let mut source = source.clone();
    if let SetExpr::Values(values) = source.body.as_mut() {
        settle_defaults(&mut values.rows, columns, schema)?;
    }
    Ok(Cow::Owned(source))
}

fn settle_defaults(
    rows: &mut [Parens<Vec<Expr>>],
    columns: &mut Vec<String>,
    schema: &TableSchema,
) -> Result<()> {
    for place in (0..columns.len()).rev() {
        let is_default = |row: &[Expr]| row.get(place).is_some_and(is_default);
        let defaults = rows.iter().filter(|row| is_default(&row.content)).count();
        if defaults == 0 {
            continue;
        }
        if defaults == rows.len() && columns.len() > 1 {
            rows.iter_mut().for_each(|row| drop(row.content.remove(place)));
            columns.remove(place);
            continue;
        }
        let default = default_of(schema, &columns[place])?;
        for row in rows.iter_mut().filter(|row| is_default(&row.content)) {
            row.content[place] = default.clone();
        }
    }
    Ok(())
}

fn is_default(cell: &Expr) -> bool {
    matches!(cell, Expr::Identifier(name)
        if name.quote_style.is_none() && name.value.eq_ignore_ascii_case("DEFAULT"))
}

/// What a column holds that is not given, as an expression.
fn default_of(schema: &TableSchema, name: &str) -> Result<Expr> {
    let tokens = default_tokens(schema, name)?;
    let parsed = Parser::new(&GenericDialect).with_tokens(tokens).parse_expr();
    parsed.map_err(|error| Error::internal(format!("the default of column '{name}': {error}")))
}

/// The same as tokens: a literal, a number perhaps after its sign, or the call of a function.
pub(super) fn default_tokens(schema: &TableSchema, name: &str) -> Result<Vec<Token>> {
    let column = &schema.columns[schema.require_column(name)?];
    if column.identity.is_some() {
        return Err(Error::unsupported(format!(
            "column '{name}' is an IDENTITY, whose DEFAULT is a number of the store: leave the column out, in a statement of its own"
        )));
    }
    if let Some(function) = column.default_function {
        return function_tokens(function);
    }
    Ok(match &column.default {
        None | Some(Value::Null) => vec![Token::make_keyword("NULL")],
        Some(Value::Boolean(is)) => vec![Token::make_keyword(if *is { "TRUE" } else { "FALSE" })],
        Some(value) => {
            let text = match value {
                // Without an exponent it would be a decimal, which has not digits enough for all.
                Value::Double(value) => format!("{value:e}"),
                Value::Float(value) => format!("{value:e}"),
                value => value.to_string(),
            };
            let is_number = matches!(
                column.column_type,
                ColumnType::Integer
                    | ColumnType::Long
                    | ColumnType::Float
                    | ColumnType::Double
                    | ColumnType::Number { .. }
            );
            match (is_number, text.strip_prefix('-')) {
                (true, Some(digits)) => {
                    // The parser expects a sign as a token of its own.
                    vec![Token::Minus, Token::Number(digits.to_owned(), false)]
                }
                (true, None) => vec![Token::Number(text, false)],
                (false, _) => vec![Token::SingleQuotedString(text)],
            }
        }
    })
}

fn function_tokens(function: DefaultFunction) -> Result<Vec<Token>> {
    let name = match function {
        DefaultFunction::Now => "now",
        DefaultFunction::CurrentDate => "current_date",
        DefaultFunction::CurrentTime => "current_time",
        DefaultFunction::Uuid => "uuid",
        other => return Err(Error::internal(format!("DEFAULT {other} has no function"))),
    };
    Ok(vec![Token::make_word(name, None), Token::LParen, Token::RParen])
}
