//! Makes tokens for statements that are not in the user's text.

use datafusion::sql::sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use crate::text::{CATALOG, SCHEMA};

pub(super) fn separated(items: impl Iterator<Item = Vec<TokenWithSpan>>) -> Vec<TokenWithSpan> {
    let mut tokens = Vec::new();
    for item in items {
        tokens.extend(item);
        tokens.push(made(Token::Comma));
    }
    tokens
}

/// A token that is not in the text.
pub(crate) fn made(token: Token) -> TokenWithSpan {
    TokenWithSpan { token, span: Span::empty() }
}

pub(crate) fn word(keyword: &str) -> TokenWithSpan {
    made(Token::make_keyword(keyword))
}

pub(crate) fn quoted(name: &str) -> TokenWithSpan {
    let token = Token::make_word(name, Some('"'));
    debug_assert!(matches!(&token, Token::Word(Word { quote_style: Some('"'), .. })));
    made(token)
}

/// The name of the table under a path. A deep one is one name, for the planner takes no more parts;
/// so is one whose first part would be a catalog or a schema.
pub(super) fn table_name(path: &str) -> Vec<TokenWithSpan> {
    const PARTS_MAX: usize = 3;
    let path = path.to_ascii_lowercase();
    let parts: Vec<&str> = path.split('.').collect();
    if parts.len() > PARTS_MAX || [CATALOG, SCHEMA].contains(&parts[0]) {
        return vec![quoted(&path)];
    }
    let parts = parts.into_iter().flat_map(|part| [made(Token::Period), quoted(part)]);
    parts.skip(1).collect()
}

/// Tokens within parentheses.
pub(super) fn in_parentheses(tokens: &[TokenWithSpan]) -> Vec<TokenWithSpan> {
    let mut all = vec![made(Token::LParen)];
    all.extend_from_slice(tokens);
    all.push(made(Token::RParen));
    all
}
