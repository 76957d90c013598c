//! DESCRIBE of a query, and SUMMARIZE.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, SchemaRef};
use arrow::util::display::array_value_to_string;
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{ColumnType, Error, Result};

use super::guard::Guard;
use super::request::Parameters;
use super::show::texts;
use crate::planner::Planner;
use crate::text::{Cursor, IsWord, Piece, StatementKind, parse, single};
use crate::write::{made, quoted, word};

/// The query that follows DESCRIBE, if it is one and no table.
pub(crate) fn described_query(piece: &Piece) -> Option<Piece> {
    let query = query_at(piece.tokens.get(1..)?, piece);
    let first = Cursor::new(&query).peek()?;
    let begins = first.is_one_of(&["SELECT", "WITH", "VALUES"]) || *first == Token::LParen;
    begins.then_some(query)
}

/// The columns of a query: names, types, and whether they may be NULL.
pub(crate) fn columns(planner: &Planner, query: &ast::Statement) -> Result<RecordBatch> {
    let (schema, _) = planner.describe_statement(query.clone(), &Parameters::default())?;
    let of_each = |tell: &dyn Fn(&Field) -> String| {
        schema.fields().iter().map(|field| tell(field)).collect::<Vec<_>>()
    };
    texts([
        ("column", of_each(&|field| field.name().clone())),
        ("type", of_each(&type_name)),
        ("nullable", of_each(&|field| if field.is_nullable() { "yes" } else { "no" }.to_owned())),
    ])
}

/// The name that a definition gives to a type, or Arrow's where a table has none such.
fn type_name(field: &Field) -> String {
    match ColumnType::of_arrow(field) {
        Some(column_type) => column_type.to_string(),
        None => field.data_type().to_string(),
    }
}

/// The columns of the answer to a SUMMARIZE.
pub(crate) fn summary_schema() -> SchemaRef {
    let texts = COLUMNS.map(|name| Field::new(name, DataType::Utf8, true));
    Arc::new(arrow::datatypes::Schema::new(texts.to_vec()))
}

const COLUMNS: [&str; 7] = ["column", "type", "min", "max", "avg", "distinct_about", "count"];
/// The figures of one column in the query that finds them.
const FIGURES: usize = COLUMNS.len() - 2;

/// SUMMARIZE, parsed: the query whose columns are summarized, with its tokens.
pub(crate) struct SummarizeStatement {
    pub(crate) query: Box<ast::Statement>,
    piece: Piece,
}

impl SummarizeStatement {
    /// Reads `SUMMARIZE table` or `SUMMARIZE query`.
    ///
    /// # Errors
    /// `Invalid` for something else, with its position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        let mut piece = query_at(&piece.tokens[1..], piece);
        if piece.kind != StatementKind::Query {
            let mut cursor = Cursor::new(&piece);
            if cursor.path().is_none() {
                return Err(cursor.expected("a table or a query"));
            }
            cursor.end()?;
            let tokens = [word("SELECT"), made(Token::Mul), word("FROM")].into_iter();
            let tokens: Vec<_> = tokens.chain(piece.tokens.iter().cloned()).collect();
            piece = Piece { tokens: tokens.into(), kind: StatementKind::Query, end: piece.end };
        }
        Ok(Self { query: Box::new(piece.parse()?), piece })
    }

    /// The least and the greatest value of each column, its average, about how many values differ,
    /// and how many are not NULL, in one read.
    pub(crate) fn run(
        &self,
        planner: &Planner,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<RecordBatch> {
        let (schema, _) = planner.describe_statement(self.query.as_ref().clone(), parameters)?;
        let list: Vec<String> = schema.fields().iter().map(|field| figures(field)).collect();
        let list = single(&format!("SELECT {} FROM", list.join(", ")))?;
        let mut tokens = list.tokens.to_vec();
        tokens.push(made(Token::LParen));
        tokens.extend(self.piece.tokens.iter().cloned());
        tokens.extend([made(Token::RParen), word("AS"), quoted("summarized")]);
        let parsed = parse(tokens, self.piece.end)?;
        let state = planner.state(guard);
        let figures = planner.rows_of(state, parsed, parameters, guard.clone())?.into_batch()?;
        table_of(&schema, &figures)
    }
}

fn query_at(tokens: &[TokenWithSpan], piece: &Piece) -> Piece {
    Piece { tokens: tokens.to_vec().into(), kind: StatementKind::of(tokens), end: piece.end }
}

/// The expressions that find the figures of a column; NULL where there are none of its type.
fn figures(field: &Field) -> String {
    let name = format!("\"{}\"", field.name().replace('"', "\"\""));
    let column_type = ColumnType::of_arrow(field);
    let is_number = field.data_type().is_numeric();
    let is_ordered =
        is_number || field.data_type().is_temporal() || column_type == Some(ColumnType::String);
    let ends = match is_ordered {
        true => format!("min({name}), max({name})"),
        false => "NULL, NULL".to_owned(),
    };
    let average = match is_number {
        true => format!("avg(CAST({name} AS DOUBLE))"),
        false => "NULL".to_owned(),
    };
    let distinct = match is_ordered {
        true => format!("approx_distinct(CAST({name} AS VARCHAR))"),
        false => "NULL".to_owned(),
    };
    format!("{ends}, {average}, {distinct}, count({name})")
}

/// A row for each column of what was found, all in one row.
fn table_of(schema: &SchemaRef, figures: &RecordBatch) -> Result<RecordBatch> {
    let figure = |column: usize, number: usize| -> Result<Option<String>> {
        let array = figures.column(column * FIGURES + number);
        if array.is_null(0) || *array.data_type() == DataType::Null {
            return Ok(None);
        }
        text_of(array).map(Some)
    };
    let columns = 0..schema.fields().len();
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(COLUMNS.len());
    let names = schema.fields().iter().map(|field| Some(field.name().clone()));
    arrays.push(Arc::new(names.collect::<StringArray>()));
    let types = schema.fields().iter().map(|field| Some(type_name(field)));
    arrays.push(Arc::new(types.collect::<StringArray>()));
    for number in 0..FIGURES {
        let told = columns.clone().map(|column| figure(column, number));
        arrays.push(Arc::new(told.collect::<Result<StringArray>>()?));
    }
    RecordBatch::try_new(summary_schema(), arrays)
        .map_err(|error| Error::internal(format!("SUMMARIZE: {error}")))
}

fn text_of(array: &ArrayRef) -> Result<String> {
    match array.data_type() {
        DataType::Float64 => Ok(array.as_primitive::<Float64Type>().value(0).to_string()),
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().value(0).to_string()),
        _ => array_value_to_string(array, 0)
            .map_err(|error| Error::internal(format!("SUMMARIZE: {error}"))),
    }
}
