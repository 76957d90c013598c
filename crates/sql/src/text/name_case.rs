//! Folds quoted names to lower case: the store ignores case.

use std::collections::HashSet;

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use super::file_name::FileName;

/// Brings names in quotes to lower case, but for those that the statement gives itself
/// (`AS "Total"`) and those of files.
pub(super) fn fold(tokens: &mut [TokenWithSpan]) {
    let given: HashSet<String> = (1..tokens.len())
        .filter(|place| is_given(&tokens[place - 1].token))
        .filter_map(|place| quoted(&tokens[place].token).map(str::to_owned))
        .collect();
    for token in tokens {
        if let Token::Word(word) = &mut token.token
            && word.quote_style.is_some()
            && !given.contains(&word.value)
            && FileName::parse(&word.value).is_none()
        {
            word.value.make_ascii_lowercase();
        }
    }
}

fn quoted(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) if word.quote_style.is_some() => Some(&word.value),
        _ => None,
    }
}

/// Whether what follows this token is a name that the statement gives.
fn is_given(before: &Token) -> bool {
    match before {
        Token::Word(word) => {
            word.keyword == Keyword::AS
                || word.keyword == Keyword::NoKeyword
                || word.quote_style.is_some()
        }
        Token::RParen | Token::Number(..) | Token::SingleQuotedString(_) => true,
        _ => false,
    }
}
