//! A cursor over the tokens of a statement.

use datafusion::sql::sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};
use tonnage::{Error, Result};

use super::{IsWord, Piece};
use crate::errors::invalid_at;

/// The token that is read next.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    tokens: &'a [TokenWithSpan],
    end: Location,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(piece: &'a Piece) -> Self {
        Self { tokens: &piece.tokens, end: piece.end }
    }

    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.first().map(|token| &token.token)
    }

    pub(crate) fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(&first.token)
    }

    /// The tokens that are left.
    pub(crate) fn rest(&self) -> &'a [TokenWithSpan] {
        self.tokens
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Where the next token is.
    pub(crate) fn span(&self) -> Span {
        self.tokens.first().map_or_else(Span::empty, |token| token.span)
    }

    pub(crate) fn location(&self) -> Location {
        self.tokens.first().map_or(self.end, |token| token.span.start)
    }

    /// Takes the next token if it is this one.
    pub(crate) fn token(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.next();
        }
        found
    }

    /// Takes the next token if it is this word outside quotes.
    pub(crate) fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.peek().is_word(word)
    }

    /// Takes a name, in quotes or not.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        match self.peek()? {
            Token::Word(word) => {
                self.next();
                Some(&word.value)
            }
            _ => None,
        }
    }

    /// Takes this word.
    ///
    /// # Errors
    /// `Invalid` at another token; so are those of the functions below.
    pub(crate) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.word(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    pub(crate) fn expect_token(&mut self, token: &Token) -> Result<()> {
        if self.token(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }

    /// Takes a name; `what` says of what.
    pub(crate) fn expect_name(&mut self, what: &str) -> Result<&'a str> {
        self.name().ok_or_else(|| self.expected(what))
    }

    /// Takes items between commas in parentheses, one at least.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect_token(&Token::LParen)?;
        let mut items = Vec::new();
        loop {
            items.push(item(self)?);
            if self.token(&Token::RParen) {
                return Ok(items);
            }
            if !self.token(&Token::Comma) {
                return Err(self.expected("',' or ')'"));
            }
        }
    }

    /// Takes the names of columns in parentheses, if these are here.
    pub(crate) fn column_names(&mut self) -> Result<Vec<String>> {
        match self.peek() {
            Some(Token::LParen) => {
                self.list(|cursor| cursor.expect_name("the name of a column").map(str::to_owned))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Takes the path of a table.
    pub(crate) fn path(&mut self) -> Option<String> {
        self.parts().map(|parts| parts.join("."))
    }

    /// Takes the names of a path, one by one.
    pub(crate) fn parts(&mut self) -> Option<Vec<&'a str>> {
        let mut parts = vec![self.name()?];
        while self.token(&Token::Period) {
            parts.push(self.name()?);
        }
        Some(parts)
    }

    /// An error at the next token.
    pub(crate) fn expected(&self, what: &str) -> Error {
        let found = self.peek().map_or("the end".to_owned(), |token| format!("'{token}'"));
        invalid_at(self.location(), format!("expected {what}, found {found}"))
    }

    pub(crate) fn end(&self) -> Result<()> {
        if self.is_at_end() {
            Ok(())
        } else {
            Err(self.expected("';' or the end of the statement"))
        }
    }
}
