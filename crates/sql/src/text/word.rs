//! Words of SQL among tokens. In quotes a word is a name.

use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

pub(crate) trait IsWord {
    /// Whether this is one of these words, outside quotes.
    fn is_one_of(&self, words: &[&str]) -> bool;

    fn is_word(&self, word: &str) -> bool {
        self.is_one_of(&[word])
    }
}

impl IsWord for Token {
    fn is_one_of(&self, words: &[&str]) -> bool {
        matches!(self, Token::Word(found) if found.quote_style.is_none()
            && words.iter().any(|word| found.value.eq_ignore_ascii_case(word)))
    }
}

impl IsWord for TokenWithSpan {
    fn is_one_of(&self, words: &[&str]) -> bool {
        self.token.is_one_of(words)
    }
}

impl<T: IsWord> IsWord for Option<&T> {
    fn is_one_of(&self, words: &[&str]) -> bool {
        self.is_some_and(|token| token.is_one_of(words))
    }
}
