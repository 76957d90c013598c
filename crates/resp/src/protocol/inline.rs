//! Commands as a line of words, as people type them: `SET greeting "good morning"`.

use std::ops::Range;

/// Gives the words of a line as ranges of it. Words in quotes are written back without their quotes
/// and escapes, in place: they never become longer. Answers whether all quotes are closed.
pub(super) fn split_line(line: &mut [u8], mut word: impl FnMut(Range<usize>)) -> bool {
    let mut at = 0;
    loop {
        while line.get(at).is_some_and(|byte| is_space(*byte)) {
            at += 1;
        }
        if at == line.len() {
            return true;
        }
        // The word is written back from its start: it never overtakes what is read.
        let start = at;
        let mut end = at;
        // Quotes may begin in the middle of a word, and end it.
        while at < line.len() && !is_space(line[at]) {
            match line[at] {
                quote @ (b'"' | b'\'') => {
                    let Some(behind) = unquote(line, at + 1, quote, &mut end) else { return false };
                    at = behind;
                    if line.get(at).is_some_and(|byte| !is_space(*byte)) {
                        return false;
                    }
                }
                byte => {
                    line[end] = byte;
                    end += 1;
                    at += 1;
                }
            }
        }
        word(start..end);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C | 0)
}

/// Copies the quoted text to `end`, and returns where the line continues.
fn unquote(line: &mut [u8], mut at: usize, quote: u8, end: &mut usize) -> Option<usize> {
    let mut put = |line: &mut [u8], byte| {
        line[*end] = byte;
        *end += 1;
    };
    loop {
        let byte = *line.get(at)?;
        if byte == quote {
            return Some(at + 1);
        }
        // Single quotes know one escape, double quotes those of C.
        let escaped = (byte == b'\\').then(|| line.get(at + 1).copied()).flatten();
        match (quote, escaped) {
            (b'"', Some(b'x')) if hexadecimal(line, at + 2).is_some() => {
                let code = hexadecimal(line, at + 2)?;
                put(line, code);
                at += 4;
            }
            (b'"', Some(escaped)) => {
                let meant = match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => other,
                };
                put(line, meant);
                at += 2;
            }
            (b'\'', Some(b'\'')) => {
                put(line, b'\'');
                at += 2;
            }
            // A backslash at the end of the line means itself.
            _ => {
                put(line, byte);
                at += 1;
            }
        }
    }
}

/// The byte that two hexadecimal digits mean.
fn hexadecimal(line: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| char::from(*line.get(at)?).to_digit(16);
    Some((digit(at)? * 16 + digit(at + 1)?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<Vec<u8>>> {
        let mut line = line.as_bytes().to_vec();
        let mut ranges = Vec::new();
        split_line(&mut line, |word| ranges.push(word))
            .then(|| ranges.into_iter().map(|range| line[range].to_vec()).collect())
    }

    #[test]
    fn words_are_parted_by_spaces_and_kept_together_by_quotes() {
        let cases: [(&str, &[&[u8]]); 7] = [
            ("", &[]),
            ("  PING\t", &[b"PING"]),
            ("SET a \"b c\"", &[b"SET", b"a", b"b c"]),
            ("SET a 'b \\' \\n'", &[b"SET", b"a", b"b ' \\n"]),
            (r#"SET a "\x00\xff\n\"\\q""#, &[b"SET", b"a", b"\x00\xff\n\"\\q"]),
            (r#"SET a """#, &[b"SET", b"a", b""]),
            (r#"SET a"b" c"#, &[b"SET", b"ab", b"c"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn quotes_that_stay_open_or_touch_a_word_are_refused() {
        for line in ["\"", "'a", "SET a \"b\"c", "\"a\\", "'a'b"] {
            assert_eq!(words(line), None, "{line}");
        }
    }
}
