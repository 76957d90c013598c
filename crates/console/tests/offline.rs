//! The page loads nothing from elsewhere.

use std::io::Read;

use flate2::read::GzDecoder;
use tonnage_console::{ASSETS, CONTENT_SECURITY_POLICY};

/// What names a language, and is never fetched.
const NAMES: [&str; 3] = [
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1999/xhtml",
    "http://www.w3.org/1998/Math/MathML",
];

#[test]
fn no_file_names_another_host() {
    for asset in ASSETS.iter().filter(|asset| asset.name != "LICENSES.txt") {
        let mut bytes = Vec::new();
        GzDecoder::new(asset.bytes_gz).read_to_end(&mut bytes).unwrap();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        NAMES.iter().for_each(|name| text = text.replace(name, ""));
        for scheme in ["http:", "https:", "ws:", "wss:"] {
            let at = text
                .match_indices(scheme)
                .find(|(at, _)| text[at + scheme.len()..].starts_with("//"));
            let shown: String =
                at.map(|(at, _)| text[at..].chars().take(60).collect()).unwrap_or_default();
            assert_eq!(shown, "", "{}", asset.name);
        }
    }
    assert!(!CONTENT_SECURITY_POLICY.contains("http") && !CONTENT_SECURITY_POLICY.contains('*'));
}
