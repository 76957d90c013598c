//! Decodes percent-encoded text, as in URLs.

/// The text that is meant.
pub(crate) fn decode_percent(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((byte, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_code = |code: &&str| *byte == b'%' && code.bytes().all(|b| b.is_ascii_hexdigit());
        let code = code.filter(is_code).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
