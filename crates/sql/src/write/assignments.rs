//! Parses the assignments after SET.

use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::{ColumnType, Result, TableSchema};

use super::defaults::default_tokens;
use super::row_change::Assignment;
use super::tokens::{made, quoted, word};
use crate::errors::invalid_at;
use crate::text::{Cursor, IsWord};

/// What ends a list of assignments.
const ENDS: [&str; 6] = ["WHERE", "FROM", "WHEN", "RETURNING", "ORDER", "LIMIT"];

/// One column after SET, or a member of a document in it, as it is written.
pub(super) struct SetItem {
    place: Location,
    column: String,
    /// The way to the member, if one is set.
    members: Vec<Token>,
    pub(super) value: Vec<TokenWithSpan>,
}

impl SetItem {
    /// Whether the column gets what its definition says.
    pub(super) fn is_default(&self) -> bool {
        matches!(self.value.as_slice(), [token] if token.is_word("DEFAULT"))
    }

    /// The name of a parameter that is the value by itself, with the column.
    pub(super) fn parameter_and_column(&self) -> Option<(&str, &str)> {
        match self.value.as_slice() {
            [TokenWithSpan { token: Token::Placeholder(name), .. }] if self.members.is_empty() => {
                Some((name, &self.column))
            }
            _ => None,
        }
    }
}

/// Reads `column = value, (a, b) = (1, 2), document.member = value, ...`.
///
/// # Errors
/// `Invalid` with the position, for something else and for lists of different lengths.
pub(super) fn set_items(cursor: &mut Cursor) -> Result<Vec<SetItem>> {
    let mut items = Vec::new();
    loop {
        if cursor.peek() == Some(&Token::LParen) {
            items.extend(column_list(cursor)?);
        } else {
            items.push(single_column(cursor)?);
        }
        if !cursor.token(&Token::Comma) {
            return Ok(items);
        }
    }
}

/// `column = value`, `document.member = value`
fn single_column(cursor: &mut Cursor) -> Result<SetItem> {
    let place = cursor.location();
    let column = cursor.expect_name("the name of a column")?.to_owned();
    let members = members(cursor)?;
    cursor.expect_token(&Token::Eq)?;
    let value = expression(cursor, &ENDS, true);
    match value.is_empty() {
        true => Err(cursor.expected("a value")),
        false => Ok(SetItem { place, column, members, value }),
    }
}

/// `(a, b) = (1, 2)`
fn column_list(cursor: &mut Cursor) -> Result<impl Iterator<Item = SetItem>> {
    let names = cursor.list(|cursor| {
        let place = cursor.location();
        Ok((place, cursor.expect_name("the name of a column")?.to_owned()))
    })?;
    cursor.expect_token(&Token::Eq)?;
    // As PostgreSQL has it: ROW may precede the values.
    cursor.word("ROW");
    let place = cursor.location();
    if cursor.peek() != Some(&Token::LParen) {
        return Err(cursor.expected("as many values in parentheses"));
    }
    if cursor.rest().get(1).is_one_of(&["SELECT", "WITH"]) {
        return Err(invalid_at(
            place,
            "a query gives one value: write column = (SELECT ...) for each column, or UPDATE ... FROM",
        ));
    }
    let values = cursor.list(|cursor| Ok(expression(cursor, &[], true)))?;
    // Checked before the pairs are made: `zip` would drop what is left over without a word.
    if values.len() != names.len() || values.iter().any(Vec::is_empty) {
        let (columns, values) = (names.len(), values.len());
        return Err(invalid_at(place, format!("{columns} columns are set to {values} values")));
    }
    let pairs = names.into_iter().zip(values);
    Ok(pairs.map(|((place, column), value)| SetItem { place, column, members: Vec::new(), value }))
}

/// The columns of a table that are set, with their values.
///
/// # Errors
/// `Invalid` with the position: for a column that there is not or that is part of the key, and for
/// one that is set twice.
pub(super) fn assignments(items: &[SetItem], schema: &TableSchema) -> Result<Vec<Assignment>> {
    let mut set = AssignmentReader { schema, assignments: Vec::new(), members: Vec::new() };
    for item in items {
        match item.members.is_empty() {
            true => set.column(item)?,
            false => set.member(item)?,
        }
    }
    Ok(set.assignments)
}

