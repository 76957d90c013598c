//! Splits a text into statements.

use std::sync::Arc;

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};
use tonnage::{Error, Result};

use super::dialect::OwnDialect;
use super::{IsWord, StatementKind};
use crate::errors::invalid_at;

/// How deep expressions may nest.
const DEPTH_MAX: usize = 200;

/// One statement.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its tokens, blanks and comments left out.
    pub(crate) tokens: Arc<Vec<TokenWithSpan>>,
    pub(crate) kind: StatementKind,
    /// Where it ends.
    pub(crate) end: Location,
}

impl Piece {
    /// Where it begins.
    pub(crate) fn start(&self) -> Location {
        self.tokens.first().map_or(self.end, |token| token.span.start)
    }

    /// The tokens of WITH and its tables, and the statement after them.
    pub(crate) fn without_with(&self) -> (Vec<TokenWithSpan>, Piece) {
        let (tables, statement) = super::with::split_with(&self.tokens);
        let tokens = match tables.is_empty() {
            true => self.tokens.clone(),
            false => Arc::new(statement.to_vec()),
        };
        (tables.to_vec(), Piece { tokens, kind: self.kind, end: self.end })
    }

    /// The same with INSERT instead of UPSERT, which the parser does not know.
    pub(crate) fn with_insert(mut self) -> Self {
        if self.kind == StatementKind::Upsert {
            let at = super::with::split_with(&self.tokens).0.len();
            let tokens = Arc::make_mut(&mut self.tokens);
            tokens[at].token = Token::make_keyword("INSERT");
            debug_assert!(
                matches!(&tokens[at].token, Token::Word(word) if word.keyword == Keyword::INSERT)
            );
        }
        self
    }

    /// The statement as the parser sees it.
    pub(crate) fn parse(&self) -> Result<ast::Statement> {
        parse(self.tokens.to_vec(), self.end)
    }

    /// A SELECT that names no table, with that table; one that names some stays as it is.
    pub(crate) fn with_from(&self, path: &str) -> Self {
        const FOLLOWING: [&str; 8] =
            ["WHERE", "GROUP", "HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT", "OFFSET"];
        let mut depth = 0_i32;
        let mut at = self.tokens.len();
        // Backwards, so that `at` ends at the first clause that belongs after FROM. Subqueries
        // have a FROM of their own.
        for (place, token) in self.tokens.iter().enumerate().rev() {
            match &token.token {
                Token::RParen => depth += 1,
                Token::LParen => depth -= 1,
                word if depth == 0 && word.is_word("FROM") => return self.clone(),
                word if depth == 0 && word.is_one_of(&FOLLOWING) => at = place,
                _ => {}
            }
        }
        let made = |token| TokenWithSpan { token, span: Span::empty() };
        // In quotes, since a table may be called like a word of SQL; in lower case, as bare names
        // are.
        let names = path.split('.').flat_map(|part| {
            [Token::Period, Token::make_word(&part.to_ascii_lowercase(), Some('"'))]
        });
        let from = std::iter::once(Token::make_keyword("FROM")).chain(names.skip(1));
        let mut tokens = self.tokens.to_vec();
        tokens.splice(at..at, from.map(made));
        Self { tokens: Arc::new(tokens), kind: self.kind, end: self.end }
    }

    /// The statement's own text, after as many blanks as precede it, so that positions are those of
    /// the whole text.
    pub(crate) fn text(&self, whole: &str) -> String {
        let start = self.start();
        let mut text = "\n".repeat(start.line.saturating_sub(1) as usize);
        text.push_str(&" ".repeat(start.column.saturating_sub(1) as usize));
        text.push_str(&whole[offset(whole, start)..offset(whole, self.end)]);
        text
    }
}

pub(crate) fn parse(tokens: Vec<TokenWithSpan>, end: Location) -> Result<ast::Statement> {
    super::depth::check(&tokens)?;
    let mut tokens = super::spelling::respell_tokens(super::path::join_deep_paths(tokens))?;
    super::name_case::fold(&mut tokens);
    let span = Span::new(end, end);
    tokens.push(TokenWithSpan { token: Token::EOF, span });
    let dialect = OwnDialect::of_tokens(tokens.len());
    let mut parser =
        Parser::new(&dialect).with_recursion_limit(DEPTH_MAX).with_tokens_with_locations(tokens);
    let mut statement = super::parse_budget::statement(&mut parser)?;
    let next = parser.peek_token();
    match next.token {
        Token::EOF => {
            check_bounds(&statement)?;
            super::rewrite::rewrite(&mut statement).map(|()| statement)
        }
        token => Err(invalid_at(
            next.span.start,
            format!("expected ';' or the end of the statement, found '{token}'"),
        )),
    }
}

/// Refuses a statement that the planner would expand without end.
///
/// # Errors
/// `Unsupported`.
pub(crate) fn check_bounds(statement: &ast::Statement) -> Result<()> {
    super::nesting::check(statement)?;
    super::growth::check(statement)
}

/// The statements of a text.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece>> {
    let tokens = Tokenizer::new(&OwnDialect::default(), text).tokenize_with_location();
    let mut tokens = tokens.map_err(|error| invalid_at(error.location, error.message))?;
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
    super::question_marks::number(&mut tokens)?;
    super::parameter::check(&tokens)?;
    let (mut pieces, mut statement) = (Vec::new(), Vec::new());
    let mut end = Location::new(1, 1);
    for token in tokens {
        match token.token {
            Token::SemiColon => push(&mut pieces, &mut statement, end),
            _ => {
                end = token.span.end;
                statement.push(token);
            }
        }
    }
    push(&mut pieces, &mut statement, end);
    Ok(pieces)
}

fn push(pieces: &mut Vec<Piece>, statement: &mut Vec<TokenWithSpan>, end: Location) {
    if statement.is_empty() {
        return;
    }
    let tokens = super::file_name::name_files(std::mem::take(statement));
    let tokens = super::shorthand::spelled_out(tokens);
    let kind = StatementKind::of(&tokens);
    pieces.push(Piece { tokens: Arc::new(tokens), kind, end }.with_insert());
}

/// The byte offset of a position; positions count characters.
fn offset(text: &str, place: Location) -> usize {
    let mut line_start = 0;
    for _ in 1..place.line {
        line_start += text[line_start..].find('\n').map_or(text.len() - line_start, |at| at + 1);
    }
    let line = &text[line_start..];
    let column = place.column.saturating_sub(1) as usize;
    line_start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
}

/// What is said of a text without a statement.
pub(crate) fn missing_statement() -> Error {
    Error::invalid("there is no statement: write for instance 'SHOW TABLES'")
}

/// The one statement that a text must hold.
pub(crate) fn single(text: &str) -> Result<Piece> {
    let mut pieces = pieces(text)?;
    match pieces.len() {
        1 => Ok(pieces.remove(0)),
        0 => Err(missing_statement()),
        _ => Err(invalid_at(
            pieces[1].start(),
            "a second statement begins here, where one alone is allowed",
        )),
    }
}
