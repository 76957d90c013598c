//! A cursor over tokens that knows the line and column of each, for messages.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token, Tokenizer};
use tonnage_engine::{Error, Result};

use super::dialect::DefinitionDialect;

static DIALECT: DefinitionDialect = DefinitionDialect;

/// The position in a text of DDL that is read next.
pub(super) struct TokenCursor {
    parser: Parser<'static>,
    /// Where the text ends: the end of a text has no place of its own.
    end: Location,
    /// How deep in each other the types are that are being read.
    depth: usize,
}

/// How deep types may be written in each other; how deep they may be is looked at later.
const DEPTH_MAX: usize = 64;

impl TokenCursor {
    pub(super) fn new(sql: &str) -> Result<Self> {
        let tokens = Tokenizer::new(&DIALECT, sql).tokenize_with_location();
        let tokens = tokens.map_err(|error| {
            Error::invalid(format!("{}: {}", location_text(error.location), error.message))
        })?;
        let end = tokens.last().map_or(Location::new(1, 1), |token| token.span.end);
        let parser = Parser::new(&DIALECT).with_tokens_with_locations(tokens);
        Ok(Self { parser, end, depth: 0 })
    }

    /// Where the next token begins.
    pub(super) fn location(&self) -> Location {
        let token = self.parser.peek_token_ref();
        if token.token == Token::EOF { self.end } else { token.span.start }
    }

    /// An error at the next token.
    pub(super) fn expected(&self, what: &str) -> Error {
        let found = match &self.parser.peek_token_ref().token {
            Token::EOF => "the end".to_owned(),
            token => format!("'{token}'"),
        };
        self.error_at(self.location(), &format!("expected {what}, found {found}"))
    }

    pub(super) fn error_at(&self, location: Location, message: &str) -> Error {
        Error::invalid(format!("{}: {message}", location_text(location)))
    }

    /// Takes the next token if it is this word outside quotes.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.parser.next_token();
        }
        found
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.parser.peek_token_ref().token, Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word))
    }

    /// Whether the next tokens are this word and an opening parenthesis.
    pub(super) fn is_call(&self, word: &str) -> bool {
        self.is_word(word) && self.parser.peek_nth_token_ref(1).token == Token::LParen
    }

    /// Whether an expression comes next rather than a literal: a call, or parentheses.
    pub(super) fn is_expression(&self) -> bool {
        let (next, after) = (self.parser.peek_token_ref(), self.parser.peek_nth_token_ref(1));
        next.token == Token::LParen
            || matches!(next.token, Token::Word(_)) && after.token == Token::LParen
    }

    /// Whether `ALWAYS AS (` comes next: a value computed of other columns.
    pub(super) fn is_generated_value(&self) -> bool {
        let is = |at: usize, word: &str| matches!(&self.parser.peek_nth_token_ref(at).token, Token::Word(found) if found.value.eq_ignore_ascii_case(word));
        is(0, "ALWAYS") && is(1, "AS") && self.parser.peek_nth_token_ref(2).token == Token::LParen
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.word(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    pub(super) fn token(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    pub(super) fn expect(&mut self, token: &Token) -> Result<()> {
        if self.token(token) { Ok(()) } else { Err(self.expected(&format!("'{token}'"))) }
    }

    /// A word outside quotes, as written.
    pub(super) fn plain_word(&mut self, what: &str) -> Result<String> {
        match &self.parser.peek_token_ref().token {
            Token::Word(word) if word.quote_style.is_none() => {
                let word = word.value.clone();
                self.parser.next_token();
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A name, in quotes or not.
    pub(super) fn name(&mut self, what: &str) -> Result<String> {
        match &self.parser.peek_token_ref().token {
            Token::Word(word) => {
                let name = word.value.clone();
                if name.contains('.') {
                    return Err(self.error_at(
                        self.location(),
                        &format!("the name \"{name}\" holds a point, which a name cannot"),
                    ));
                }
                self.parser.next_token();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A name that may hold anything when it is in quotes.
    pub(super) fn quotable(&mut self, what: &str) -> Result<String> {
        match &self.parser.peek_token_ref().token {
            Token::Word(word) => {
                let name = word.value.clone();
                self.parser.next_token();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A table's full name.
    pub(super) fn path(&mut self) -> Result<String> {
        let mut path = self.name("the name of a table")?;
        while self.token(&Token::Period) {
            path.push('.');
            path.push_str(&self.name("the name of a child table")?);
        }
        Ok(path)
    }

    /// A number without sign, as written.
    pub(super) fn number(&mut self, what: &str) -> Result<String> {
        match &self.parser.peek_token_ref().token {
            Token::Number(number, _) => {
                let number = number.clone();
                self.parser.next_token();
                Ok(number)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A whole number without sign that fits.
    pub(super) fn whole<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let location = self.location();
        let number = self.number(what)?;
        number.parse().map_err(|_| self.error_at(location, &format!("{number} is not {what}")))
    }

    /// Text in single quotes, not taken yet.
    pub(super) fn peeked_text(&self) -> Option<&str> {
        match &self.parser.peek_token_ref().token {
            Token::SingleQuotedString(text) => Some(text),
            _ => None,
        }
    }

    /// Text in single quotes.
    pub(super) fn text(&mut self) -> Option<String> {
        match &self.parser.peek_token_ref().token {
            Token::SingleQuotedString(text) => {
                let text = text.clone();
                self.parser.next_token();
                Some(text)
            }
            _ => None,
        }
    }

    /// Something nested in another of its kind.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEPTH_MAX {
            return Err(self.error_at(self.location(), "types are nested too deep"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// A list in parentheses.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.expect(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.token(&Token::Comma) {
            items.push(item(self)?);
        }
        if self.token(&Token::RParen) { Ok(items) } else { Err(self.expected("',' or ')'")) }
    }

    /// Passes over semicolons. Whether the text ends there.
    pub(super) fn skip_semicolons(&mut self) -> bool {
        while self.token(&Token::SemiColon) {}
        self.parser.peek_token_ref().token == Token::EOF
    }

    pub(super) fn end_of_statement(&self) -> Result<()> {
        match self.parser.peek_token_ref().token {
            Token::EOF | Token::SemiColon => Ok(()),
            _ => Err(self.expected("';' or the end of the statement")),
        }
    }
}

fn location_text(location: Location) -> String {
    format!("line {}, column {}", location.line, location.column)
}