struct AssignmentReader<'a> {
    schema: &'a TableSchema,
    assignments: Vec<Assignment>,
    /// The columns of which members alone are set.
    members: Vec<usize>,
}

impl AssignmentReader<'_> {
    fn column(&mut self, item: &SetItem) -> Result<()> {
        let SetItem { place, column: name, value, .. } = item;
        let column = self.find(item)?;
        if self.assignments.iter().any(|(before, _)| *before == column) {
            return Err(invalid_at(*place, format!("column '{name}' is set twice")));
        }
        let value = match value.as_slice() {
            [token] if item.is_default() => {
                let tokens = default_tokens(self.schema, &self.schema.columns[column].name)
                    .map_err(|error| invalid_at(*place, error.message()))?;
                let span = token.span;
                tokens.into_iter().map(|token| TokenWithSpan { token, span }).collect()
            }
            value => value.to_vec(),
        };
        self.assignments.push((column, value));
        Ok(())
    }

    /// Sets a member of a document: its column becomes `json_set(document, members, value)`.
    /// Several of one document are set one after another.
    fn member(&mut self, item: &SetItem) -> Result<()> {
        let SetItem { place, column: name, members, value } = item;
        let column = self.find(item)?;
        if self.schema.columns[column].column_type != ColumnType::Json {
            let told = format!("column '{name}' is not a JSON document, so it has no members");
            return Err(invalid_at(*place, told));
        }
        let before = self.assignments.iter().position(|(set, _)| *set == column);
        // The other way round, `d.a = 1, d = x`, it is `column` that finds the column set.
        if before.is_some() && !self.members.contains(&column) {
            return Err(invalid_at(*place, format!("column '{name}' is set twice")));
        }
        self.members.push(column);
        // A second member is set in the result of the first: from the stored document the first
        // would be lost.
        let mut document = match before {
            Some(at) => self.assignments.remove(at).1,
            None => vec![quoted(&self.schema.columns[column].name.to_ascii_lowercase())],
        };
        let mut tokens = vec![word("json_set"), made(Token::LParen)];
        tokens.append(&mut document);
        tokens.extend(members.iter().flat_map(|member| [Token::Comma, member.clone()]).map(made));
        tokens.extend([made(Token::Comma), made(Token::LParen)]);
        tokens.extend_from_slice(value);
        tokens.extend([made(Token::RParen), made(Token::RParen)]);
        self.assignments.push((column, tokens));
        Ok(())
    }

    fn find(&self, item: &SetItem) -> Result<usize> {
        let SetItem { place, column: name, .. } = item;
        let at = |message: String| invalid_at(*place, message);
        let column =
            self.schema.require_column(name).map_err(|error| at(error.message().to_owned()))?;
        if self.schema.is_key(column) {
            return Err(at(format!(
                "column '{name}' is part of the primary key, which never changes: delete the row and insert another"
            )));
        }
        Ok(column)
    }
}

/// `.member.member[0]` after a column: names and numbers, one by one. A `$` after the first point
/// means the document itself.
fn members(cursor: &mut Cursor) -> Result<Vec<Token>> {
    let mut path = Vec::new();
    loop {
        let place = cursor.location();
        if cursor.token(&Token::Period) {
            if path.is_empty() && cursor.token(&Token::Placeholder("$".to_owned())) {
                continue;
            }
            let Some(name) = cursor.name() else {
                return Err(cursor.expected("the name of a member"));
            };
            // A key of `json_set` is a text, an index a number: bare, it would name a column.
            path.push(Token::SingleQuotedString(name.to_owned()));
        } else if cursor.token(&Token::LBracket) {
            match cursor.next() {
                Some(member @ (Token::Number(..) | Token::SingleQuotedString(_))) => {
                    path.push(member.clone());
                }
                _ => return Err(cursor.expected("the number of an element, or a name in quotes")),
            }
            cursor.expect_token(&Token::RBracket)?;
        } else {
            return Ok(path);
        }
        // `json_set` would take `$.a` for a path, and write elsewhere. `{a}` looks like a path of
        // `jsonb_set`, and is refused as well.
        if let Some(Token::SingleQuotedString(name)) = path.last()
            && name.starts_with(['$', '{'])
        {
            let told = format!("the member '{name}' cannot be set by name: use json_set");
            return Err(invalid_at(place, told));
        }
    }
}

