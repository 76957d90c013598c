//! Patterns of text: `.` is any character, `.*` any text, `\Q` to `\E` the literal text.
//!
//! The language has no other operators, so that matching needs one pass with one place to go back
//! to: it takes the product of both lengths at most, and no memory.

/// A pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<PatternPart>,
    ignores_case: bool,
    takes_lines: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PatternPart {
    Character(char),
    AnyCharacter,
    AnyText,
}

impl Pattern {
    /// # Errors
    /// What in it is not a pattern of the language.
    pub(super) fn parse(text: &str, flags: &str) -> Result<Self, String> {
        if let Some(flag) = flags.chars().find(|flag| !"dixlsucm".contains(*flag)) {
            return Err(format!("The flags parameter [{flags}] contains an unknown flag: {flag}"));
        }
        // What the language does not know is refused: it would otherwise be taken word for word.
        let refused = || {
            format!("The pattern parameter [{text}] contains an unsupported regular expression.")
        };
        let (mut parts, mut rest, mut is_quoted) = (Vec::new(), text, flags.contains('l'));
        while let Some(first) = rest.chars().next() {
            if is_quoted && !flags.contains('l') && rest.starts_with("\\E") {
                (is_quoted, rest) = (false, &rest[2..]);
                continue;
            }
            let mut len = first.len_utf8();
            // In quotes nothing has a meaning of its own.
            let part = match first {
                _ if is_quoted => PatternPart::Character(first),
                '\\' if rest.starts_with("\\Q") => {
                    (is_quoted, rest) = (true, &rest[2..]);
                    continue;
                }
                '\\' => {
                    let behind = rest[1..].chars().next().ok_or_else(refused)?;
                    len += behind.len_utf8();
                    PatternPart::Character(match behind {
                        't' => '\t',
                        'n' => '\n',
                        'r' => '\r',
                        'f' => '\u{c}',
                        'a' => '\u{7}',
                        'e' => '\u{1b}',
                        other if !other.is_alphanumeric() => other,
                        _ => return Err(refused()),
                    })
                }
                '.' if rest.starts_with(".*") => {
                    len = 2;
                    PatternPart::AnyText
                }
                '.' => PatternPart::AnyCharacter,
                '[' | ']' | '(' | ')' | '{' | '}' | '*' | '+' | '?' | '|' | '^' | '$' => {
                    return Err(refused());
                }
                other => PatternPart::Character(other),
            };
            parts.push(part);
            rest = &rest[len..];
        }
        let ignores_case = flags.contains('i') || flags.contains('u');
        Ok(Self { parts, ignores_case, takes_lines: flags.contains('s') })
    }

    /// Whether all of a text is like this.
    pub(super) fn matches(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        let (mut at, mut part) = (0, 0);
        // The position after the last `.*`, and how much of the text it has taken.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            // Only the last `.*` is ever tried again: whatever the ones before took will do.
            let is_done = part == self.parts.len();
            if is_done && at == chars.len() {
                return true;
            }
            match self.parts.get(part) {
                Some(PatternPart::AnyText) => {
                    part += 1;
                    retry = Some((part, at));
                    continue;
                }
                Some(part_here) if at < chars.len() && self.is_like(*part_here, chars[at]) => {
                    (at, part) = (at + 1, part + 1);
                    continue;
                }
                _ => {}
            }
            match &mut retry {
                Some((behind, taken)) if *taken < chars.len() && self.is_any(chars[*taken]) => {
                    *taken += 1;
                    (at, part) = (*taken, *behind);
                }
                _ => return false,
            }
        }
    }

    fn is_any(&self, character: char) -> bool {
        self.takes_lines || !matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
    }

    fn is_like(&self, part: PatternPart, character: char) -> bool {
        match part {
            PatternPart::Character(own) if self.ignores_case => {
                own == character || own.to_lowercase().eq(character.to_lowercase())
            }
            PatternPart::Character(own) => own == character,
            _ => self.is_any(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_text_is_like_its_pattern() {
        for (text, pattern, flags, is_like) in [
            ("n1", "n", "", false),
            ("n1", "n.", "", true),
            ("n10", "n1.*", "", true),
            ("N1", "n1", "i", true),
            ("a.b", "a\\.b", "", true),
            ("axb", "a\\.b", "", false),
            ("a.*b", "\\Qa.*b\\E", "", true),
            ("aXbXc", "a.*X.*c", "", true),
            ("", ".*", "", true),
            ("a\nb", "a.b", "", false),
            ("a\nb", "a.b", "s", true),
        ] {
            let parsed = Pattern::parse(pattern, flags).unwrap();
            assert_eq!(parsed.matches(text), is_like, "{text} {pattern}");
        }
        for pattern in ["n[12].*", "a*", "a+", "(a)", "a|b", "\\d"] {
            assert!(Pattern::parse(pattern, "").is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_goes_back_often_ends_soon() {
        let pattern = Pattern::parse(&format!("{}b", ".*a".repeat(200)), "").unwrap();
        assert!(!pattern.matches(&"a".repeat(2_000)));
    }
}
