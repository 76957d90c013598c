//! Measures the tokens of XML: tags, texts and comments.
//!
//! The reader of a sheet holds one token in memory. A few packed bytes may mean a token of
//! gigabytes, so the tokens are measured first. This scan follows quotes, comments and CDATA
//! sections as the reader does: one token of the reader is never longer than one token here.

/// The longest token. The text of a cell has up to 32,767 characters.
const TOKEN_BYTES_MAX: usize = 16 << 20;
/// What is kept of a tag, to know its name.
const TAG_BYTES_MAX: usize = 64;

const COMMENT: &[u8] = b"--";
const CHARACTERS: &[u8] = b"[CDATA[";

/// Scans the bytes of a part.
#[derive(Default)]
pub(super) struct XmlTokenScan {
    token: XmlToken,
    length: usize,
    /// How a tag begins, or what begins with an exclamation mark.
    begin: Vec<u8>,
    last: [u8; 2],
    has_formulas: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum XmlToken {
    #[default]
    Text,
    /// What follows `<`.
    Open,
    /// With the quote that is open in it.
    Tag(Option<u8>),
    /// What follows `<!`.
    Mark,
    Comment,
    Characters,
    /// What follows `<?`.
    Instruction,
}

impl XmlTokenScan {
    /// Takes the next bytes.
    /// # Errors
    /// What is wrong with them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        for byte in bytes {
            self.length += 1;
            if self.length > TOKEN_BYTES_MAX {
                return Err("has a piece of more than 16 MiB");
            }
            let token = self.next_token(*byte)?;
            self.last = [self.last[1], *byte];
            if token != self.token {
                self.enter(token);
            }
        }
        Ok(())
    }

    /// Whether there is a cell with a formula.
    pub(super) fn has_formulas(&self) -> bool {
        self.has_formulas
    }

    /// The token that the next byte belongs to.
    fn next_token(&mut self, byte: u8) -> Result<XmlToken, &'static str> {
        Ok(match self.token {
            XmlToken::Text if byte == b'<' => XmlToken::Open,
            XmlToken::Open => match byte {
                b'!' => XmlToken::Mark,
                b'?' => XmlToken::Instruction,
                b'>' => XmlToken::Text,
                _ => {
                    self.begin.push(byte);
                    XmlToken::Tag(None)
                }
            },
            XmlToken::Tag(None) => match byte {
                b'>' => {
                    self.has_formulas |= is_formula(&self.begin);
                    XmlToken::Text
                }
                b'"' | b'\'' => XmlToken::Tag(Some(byte)),
                _ => {
                    // The name is enough: a tag may be long, and this scan is to hold no token.
                    if self.begin.len() < TAG_BYTES_MAX {
                        self.begin.push(byte);
                    }
                    XmlToken::Tag(None)
                }
            },
            XmlToken::Tag(Some(quote)) if byte == quote => XmlToken::Tag(None),
            XmlToken::Mark => {
                self.begin.push(byte);
                match self.begin.as_slice() {
                    COMMENT => XmlToken::Comment,
                    CHARACTERS => XmlToken::Characters,
                    begin if COMMENT.starts_with(begin) || CHARACTERS.starts_with(begin) => {
                        XmlToken::Mark
                    }
                    // A document type has a grammar of its own, which this scan does not follow.
                    _ => return Err("has a document type, which no workbook has"),
                }
            }
            XmlToken::Comment if byte == b'>' && self.last == *b"--" => XmlToken::Text,
            XmlToken::Characters if byte == b'>' && self.last == *b"]]" => XmlToken::Text,
            XmlToken::Instruction if byte == b'>' && self.last[1] == b'?' => XmlToken::Text,
            token => token,
        })
    }

    fn enter(&mut self, token: XmlToken) {
        match token {
            XmlToken::Text | XmlToken::Open => {
                self.begin.clear();
                self.length = 0;
            }
            // A comment does not end by the dashes that begin it.
            XmlToken::Comment | XmlToken::Characters | XmlToken::Instruction => self.last = [0; 2],
            XmlToken::Tag(_) | XmlToken::Mark => {}
        }
        self.token = token;
    }
}

/// Whether a tag begins the formula of a cell: `f`, with or without a prefix.
fn is_formula(tag: &[u8]) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'/';
    let name = tag.split(is_end).next().unwrap_or_default();
    name.rsplit(|byte| *byte == b':').next() == Some(b"f")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &[u8]) -> Result<bool, &'static str> {
        let mut whole = XmlTokenScan::default();
        let taken = whole.take(text);
        let mut pieces = XmlTokenScan::default();
        assert_eq!(text.chunks(3).try_for_each(|piece| pieces.take(piece)), taken);
        taken.map(|()| whole.has_formulas())
    }

    #[test]
    fn formulas_are_found() {
        for (text, has_formulas) in [
            ("<c r=\"A1\"><f>1+1</f><v>2</v></c>", true),
            ("<x:c><x:f/></x:c>", true),
            ("<c><f t=\"shared\" si=\"0\"/></c>", true),
            ("<c r=\"<f>\"><v>2</v></c><!-- <f> --><![CDATA[<f>]]><?f?><font/>&lt;f>", false),
        ] {
            assert_eq!(scanned(text.as_bytes()), Ok(has_formulas), "{text}");
        }
    }

    #[test]
    fn no_token_is_long() {
        let long = "x".repeat(TOKEN_BYTES_MAX);
        for (before, behind) in [
            ("<t>", "</t>"),
            ("<t a=\"", "\">"),
            ("<t a='>", "'>"),
            ("<!-->", "-->"),
            ("<![CDATA[<t>", "]]>"),
            ("<?x ", "?>"),
            ("</t ", ">"),
        ] {
            assert!(scanned(format!("{before}{long}{behind}").as_bytes()).is_err(), "{before}");
            assert_eq!(scanned(format!("{before}short{behind}").as_bytes()), Ok(false), "{before}");
        }
        assert!(
            scanned(format!("<t>{}</t>", "<b/>x".repeat(TOKEN_BYTES_MAX / 4)).as_bytes()).is_ok()
        );
        assert!(scanned(b"<!DOCTYPE x [<!ENTITY a \"b\">]>").is_err());
    }
}
