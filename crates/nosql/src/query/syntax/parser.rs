//! A position in a statement, and what may stand there.

use super::fault::{DEPTH_MAX, STATEMENT_BYTES_MAX, too_deep, too_long, unexpected};
use super::lexer::{Lexer, Token, TokenKind};
use super::place::Place;
use crate::wire::Outcome;

/// Reads a statement from its front.
#[derive(Clone)]
pub(super) struct Parser<'s> {
    lexer: Lexer<'s>,
    token: Token<'s>,
    next: Option<Token<'s>>,
    depth: usize,
    /// How many question marks were read.
    pub(super) positional: usize,
}

impl<'s> Parser<'s> {
    pub(super) fn new(statement: &'s str) -> Outcome<Self> {
        if statement.len() > STATEMENT_BYTES_MAX {
            return Err(too_long(statement.len()));
        }
        let mut lexer = Lexer::new(statement);
        let token = lexer.next_token()?;
        Ok(Self { lexer, token, next: None, depth: 0, positional: 0 })
    }

    pub(super) fn token(&self) -> &Token<'s> {
        &self.token
    }

    pub(super) fn place(&self) -> Place {
        self.token.place
    }

    /// Takes a token.
    pub(super) fn take(&mut self) -> Outcome<Token<'s>> {
        let next = match self.next.take() {
            Some(next) => next,
            None => self.lexer.next_token()?,
        };
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// The token after the next one.
    fn behind(&mut self) -> Outcome<&Token<'s>> {
        if self.next.is_none() {
            self.next = Some(self.lexer.next_token()?);
        }
        Ok(self.next.as_ref().unwrap_or(&self.token))
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.token.is_word(word)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.token.is_sign(sign)
    }

    pub(super) fn is_word_before(&mut self, word: &str) -> Outcome<bool> {
        Ok(self.behind()?.is_word(word))
    }

    pub(super) fn is_sign_before(&mut self, sign: &str) -> Outcome<bool> {
        Ok(self.behind()?.is_sign(sign))
    }

    pub(super) fn eat_word(&mut self, word: &str) -> Outcome<bool> {
        let is_there = self.is_word(word);
        if is_there {
            self.take()?;
        }
        Ok(is_there)
    }

    pub(super) fn eat_sign(&mut self, sign: &str) -> Outcome<bool> {
        let is_there = self.is_sign(sign);
        if is_there {
            self.take()?;
        }
        Ok(is_there)
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Outcome<()> {
        if self.eat_word(word)? { Ok(()) } else { Err(self.wrong(word)) }
    }

    pub(super) fn expect_sign(&mut self, sign: &str) -> Outcome<()> {
        if self.eat_sign(sign)? { Ok(()) } else { Err(self.wrong(&format!("'{sign}'"))) }
    }

    /// A name: any word.
    pub(super) fn name(&mut self) -> Outcome<String> {
        match self.token.kind {
            TokenKind::Word => Ok(self.take()?.text.to_owned()),
            _ => Err(self.wrong("a name")),
        }
    }

    /// A whole number that is not negative.
    pub(super) fn whole<N: std::str::FromStr>(&mut self) -> Outcome<N> {
        let number = match self.token.kind {
            TokenKind::Whole => self.token.text.parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => {
                self.take()?;
                Ok(number)
            }
            None => Err(self.wrong("a whole number")),
        }
    }

    /// Reads things with commas between.
    pub(super) fn listed<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        let mut list = vec![read(self)?];
        while self.eat_sign(",")? {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Reads one level deeper.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth >= DEPTH_MAX {
            return Err(too_deep(self.place()));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    #[cold]
    pub(super) fn wrong(&self, expected: &str) -> crate::wire::Failure {
        let found = match self.token.kind {
            TokenKind::End => "<EOF>",
            _ => self.token.text,
        };
        unexpected(self.place(), found, expected)
    }
}

impl Token<'_> {
    fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.kind == TokenKind::Sign && self.text.eq_ignore_ascii_case(sign)
    }
}
