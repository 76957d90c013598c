//! Patterns as KEYS and SCAN take them: `*`, `?`, `[a-c]`, `[^a]`, and `\` before a byte that means
//! itself.

/// Whether a pattern matches a text. Takes at most as many steps as both are long together, times
/// the length of the text, whatever the pattern is.
pub fn glob_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // After the last star, whose match ends here. Longer ones are tried when the rest does not
    // match; earlier stars need no second try.
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
            continue;
        }
        if t == text.len() && p == pattern.len() {
            return true;
        }
        // Nothing matches after the end of the text.
        let step = (t < text.len()).then(|| match_one(&pattern[p..], text[t])).flatten();
        match (step, &mut star) {
            (Some(taken), _) => {
                p += taken;
                t += 1;
            }
            (None, Some((behind, matched))) if *matched < text.len() => {
                *matched += 1;
                (p, t) = (*behind, *matched);
            }
            _ => return false,
        }
    }
}

/// How many bytes of the pattern match one byte.
fn match_one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => match_class(rest, byte).map(|taken| taken + 1),
        [b'\\', literal, ..] => (*literal == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
    }
}

/// The same for a class, after its bracket. One that is not closed ends with the pattern.
fn match_class(class: &[u8], byte: u8) -> Option<usize> {
    // A bracket directly after this one closes an empty class, as in Redis.
    let (is_not, mut at) = (class.first() == Some(&b'^'), 0);
    at += usize::from(is_not);
    let mut is_in = false;
    loop {
        match &class[at.min(class.len())..] {
            [] => break,
            [b'\\', literal, ..] => {
                is_in |= *literal == byte;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [low, b'-', high, ..] => {
                // Ranges may be written either way round.
                let (low, high) = (low.min(high), low.max(high));
                is_in |= (*low..=*high).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                is_in |= *literal == byte;
                at += 1;
            }
        }
    }
    (is_in != is_not).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_redis() {
        let matching = [
            ("*", ""),
            ("h?llo", "hello"),
            ("h*llo", "hllo"),
            ("h[ae]llo", "hallo"),
            ("h[^e]llo", "hallo"),
            ("h[a-c]llo", "hbllo"),
            ("h[c-a]llo", "hbllo"),
            (r"a\*b", "a*b"),
            (r"[\]]", "]"),
            ("a*b*c", "aXbYbZc"),
            ("[a", "a"),
        ];
        for (pattern, text) in matching {
            assert!(glob_matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
        let others = [("", "a"), ("a", ""), ("h[^e]llo", "hello"), ("a*b", "abc"), ("[", "a")];
        for (pattern, text) in others {
            assert!(!glob_matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
    }

    /// Tried by going back to every star, this would take longer than anybody waits.
    #[test]
    fn many_stars_take_no_time() {
        let pattern = "a*".repeat(60) + "b";
        assert!(!glob_matches(pattern.as_bytes(), &[b'a'; 10_000]));
    }
}