/// The tokens up to one of these keywords, or a comma where that ends them, outside parentheses
/// and CASE.
pub(super) fn expression(
    cursor: &mut Cursor,
    ends: &[&str],
    ends_at_comma: bool,
) -> Vec<TokenWithSpan> {
    let (all, mut nesting) = (cursor.rest(), Nesting::default());
    // The token before this one, unless it is a name after a point.
    let mut before: Option<&Token> = None;
    while let Some(token) = cursor.peek() {
        let (is_outside, is_member) = (nesting.outer.is_empty(), before == Some(&Token::Period));
        // `a IS DISTINCT FROM b` continues after FROM.
        let is_distinct = before.is_word("DISTINCT");
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => nesting.open(true),
            Token::RParen | Token::RBracket | Token::RBrace if !nesting.is_in_bracket() => break,
            Token::RParen | Token::RBracket | Token::RBrace => nesting.close_bracket(),
            Token::Comma if is_outside && ends_at_comma => break,
            // `u.case` and `t.order` are columns.
            Token::Word(_) if is_member => {}
            Token::Word(_) if cursor.is_word("CASE") => nesting.cases += 1,
            // WHEN ends the assignments of a MERGE, but not within a CASE.
            Token::Word(_) if nesting.cases > 0 && cursor.is_word("WHEN") => {
                nesting.cases -= 1;
                nesting.open(false);
            }
            Token::Word(_) if cursor.is_word("END") && !before.is_some_and(precedes_operand) => {
                nesting.close_case();
            }
            Token::Word(_) if is_outside && !is_distinct && cursor.peek().is_one_of(ends) => {
                break;
            }
            _ => {}
        }
        before = Some(token).filter(|_| !is_member);
        cursor.next();
    }
    all[..all.len() - cursor.rest().len()].to_vec()
}

/// The open brackets and CASEs before a token.
#[derive(Default)]
struct Nesting {
    /// The brackets (`true`), and each CASE after its first WHEN, with the `cases` outside it.
    outer: Vec<(bool, usize)>,
    /// How many words CASE no WHEN has followed yet. Until then each may be a column of that name.
    cases: usize,
}

impl Nesting {
    fn open(&mut self, is_bracket: bool) {
        self.outer.push((is_bracket, std::mem::take(&mut self.cases)));
    }

    fn is_in_bracket(&self) -> bool {
        self.outer.iter().rev().any(|(is_bracket, _)| *is_bracket)
    }

    /// Closes the innermost bracket, with all in it that is still open.
    fn close_bracket(&mut self) {
        while let Some((is_bracket, cases)) = self.outer.pop() {
            self.cases = cases;
            if is_bracket {
                return;
            }
        }
    }

    /// Closes the innermost CASE, if one is open within the innermost bracket: elsewhere END is a
    /// column.
    fn close_case(&mut self) {
        self.cases = 0;
        if let Some(&(false, cases)) = self.outer.last() {
            self.outer.pop();
            self.cases = cases;
        }
    }
}

/// Whether an operand follows, so that END is a column there.
fn precedes_operand(token: &Token) -> bool {
    let is_operator = matches!(
        token,
        Token::Eq
            | Token::Neq
            | Token::Lt
            | Token::Gt
            | Token::LtEq
            | Token::GtEq
            | Token::Plus
            | Token::Minus
            | Token::Mul
            | Token::Div
            | Token::Mod
            | Token::StringConcat
    );
    let words = ["CASE", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT"];
    is_operator || token.is_one_of(&words)
}
