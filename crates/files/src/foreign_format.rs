//! Recognizes, by their first bytes, formats that are not read, for clear error messages.

/// How long a piece of a file is that a message quotes.
const QUOTED_BYTES_MAX: usize = 40;

const PACKED_TOO_OFTEN: &str = "is packed more than three times: unpack it first";

/// What begins so is not text, and no other format that is read.
const MAGIC: [(&[u8], &str); 12] = [
    (
        b"BZh",
        "is packed with bzip2, which is not read: unpack it first, for instance with bzip2 -dc",
    ),
    (b"PK\x03\x04", PACKED_TOO_OFTEN),
    (b"PK\x05\x06", PACKED_TOO_OFTEN),
    (b"\xd0\xcf\x11\xe0", PACKED_TOO_OFTEN),
    (b"\x1f\x8b", PACKED_TOO_OFTEN),
    (b"\x28\xb5\x2f\xfd", PACKED_TOO_OFTEN),
    (b"\xfd7zX", PACKED_TOO_OFTEN),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive, which is not read: take its files out first"),
    (
        b"\x04\x22\x4d\x18",
        "is packed with lz4, which is not read: unpack it first, for instance with lz4 -dc",
    ),
    (b"%PDF-", "is a PDF document, not a file of records"),
    (
        b"SQLite format 3\0",
        "is an SQLite database, which is not read: have sqlite3 write its tables as CSV",
    ),
    (
        b"\xff\xfe\0\0",
        "is UTF-32, which is not read: convert it, for instance with iconv -f UTF-32 -t UTF-8",
    ),
];

/// What a file is that is not read, and what to do.
pub(crate) fn describe_foreign(head: &[u8]) -> Option<&'static str> {
    if let Some((magic, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        // Text may begin with these letters: bzip2 says more about itself.
        return (*magic != b"BZh" || head.get(4..10) == Some(b"1AY&SY")).then_some(what);
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("is a tar archive, which is not read: take its files out first");
    }
    let text = head.trim_ascii_start();
    let begins_with = |word: &str| {
        text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
    };
    if begins_with("<!doctype html") || begins_with("<html") {
        return Some("is an HTML page, not a file of records: see whether the download failed");
    }
    begins_with("<?xml").then_some("is XML, which is not read: convert it to CSV or JSON lines")
}

/// What a file holds that is to be JSON but in which no object was found.
pub(crate) fn why_no_objects(head: &[u8]) -> String {
    let text = head.trim_ascii_start();
    let rest = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    match (text.first(), rest) {
        (None, _) => "it is empty: there is nothing to make columns from".to_owned(),
        (_, Some([b']', ..])) => {
            "its array is empty: there is nothing to make columns from".to_owned()
        }
        (_, Some(rest)) => {
            format!("its array holds no objects but `{}`: a record is an object", quoted(rest))
        }
        (Some(b'{'), _) => {
            format!("there is no whole object in it; it begins with `{}`", quoted(text))
        }
        _ => format!(
            "it is not JSON: it begins with `{}`; if it is CSV, give that as its format",
            quoted(text)
        ),
    }
}

fn quoted(text: &[u8]) -> String {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(&line[..line.len().min(QUOTED_BYTES_MAX)]).trim_end().to_owned()
}
